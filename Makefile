# The front door; Meson and Ninja do the work. Each target sets up what it needs.

BUILD  ?= build
prefix ?= /usr/local
export BUILD

# Only what is installed: tests and fuzzers take minutes, and test/run builds them itself.
all:
	@tools/setup $(BUILD)
	@ninja -C $(BUILD) blklab blklab.1

help:
	@echo "make              build $(BUILD)/blklab and the manual page"
	@echo "make demo         record a real ext4 on a scratch loop device and say where the time went (root)"
	@echo "make check        all tests, release and sanitized (minutes)"
	@echo "make check-vm     what needs other kernels and real disks, in QEMU (minutes; fetches two Debian kernels)"
	@echo "make bench        speed and recording overhead against the classic tools, into doc/bench.md"
	@echo "                  (BENCH_QUICK=1: a short run, printed only; BENCH_ONLY=text: one section)"
	@echo "make install      into DESTDIR and prefix ($(prefix))"
	@echo "make deps         install the Debian packages that are missing (tools/packages.txt)"
	@echo "make check-clean  deps, demo and check in a fresh minimal Debian (debootstrap; root)"
	@echo "make fuzz         fuzz every reader with libFuzzer, 60 s each, into doc/fuzz.tsv"
	@echo "                  (SECONDS=600 READER=ftrace_text: one of them, longer)"
	@echo "make format       clang-format all C files in place"

deps:
	@tools/deps

# The demonstration says itself what it could not do and ends well; missing packages are no reason
# to stop before trying to build.
demo:
	@tools/deps build demo || true
	@$(MAKE) --no-print-directory all
	@tools/demo.sh $(BUILD)/blklab

check:
	@tools/deps build demo test
	@test/run

check-vm:
	@tools/deps build vm
	@$(MAKE) --no-print-directory all
	@test/run-vm

bench:
	@tools/deps build test bench
	@$(MAKE) --no-print-directory all
	@bench/run

check-clean:
	@tools/deps clean
	@test/check-clean

fuzz:
	@tools/deps build test
	@FUZZ_SECONDS=$(or $(SECONDS),$(FUZZ_SECONDS),60) test/run-fuzz $(READER)

format:
	@clang-format -i $$(test/c-files)

install:
	@tools/setup $(BUILD)
	@meson configure $(BUILD) -Dprefix=$(abspath $(prefix))
	@ninja -C $(BUILD) blklab blklab.1
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf build build-*

.PHONY: all help deps demo check check-vm bench check-clean fuzz format install clean
