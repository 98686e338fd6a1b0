/* SPDX-License-Identifier: MIT
 *
 * Pipe mode of blkparse: order and skips, what is read together, records that never come, damage. That it
 * is the classic's is compared in test/compare/blkparse-pipe.sh.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "classic/blkparse.h"
#include "classic/pipe_cpu.h"
#include "cm.h"

#define SDA      (8u << 20)
#define SDB      (8u << 20 | 16)
#define TOO_MANY 1200000u /* records to be held behind a number that is missing */

/* ---- streams ---- */

struct stream {
	uint8_t *bytes; /* owned */
	size_t len, room;
};

static uint8_t *more(struct stream *s, size_t n)
{
	if (s->len + n > s->room) {
		s->room = 2 * (s->len + n);
		s->bytes = mem_resize(s->bytes, s->room, 1);
	}
	s->len += n;
	return s->bytes + s->len - n;
}

static void add(struct stream *s, uint32_t device, uint32_t cpu, uint32_t sequence,
		uint64_t time_ns)
{
	struct record r = { .h = { .size = BLKTRACE_V7_BYTES,
				   .time_ns = time_ns,
				   .sequence = sequence,
				   .device = device,
				   .cpu = cpu,
				   .number = 1,
				   .categories = TC_FS | TC_QUEUE | TC_READ,
				   .bytes = 4096 } };
	uint8_t header[BLKTRACE_V8_BYTES];

	record_encode(&r, header);
	memcpy(more(s, BLKTRACE_V7_BYTES), header, BLKTRACE_V7_BYTES);
}

static void add_message(struct stream *s, uint64_t time_ns, const char *text)
{
	struct record r = { .h = { .size = BLKTRACE_V7_BYTES,
				   .time_ns = time_ns,
				   .device = SDA,
				   .number = NOTE_MESSAGE,
				   .categories = TC_NOTIFY,
				   .pdu_len = (uint16_t)strlen(text) } };
	uint8_t header[BLKTRACE_V8_BYTES];

	record_encode(&r, header);
	memcpy(more(s, BLKTRACE_V7_BYTES), header, BLKTRACE_V7_BYTES);
	memcpy(more(s, r.h.pdu_len), text, r.h.pdu_len);
}

/* One CPU, a microsecond between records. */
static void add_numbers(struct stream *s, const uint32_t *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add(s, SDA, 0, numbers[i], 1000000 + i * 1000);
}

/* ---- a run ---- */

struct run {
	struct blkparse_options o;
	struct blkparse bp;
	char path[32]; /* of the text */
};

static void begin(struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->o.batch = 512;
	run->o.mask = 0xffff;
	run->o.to_ns = UINT64_MAX;
	strcpy(run->path, "/tmp/classic_pipe.XXXXXX");
	run->bp = (struct blkparse){ .o = &run->o, .pipe = true, .stop_fd = -1 };
	comms_init(&run->bp.comms);
	processes_init(&run->bp.processes, false);
	out_init(&run->bp.text, mkstemp(run->path), "text");
}

/* "8,0 cpu sequence ns": all lines so far, one blank between. Owned. */
static char *lines(const struct run *run)
{
	FILE *f = fopen(run->path, "r");
	char line[400], *text = mem_zalloc(1);

	while (fgets(line, sizeof(line), f)) {
		unsigned int major, minor, cpu, sequence, s, ns;
		char *longer;

		assert_int_equal(sscanf(line, "%u,%u %u %u %u.%u", &major, &minor, &cpu, &sequence,
					&s, &ns),
				 6);
		longer = mem_printf("%s%s%u,%u %u %u %u", text, *text ? "; " : "", major, minor,
				    cpu, sequence, s * 1000000000u + ns);
		free(text);
		text = longer;
	}
	fclose(f);
	return text;
}

static void end(struct run *run)
{
	struct error err = { 0 };

	assert_int_equal(out_close(&run->bp.text, &err), 0);
}

static void release(struct run *run)
{
	for (size_t i = 0; i < run->bp.nr_devices; i++)
		device_release(&run->bp.devices[i]);
	free(run->bp.devices);
	comms_release(&run->bp.comms);
	processes_release(&run->bp.processes);
	unlink(run->path);
}

/* All of it at once: rounds are batches. Frees the stream. */
static void play(struct run *run, struct stream *s)
{
	FILE *f = tmpfile();

	assert_int_equal(fwrite(s->bytes, 1, s->len, f), s->len);
	fflush(f);
	lseek(fileno(f), 0, SEEK_SET);
	assert_int_equal(pipe_run(&run->bp, fileno(f)), 0);
	fclose(f);
	end(run);
	free(s->bytes);
	*s = (struct stream){ 0 };
}

static void shows(struct run *run, struct stream *s, const char *expected)
{
	char *text;

	play(run, s);
	text = lines(run);
	assert_string_equal(text, expected);
	free(text);
	release(run);
}

/* ---- the order ---- */

static void by_time_device_and_number(void **state)
{
	struct stream s = { 0 };
	struct run run;

	add(&s, SDB, 0, 1, 2000);
	add(&s, SDA, 1, 7, 3000);
	add(&s, SDA, 0, 2, 2000);
	add(&s, SDA, 0, 1, 1000);
	begin(&run);
	shows(&run, &s, "8,0 0 1 0; 8,0 0 2 1000; 8,16 0 1 1000; 8,0 1 7 2000");
}

/* Equals of one round come backwards, those of two rounds as they were read. */
static void equals(void **state)
{
	for (unsigned int batch = 1; batch <= 3; batch++) {
		struct stream s = { 0 };
		struct run run;

		for (uint32_t cpu = 0; cpu < 3; cpu++)
			add(&s, SDA, cpu, 1, 1000);
		begin(&run);
		run.o.batch = batch;
		shows(&run, &s,
		      batch == 1   ? "8,0 0 1 0; 8,0 1 1 0; 8,0 2 1 0"
		      : batch == 2 ? "8,0 1 1 0; 8,0 0 1 0; 8,0 2 1 0"
				   : "8,0 2 1 0; 8,0 1 1 0; 8,0 0 1 0");
	}
}

static void genesis_is_of_the_first_round(void **state)
{
	struct stream s = { 0 };
	struct run run;

	add(&s, SDA, 0, 1, 5000);
	add(&s, SDA, 0, 2, 6000);
	add(&s, SDA, 0, 3, 9000);
	add(&s, SDA, 1, 1, 5500);
	begin(&run);
	run.o.batch = 2;
	shows(&run, &s, "8,0 0 1 0; 8,0 0 2 1000; 8,0 1 1 500; 8,0 0 3 4000");
	assert_int_equal(run.bp.genesis_ns, 5000);
}

static void the_window_is_open_at_its_end(void **state)
{
	struct stream s = { 0 };
	struct run run;

	for (uint32_t i = 1; i <= 9; i++)
		add(&s, SDA, 0, i, i * 1000);
	begin(&run);
	run.o.from_ns = 2000;
	run.o.to_ns = 5000;
	shows(&run, &s, "8,0 0 3 2000; 8,0 0 4 3000; 8,0 0 5 4000");
}

/* A message has no number, and holds up nothing. */
static void messages(void **state)
{
	char text[200];
	struct stream s = { 0 };
	struct run run;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add(&s, SDA, 0, 2, 3000);
	add_message(&s, 2000, text);
	add_message(&s, 2500, "hello");
	add(&s, SDA, 0, 1, 1000);
	begin(&run);
	shows(&run, &s, "8,0 0 1 0; 8,0 0 0 1000; 8,0 0 0 1500; 8,0 0 2 2000");
}

/* ---- numbers ---- */

static void counts(const uint32_t *numbers, size_t nr, uint64_t skips, uint64_t skipped)
{
	struct stream s = { 0 };
	struct run run;

	add_numbers(&s, numbers, nr);
	begin(&run);
	play(&run, &s);
	assert_int_equal(run.bp.devices[0].events, nr);
	assert_int_equal(run.bp.devices[0].skips, skips);
	assert_int_equal(run.bp.devices[0].skipped, skipped);
	release(&run);
}

#define COUNTS(skips, skipped, ...)               \
	counts((const uint32_t[]){ __VA_ARGS__ }, \
	       sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), skips, skipped)

static void gaps(void **state)
{
	COUNTS(0, 0, 1, 2, 3);
	COUNTS(0, 0, 7, 8, 9);
	COUNTS(2, 4, 1, 2, 5, 6, 9);
	COUNTS(1, 1, 1, 2, 4, 3, 5); /* 4: the classic counts what was shown already */
	COUNTS(0, 0, 1, 2, 3, 1, 2, 3);
	COUNTS(0, 0, 4294967294, 4294967295, 0, 1);
	COUNTS(4, 4, 5, 1, 2, 3, 4, 10, 13, 14, 6, 9); /* a gap cut in two loses its rear part */
}

/* A number read in a later round goes to its place as long as those behind it wait. */
static void a_late_number_is_waited_for(void **state)
{
	struct stream s = { 0 };
	struct run run;

	add(&s, SDA, 0, 1, 1000);
	add(&s, SDA, 0, 3, 3000);
	add(&s, SDA, 1, 1, 4000);
	add(&s, SDA, 0, 4, 5000);
	add(&s, SDA, 0, 2, 2000);
	begin(&run);
	run.o.batch = 1;
	play(&run, &s);
	assert_int_equal(run.bp.devices[0].skips, 0);
	{
		char *text = lines(&run);

		assert_string_equal(text, "8,0 0 1 0; 8,0 0 2 1000; 8,0 0 3 2000; 8,0 1 1 3000; "
					  "8,0 0 4 4000");
		free(text);
	}
	release(&run);
}

/* What is behind too many records is shown when it comes, and is no gap any more. */
static void memory_is_bounded(void **state)
{
	struct stream s = { 0 };
	struct run run;

	for (uint32_t i = 1; i <= TOO_MANY + 1; i++)
		if (i != 1000)
			add(&s, SDA, 0, i, i * 1000);
	add(&s, SDA, 0, 1000, 1000 * 1000);
	begin(&run);
	end(&run); /* no text */
	run.bp.text = (struct out){ 0 };
	run.o.batch = 1000; /* it is the last round */
	play(&run, &s);
	assert_int_equal(run.bp.devices[0].events, TOO_MANY + 1);
	assert_int_equal(run.bp.devices[0].last_read_ns, 999 * 1000);
	assert_int_equal(run.bp.devices[0].skips, 0);
	assert_int_equal(run.bp.devices[0].skipped, 0);
	release(&run);
}

/* More gaps than are remembered are counted all the same. */
static void many_gaps(void **state)
{
	struct device device = { 0 };
	struct cpu cpu = { 0 };

	pipe_cpu_start(&cpu, 1);
	for (uint32_t i = 1; i <= 3 * PIPE_SKIPS; i++)
		pipe_cpu_skip_to(&device, &cpu, 1 + 3 * i, PIPE_RIGHT);
	assert_int_equal(device.skips, 3 * PIPE_SKIPS);
	assert_int_equal(device.skipped, 6 * PIPE_SKIPS);
	assert_false(pipe_cpu_is_late(&cpu, 2));
	assert_true(pipe_cpu_is_late(&cpu, 9 * PIPE_SKIPS));
	pipe_cpu_skip_to(&device, &cpu, 9 * PIPE_SKIPS, PIPE_RIGHT);
	assert_int_equal(device.skipped, 6 * PIPE_SKIPS - 1);
	free(cpu.pipe);
}

/* ---- pipes ---- */

static void *run_pipe(void *arg)
{
	void **args = arg;

	assert_int_equal(pipe_run(args[0], *(int *)args[1]), 0);
	return NULL;
}

static void wait_for(const struct run *run, const char *expected)
{
	for (int i = 0; i < 1000; i++) {
		char *text = lines(run);
		bool same = !strcmp(text, expected);

		free(text);
		if (same)
			return;
		usleep(10000);
	}
	fail_msg("not shown within 10 s: %s", expected);
}

static void put(int fd, const uint8_t *bytes, size_t n)
{
	assert_int_equal(write(fd, bytes, n), n);
}

/* Lines come while the pipe is open, also behind a number that never comes and half a record. */
static void a_live_pipe(void **state)
{
	struct stream s = { 0 };
	struct run run;
	pthread_t thread;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	begin(&run);
	pthread_create(&thread, NULL, run_pipe, (void *[]){ &run.bp, &fds[0] });
	add_numbers(&s, (const uint32_t[]){ 1, 2, 4, 5 }, 4);
	put(fds[1], s.bytes, 48);
	wait_for(&run, "8,0 0 1 0");
	put(fds[1], s.bytes + 48, 60);
	wait_for(&run, "8,0 0 1 0; 8,0 0 2 1000");
	put(fds[1], s.bytes + 108, 36);
	wait_for(&run, "8,0 0 1 0; 8,0 0 2 1000; 8,0 0 4 2000");
	put(fds[1], s.bytes + 144, 48);
	wait_for(&run, "8,0 0 1 0; 8,0 0 2 1000; 8,0 0 4 2000; 8,0 0 5 3000");
	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
	assert_int_equal(run.bp.devices[0].skips, 1);
	end(&run);
	free(s.bytes);
	release(&run);
}

/* A signal ends the reading; what waits is shown. */
static void stopped(void **state)
{
	struct stream s = { 0 };
	struct run run;
	pthread_t thread;
	int fds[2], stop[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(stop), 0);
	begin(&run);
	run.bp.stop_fd = stop[0];
	pthread_create(&thread, NULL, run_pipe, (void *[]){ &run.bp, &fds[0] });
	add_numbers(&s, (const uint32_t[]){ 1, 4 }, 2);
	put(fds[1], s.bytes, s.len);
	wait_for(&run, "8,0 0 1 0");
	put(stop[1], s.bytes, 1);
	pthread_join(thread, NULL);
	end(&run);
	wait_for(&run, "8,0 0 1 0; 8,0 0 4 1000");
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(stop[i]);
	}
	free(s.bytes);
	release(&run);
}

static void what_is_a_pipe(void **state)
{
	char dir[] = "/tmp/classic_pipe.XXXXXX", *path;

	assert_non_null(mkdtemp(dir));
	path = mem_printf("%s/fifo", dir);
	assert_true(input_is_pipe("-"));
	assert_false(input_is_pipe(dir));
	assert_false(input_is_pipe(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(input_is_pipe(path));
	unlink(path);
	rmdir(dir);
	free(path);
}

/* ---- damage ---- */

static void bytes_that_are_no_record(void **state)
{
	struct stream s = { 0 };
	struct run run;

	add_numbers(&s, (const uint32_t[]){ 1, 2, 3, 4, 5, 6 }, 6);
	s.bytes[2 * 48 + 1] = 0x33;
	s.len -= 20;
	begin(&run);
	run.o.batch = 10;
	shows(&run, &s, "8,0 0 1 0; 8,0 0 2 1000; 8,0 0 4 3000; 8,0 0 5 4000");

	add_numbers(&s, (const uint32_t[]){ 1, 2, 3, 4, 5, 6 }, 6);
	s.bytes[2 * 48 + 1] = s.bytes[3 * 48 + 1] = 0x33; /* two in a row end it */
	begin(&run);
	shows(&run, &s, "8,0 0 1 0; 8,0 0 2 1000");
}

static void impossible_cpus(void **state)
{
	struct stream s = { 0 };
	struct run run;

	add(&s, SDA, 0, 1, 1000);
	add(&s, SDA, UINT32_MAX, 1, 2000);
	add(&s, SDA, CPUS_MAX, 1, 2500);
	for (uint32_t i = 0; i < 20; i++)
		add(&s, SDB + i, CPUS_MAX - 1, 1, 3000 + i);
	begin(&run);
	play(&run, &s);
	assert_int_equal(run.bp.nr_devices, 8); /* 65536 CPUs in all */
	release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time_device_and_number),
		cmocka_unit_test(equals),
		cmocka_unit_test(genesis_is_of_the_first_round),
		cmocka_unit_test(the_window_is_open_at_its_end),
		cmocka_unit_test(messages),
		cmocka_unit_test(gaps),
		cmocka_unit_test(a_late_number_is_waited_for),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(many_gaps),
		cmocka_unit_test(a_live_pipe),
		cmocka_unit_test(stopped),
		cmocka_unit_test(what_is_a_pipe),
		cmocka_unit_test(bytes_that_are_no_record),
		cmocka_unit_test(impossible_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
