/* SPDX-License-Identifier: MIT
 *
 * Compressed inputs and archives, whole and damaged, in any nesting: what comes out of them, on which
 * threads, in how much memory.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cm.h"
#include "trace/input.h"

#define MANY 400000 /* numbers in the large text: 2.7 MB */

/* Each test has a scratch folder as its working directory. */
static int set_up(void **state)
{
	char *dir = mem_strdup("/tmp/blklab-unit-XXXXXX");

	*state = mkdtemp(dir);
	return *state && !chdir(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char *rm = mem_printf("rm -rf '%s'", (char *)*state);
	int r = chdir("/") || system(rm);

	free(rm);
	free(*state);
	return r;
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static bool have(const char *program)
{
	char *probe = mem_printf("command -v %s >/dev/null", program);
	bool is = !system(probe);

	free(probe);
	return is;
}

static void add(struct inputs *inputs, const char *path)
{
	struct error err = { 0 };

	if (inputs_add(inputs, path, &err))
		fail_msg("%s", err.text);
}

static struct blob *only_blob(struct inputs *inputs, const char *path)
{
	*inputs = (struct inputs){ 0 };
	add(inputs, path);
	assert_int_equal(inputs->nr, 1);
	assert_int_equal(inputs->list[0].nr, 1);
	return &inputs->list[0].blobs[0];
}

/* The text that "seq 1 MANY" writes; owned. */
static char *numbers(size_t *len)
{
	char *text = malloc(MANY * 8), *at = text;

	for (int i = 1; i <= MANY; i++)
		at += sprintf(at, "%d\n", i);
	*len = (size_t)(at - text);
	return text;
}

/* Reads all there is in pieces of that size, by blob_read_some in each odd step; how much is like
 * `text`, with the error at the end if there is one. */
static size_t read_alike(struct blob *blob, const char *text, size_t len, size_t step,
			 struct error *err)
{
	char *buf = malloc(step);
	size_t at = 0;
	int turn = 0;
	ssize_t n;

	while ((n = turn++ & 1 ? blob_read_some(blob, buf, step, err)
			       : blob_read(blob, buf, step, err)) > 0) {
		/* one `if`: byte by byte, millions of assertions would be most of the time */
		if ((size_t)n > step || at + (size_t)n > len || memcmp(buf, text + at, (size_t)n))
			fail_msg("not the text at byte %zu, %zd of %zu", at, n, step);
		at += (size_t)n;
	}
	assert_int_equal(n < 0, err->text[0] != 0);
	free(buf);
	return at;
}

static const char *const packers[] = { "gzip", "xz", "zstd", "bzip2", "lz4" };
#define PACKERS (sizeof(packers) / sizeof(*packers))

static void every_compression(void **state)
{
	static const size_t steps[] = { 100000, 1, 262144, 4000000 };
	size_t len, nr = 0;
	char *text = numbers(&len);

	(void)state;
	for (size_t i = 0; i < PACKERS; i++) {
		char *command = mem_printf("seq 1 %d | %s -1c >x.%s", MANY, packers[i], packers[i]);
		char *path = mem_printf("x.%s", packers[i]);

		if (have(packers[i]))
			run(command);
		for (size_t k = 0; k < 4 && have(packers[i]); k++, nr++) {
			struct error err = { 0 };
			struct inputs inputs;
			struct blob *blob;
			const uint8_t *head;

			blob = only_blob(&inputs, path);
			assert_int_equal(blob_head(blob, 1000, &head, &err), 1000);
			assert_memory_equal(head, text, 1000);
			assert_int_equal(blob_wait(blob, 0), 1);
			assert_int_equal(read_alike(blob, text, len, steps[k], &err), len);
			assert_string_equal(err.text, "");
			assert_int_equal(blob_read(blob, &err, 1, &err), 0);
			inputs_release(&inputs);
		}
		free(command);
		free(path);
	}
	assert_true(nr >= 8); /* gzip and xz are everywhere */
	free(text);
}

static void write_bytes(const char *name, const void *bytes, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void has_text(const char *path, const char *text)
{
	struct error err = { 0 };
	struct inputs inputs;
	struct blob *blob = only_blob(&inputs, path);
	char *got = blob_text(blob, 1000, NULL, &err);

	if (!got)
		fail_msg("%s", err.text);
	assert_string_equal(got, text);
	free(got);
	inputs_release(&inputs);
}

/* What is compressed by programs that few have: compress (9-bit codes of letters) and lzip. */
static void rare_compressions(void **state)
{
	static const char lz[] =
		"LZIP\x01\x10\x00\x36\x1e\x89\x56\xb0\xdc\x18\xfe\xd0\x2c\x50\x81\x23\x5c\x7f\xff"
		"\xc7\x23\x00\x00\x74\x86\x72\x98\x0a\0\0\0\0\0\0\0\x2f\0\0\0\0\0\0\0";
	static const char word[] = "compressed\n";
	uint8_t z[32] = { 0x1f, 0x9d, 0x90 };
	size_t bit = 24;

	(void)state;
	for (size_t i = 0; word[i]; i++)
		for (int b = 0; b < 9; b++, bit++)
			z[bit / 8] |= (uint8_t)(((word[i] >> b) & 1) << bit % 8);
	write_bytes("x.Z", z, (bit + 7) / 8);
	has_text("x.Z", word);
	write_bytes("x.lz", lz, sizeof(lz) - 1);
	has_text("x.lz", "lzip text\n");
}

static void several_in_one_file(void **state)
{
	(void)state;
	run("echo one >1; echo two >2; for p in gzip xz bzip2; do for i in 1 2; do $p -c $i; done "
	    ">x.$p; "
	    "done; head -c 3000 /dev/zero >>x.gzip");
	has_text("x.gzip", "one\ntwo\n");
	has_text("x.xz", "one\ntwo\n");
	has_text("x.bzip2", "one\ntwo\n");
	run(": >0; gzip -c 0 >empty.gz; xz -c 0 >empty.xz; bzip2 -c 0 >empty.bz2");
	has_text("empty.gz", "");
	has_text("empty.xz", "");
	has_text("empty.bz2", "");
}

static void is_told_once(struct blob *blob, const struct error *err)
{
	struct error again = { 0 };
	char byte;

	assert_non_null(strstr(err->text, ": cannot be unpacked, it is cut or damaged ("));
	assert_null(strchr(err->text, '\n'));
	assert_true(blob_damaged(blob));
	assert_int_equal(blob_read(blob, &byte, 1, &again), 0);
	assert_int_equal(blob_read_some(blob, &byte, 1, &again), 0);
	assert_int_equal(blob_wait(blob, 0), 1);
}

/* All that comes before the damage is read; `least`: as much as must be. */
static void reads_until(const char *path, const char *text, size_t len, size_t least)
{
	struct error err = { 0 };
	struct inputs inputs;
	struct blob *blob = only_blob(&inputs, path);
	size_t got = read_alike(blob, text, len, 10000, &err);

	if (got < least || got >= len)
		fail_msg("%s: %zu bytes of %zu, at least %zu", path, got, len, least);
	is_told_once(blob, &err);
	inputs_release(&inputs);
}

/* Behind the damage, what comes out may be anything. */
static void reads_to_damage(const char *path, const char *text, size_t len, size_t least)
{
	struct error err = { 0 };
	struct inputs inputs;
	struct blob *blob = only_blob(&inputs, path);
	char *got = malloc(len);

	assert_int_equal(blob_read(blob, got, least, &err), least);
	assert_memory_equal(got, text, least);
	while (blob_read(blob, got, len, &err) > 0)
		;
	is_told_once(blob, &err);
	inputs_release(&inputs);
	free(got);
}

static size_t less(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}

static void cut_and_damaged(void **state)
{
	static const size_t lost[PACKERS] = { 0, 0, 600000, 800000, MANY * 8 }; /* their blocks */
	size_t len;
	char *text = numbers(&len);

	(void)state;
	for (size_t i = 0; i < PACKERS; i++) {
		const char *p = packers[i];
		char *command = mem_printf(
			"seq 1 %d | %s -1c >x && n=$(stat -c %%s x) && head -c $((n * 2 / 3)) x "
			">cut && "
			"cp x hit && printf 'XXXXXXXXXXXXXXXX' | dd of=hit bs=1 conv=notrunc "
			"seek=$((n * 2 / 3)) status=none",
			MANY, p);

		if (have(p)) {
			run(command);
			reads_until("cut", text, len, less(len * 3 / 5, lost[i]));
			reads_to_damage("hit", text, len, less(len / 2, lost[i]));
		}
		free(command);
	}
	free(text);
}

/* A pasted text in a file that was not downloaded to its end. */
static void a_small_cut_text(void **state)
{
	struct error err = { 0 };
	struct inputs inputs;
	const uint8_t *head;
	struct blob *blob;
	size_t len, got;
	char *text = numbers(&len);

	(void)state;
	run("seq 1 900 | gzip >x.gz && truncate -s 1000 x.gz");
	reads_until("x.gz", text, 3492, 1500);
	run("seq 1 900 | xz >x && head -c $(($(stat -c %s x) * 2 / 3)) x >x.xz");
	reads_until("x.xz", text, 3492, 500);
	/* Looking sees the error and does not take it away. */
	blob = only_blob(&inputs, "x.xz");
	got = blob_head(blob, 4000, &head, &err);
	assert_true(got >= 500 && got < 3492);
	assert_non_null(strstr(err.text, "x.xz: cannot be unpacked"));
	err.text[0] = 0;
	assert_int_equal(blob_head(blob, 4000, &head, &err), got);
	err.text[0] = 0;
	assert_int_equal(read_alike(blob, text, 3492, 700, &err), got);
	is_told_once(blob, &err);
	inputs_release(&inputs);
	free(text);
}

static unsigned int threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned int nr = 0;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

/* A thread that has ended may be listed for a moment. */
static bool becomes(unsigned int want)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 2000 && threads() != want; i++)
		nanosleep(&ms, NULL);
	return threads() == want;
}

static void threads_begin_and_end(void **state)
{
	unsigned int before = threads();
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	const uint8_t *head;
	char *buf = malloc(300000);

	(void)state;
	run("seq 1 300000 | gzip >0.gz; for i in $(seq 1 19); do cp 0.gz $i.gz; done; seq 1 20000 "
	    "| gzip "
	    ">small.gz");
	add(&inputs, ".");
	assert_int_equal(inputs.nr, 21);
	for (size_t i = 0; i < 21; i++)
		assert_int_equal(blob_head(&inputs.list[i].blobs[0], 65536, &head, &err), 65536);
	assert_int_equal(threads(), before);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(blob_read(&inputs.list[i].blobs[0], buf, 300000, &err), 300000);
	assert_int_equal(threads(), before + 20);
	/* The small one ends before a thread would be of use. */
	assert_int_equal(blob_read(&inputs.list[20].blobs[0], buf, 300000, &err), 108894);
	assert_int_equal(threads(), before + 20);
	for (size_t i = 0; i < 5; i++)
		blob_close(&inputs.list[i].blobs[0]);
	assert_true(becomes(before + 15));
	inputs_release(&inputs);
	assert_true(becomes(before));
	free(buf);
}

/* Standard input becomes a pipe with the file's first bytes in it; its other end. */
static int pipe_of(const char *path)
{
	FILE *f = fopen(path, "r");
	char *bytes = malloc(60000);
	size_t n = fread(bytes, 1, 60000, f);
	int fds[2];

	fclose(f);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes, n), n);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	free(bytes);
	return fds[1];
}

/* Whoever stops reading is not held up by a writer that goes on, or does nothing. */
static void closing_early(void **state)
{
	unsigned int before = threads();
	struct error err = { 0 };
	char *buf = malloc(2000000);

	(void)state;
	run("seq 1 300000 | gzip >x.gz; seq 1 300000 | gzip | gzip >x.gz.gz; seq 1 300000 | xz -0 "
	    ">x.xz");
	for (size_t n = 1; n < 1000000; n = n * 3 + 1) {
		static const char *const names[] = { "x.gz", "x.xz", "x.gz.gz" };

		for (int i = 0; i < 3; i++) {
			struct inputs inputs;
			struct blob *blob = only_blob(&inputs, names[i]);

			assert_int_equal(blob_read(blob, buf, n, &err), n);
			if (n & 2)
				blob_close(blob);
			inputs_release(&inputs);
		}
	}
	for (int i = 0; i < 2; i++) {
		int writer = pipe_of(i ? "x.gz.gz" : "x.gz");
		struct inputs inputs;
		struct blob *blob = only_blob(&inputs, "-");

		assert_true(blob_read_some(blob, buf, 2000000, &err) > 0);
		while (blob_wait(blob, 50))
			assert_true(blob_read_some(blob, buf, 2000000, &err) > 0);
		assert_true(threads() > before); /* and waits for more */
		inputs_release(&inputs);
		close(writer);
	}
	assert_true(becomes(before));
	free(buf);
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, pages = 0;

	assert_int_equal(fscanf(f, "%ld %ld", &size, &pages), 2);
	fclose(f);
	return pages * 4;
}

/* 80 MB that nobody takes: at most a megabyte is decompressed ahead. */
static void memory_is_bounded(void **state)
{
	struct timespec a_while = { .tv_nsec = 200000000 };
	long before = resident_kib();
	struct error err = { 0 };
	struct inputs inputs;
	struct blob *blob;
	char *buf = malloc(300000);

	(void)state;
	run("head -c 80000000 /dev/zero | gzip -1 >x.gz");
	blob = only_blob(&inputs, "x.gz");
	for (int i = 0; i < 3; i++)
		assert_int_equal(blob_read(blob, buf, 300000, &err), 300000);
	nanosleep(&a_while, NULL);
	assert_true(resident_kib() - before < 30000);
	while (blob_read(blob, buf, 300000, &err) > 0)
		;
	assert_true(resident_kib() - before < 30000);
	assert_string_equal(err.text, "");
	inputs_release(&inputs);
	free(buf);
}

/* To the damage that it has at its end. */
static void reads_until_end(struct blob *blob)
{
	struct error err = { 0 };
	char buf[1000];

	while (blob_read(blob, buf, sizeof(buf), &err) > 0)
		;
	is_told_once(blob, &err);
}

static const struct input *labelled(const struct inputs *inputs, const char *label)
{
	for (size_t i = 0; i < inputs->nr; i++)
		if (!strcmp(inputs->list[i].label, label))
			return &inputs->list[i];
	fail_msg("nothing is called %s", label);
	return NULL;
}

static void member_is(const struct inputs *inputs, const char *label, size_t blob, const char *text)
{
	const struct input *in = labelled(inputs, label);
	struct error err = { 0 };
	char *got = blob_text(&in->blobs[blob], 1000, NULL, &err);

	if (!got)
		fail_msg("%s", err.text);
	assert_string_equal(got, text);
	free(got);
}

static void one_in_another(void **state)
{
	struct inputs inputs = { 0 };

	(void)state;
	run("echo text >a.txt && gzip -k a.txt && xz -k a.txt.gz && mkdir d && gzip -c a.txt "
	    ">d/b.txt.gz && "
	    "xz -c a.txt >d/c && tar czf d/inner.tgz a.txt && echo 0 | gzip >d/s.blktrace.0.gz && "
	    "echo 1 "
	    "| xz >d/s.blktrace.1.xz && echo 2 >d/s.blktrace.2 && cp d/s.blktrace.0.gz "
	    "d/s.blktrace.4.gz "
	    "&& echo 4 >d/s.blktrace.4 && gzip <a.txt | head -c 12 >d/cut.gz && tar cJf x.tar.xz "
	    "d");
	has_text("a.txt.gz.xz", "text\n");
	add(&inputs, "x.tar.xz");
	add(&inputs, "./x.tar.xz"); /* is there already */
	assert_int_equal(inputs.nr, 5);
	member_is(&inputs, "x.tar.xz:d/b.txt.gz", 0, "text\n");
	member_is(&inputs, "x.tar.xz:d/c", 0, "text\n");
	member_is(&inputs, "x.tar.xz:d/inner.tgz:a.txt", 0, "text\n");
	assert_int_equal(labelled(&inputs, "x.tar.xz:d/s")->nr, 4);
	assert_string_equal(labelled(&inputs, "x.tar.xz:d/s")->base, "s");
	member_is(&inputs, "x.tar.xz:d/s", 0, "0\n");
	member_is(&inputs, "x.tar.xz:d/s", 1, "1\n");
	member_is(&inputs, "x.tar.xz:d/s", 2, "2\n");
	member_is(&inputs, "x.tar.xz:d/s", 3, "4\n");
	reads_until_end(&labelled(&inputs, "x.tar.xz:d/cut.gz")->blobs[0]);
	inputs_release(&inputs);
}

static void from_standard_input(void **state)
{
	struct inputs inputs = { 0 };

	(void)state;
	run("echo text >a && echo more >b && tar cf - a b | gzip | xz >x");
	close(pipe_of("x"));
	add(&inputs, "-");
	assert_int_equal(inputs.nr, 2);
	member_is(&inputs, "standard input:a", 0, "text\n");
	member_is(&inputs, "standard input:b", 0, "more\n");
	inputs_release(&inputs);
	run("gzip a");
	close(pipe_of("a.gz"));
	has_text("-", "text\n");
	mkfifo("fifo", 0600);
	run("cat a.gz >fifo &");
	has_text("fifo", "text\n");
	run("cat b >fifo &");
	has_text("fifo", "more\n");
}

/* What a slow writer wrote can be read before it goes on. */
static void some_of_a_pipe(void **state)
{
	struct error err = { 0 };
	struct inputs inputs;
	const uint8_t *head;
	struct blob *blob;
	char buf[100];
	int writer;

	(void)state;
	run("printf 'a line\n' >x");
	writer = pipe_of("x");
	blob = only_blob(&inputs, "-"); /* it had to look, and gave up after a second */
	assert_int_equal(blob_head(blob, 512, &head, &err), 7);
	assert_int_equal(blob_wait(blob, 0), 1);
	assert_int_equal(blob_read_some(blob, buf, 100, &err), 7);
	assert_int_equal(blob_wait(blob, 10), 0);
	assert_int_equal(write(writer, "another\n", 8), 8);
	assert_int_equal(blob_wait(blob, 1000), 1);
	assert_int_equal(blob_read_some(blob, buf, 100, &err), 8);
	close(writer);
	assert_int_equal(blob_wait(blob, 1000), 1);
	assert_int_equal(blob_read_some(blob, buf, 100, &err), 0);
	inputs_release(&inputs);
}

/* Members in memory, and, beyond 32 MiB in total, in a file: the same ones. */
static void small_and_large_archives(void **state)
{
	static const int sizes[] = { 2000000, 9000000 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *command = mem_printf("for i in 1 2 3 4; do yes $i | head -c %d >$i; done; "
					   "tar cf - 1 2 3 4 | gzip -1 >x.tgz",
					   sizes[i]);
		struct inputs inputs = { 0 };
		struct error err = { 0 };

		run(command);
		add(&inputs, "x.tgz");
		assert_int_equal(inputs.nr, 4);
		for (int m = 0; m < 4; m++) {
			size_t len;
			char *got = blob_text(&inputs.list[m].blobs[0], 20000000, &len, &err);

			assert_int_equal(len, sizes[i]);
			for (size_t k = 0; k < len; k++)
				if (got[k] != (k & 1 ? '\n' : '1' + m))
					fail_msg("byte %zu of %d", k, m);
			free(got);
		}
		inputs_release(&inputs);
		free(command);
	}
}

static void ten_thousand_members(void **state)
{
	struct timespec start, end;
	struct inputs inputs = { 0 };

	(void)state;
	run("mkdir d && cd d && for i in $(seq 5000); do echo $i >t$i; echo c >$i.blktrace.0; echo "
	    "d "
	    ">s.blktrace.$i; done && cd .. && tar cf x.tar d");
	clock_gettime(CLOCK_MONOTONIC, &start);
	add(&inputs, "x.tar");
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_int_equal(inputs.nr, 10001);
	assert_int_equal(labelled(&inputs, "x.tar:d/s")->nr, 5000);
	member_is(&inputs, "x.tar:d/t4711", 0, "4711\n");
	assert_true(end.tv_sec - start.tv_sec < 5);
	inputs_release(&inputs);
}

/* Holes count, in the middle and at the end, and take no room. */
static void sparse_members(void **state)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	const struct input *in;
	char *got;
	size_t len;

	(void)state;
	run("truncate -s 1M s; printf middle | dd of=s bs=1 seek=500000 conv=notrunc status=none; "
	    "echo "
	    "after >t; truncate -s 3G u; tar cSf x.tar s t u; tar cSf y.tar --format=posix s t");
	add(&inputs, "x.tar");
	add(&inputs, "y.tar");
	for (int i = 0; i < 2; i++) {
		in = labelled(&inputs, i ? "y.tar:s" : "x.tar:s");
		got = blob_text(&in->blobs[0], 2000000, &len, &err);
		assert_int_equal(len, 1 << 20);
		assert_memory_equal(got + 499999, "\0middle\0", 8);
		assert_int_equal(got[len - 1], 0);
		free(got);
		member_is(&inputs, i ? "y.tar:t" : "x.tar:t", 0, "after\n");
	}
	in = labelled(&inputs, "x.tar:u");
	assert_int_equal(in->blobs[0].spool_end - in->blobs[0].spool_from, 3ull << 30);
	inputs_release(&inputs);
}

/* Members before the damage are whole; the last one says that it is not. */
static void cut_archives(void **state)
{
	struct inputs inputs = { 0 };

	(void)state;
	run("echo first >a; seq 1 100000 >b; tar cf x.tar a b && head -c 300000 x.tar >cut.tar && "
	    "tar czf "
	    "x.tgz a b && head -c 100000 x.tgz >cut.tgz && head -c 100 x.tgz >none.tgz");
	add(&inputs, "cut.tar");
	add(&inputs, "cut.tgz");
	add(&inputs, "none.tgz");
	member_is(&inputs, "cut.tar:a", 0, "first\n");
	member_is(&inputs, "cut.tgz:a", 0, "first\n");
	reads_until_end(&labelled(&inputs, "cut.tar:b")->blobs[0]);
	reads_until_end(&labelled(&inputs, "cut.tgz:b")->blobs[0]);
	reads_until_end(&labelled(&inputs, "none.tgz")->blobs[0]);
	inputs_release(&inputs);
}

static void replaced_members(void **state)
{
	struct inputs inputs = { 0 };

	(void)state;
	run("mkdir d; echo old >d/a; tar cf x.tar d/a && echo new >d/a && tar rf x.tar d/a");
	add(&inputs, "x.tar");
	assert_int_equal(inputs.nr, 1);
	member_is(&inputs, "x.tar:d/a", 0, "new\n");
	inputs_release(&inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(every_compression),    TEST(rare_compressions), TEST(several_in_one_file),
		TEST(cut_and_damaged),      TEST(a_small_cut_text),  TEST(threads_begin_and_end),
		TEST(closing_early),        TEST(memory_is_bounded), TEST(one_in_another),
		TEST(from_standard_input),  TEST(some_of_a_pipe),    TEST(small_and_large_archives),
		TEST(ten_thousand_members), TEST(sparse_members),    TEST(cut_archives),
		TEST(replaced_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
