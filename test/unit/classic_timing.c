/* SPDX-License-Identifier: MIT
 *
 * -t; the times and messages are those of blkparse 1.2.0 for the same records, except where it prints stale
 * memory.
 */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "classic/timing.h"

#define NONE       ELAPSED_NONE
#define FS         TC_FS
#define TEXT_BYTES 1024

struct step {
	uint32_t number, categories;
	uint64_t sector;
	uint32_t bytes;
	uint64_t elapsed_ns;
	uint64_t time_ns; /* 0: a microsecond after the last one */
	uint32_t pid;
};

/* Standard error goes to a file in memory meanwhile. */
struct caught {
	int old, fd;
	char text[TEXT_BYTES];
};

static void catch_begin(struct caught *c)
{
	fflush(stderr);
	c->old = dup(STDERR_FILENO);
	c->fd = memfd_create("stderr", MFD_CLOEXEC);
	assert_true(c->old >= 0 && c->fd >= 0);
	dup2(c->fd, STDERR_FILENO);
}

static void catch_end(struct caught *c)
{
	ssize_t n;

	fflush(stderr);
	dup2(c->old, STDERR_FILENO);
	close(c->old);
	n = pread(c->fd, c->text, sizeof(c->text) - 1, 0);
	close(c->fd);
	assert_true(n >= 0);
	c->text[n] = '\0';
}

static struct record record_of(const struct step *step, uint64_t *now_ns)
{
	*now_ns = step->time_ns ? step->time_ns : *now_ns + 1000;
	return (struct record){ .h = { .time_ns = *now_ns,
				       .number = step->number,
				       .categories = step->categories,
				       .sector = step->sector,
				       .bytes = step->bytes,
				       .pid = step->pid } };
}

static void play_on(uint32_t device, bool verbose, const struct step *steps, size_t nr,
		    const char *messages)
{
	struct timing timing = { 0 };
	uint64_t now_ns = 0, elapsed_ns[32];
	struct caught caught;

	assert_true(nr <= 32);
	catch_begin(&caught);
	for (size_t i = 0; i < nr; i++) {
		struct record r = record_of(&steps[i], &now_ns);

		elapsed_ns[i] = timing_take(&timing, &r, device, verbose).elapsed_ns;
	}
	catch_end(&caught);
	for (size_t i = 0; i < nr; i++)
		if (elapsed_ns[i] != steps[i].elapsed_ns)
			fail_msg("step %zu: %lld instead of %lld", i, (long long)elapsed_ns[i],
				 (long long)steps[i].elapsed_ns);
	assert_string_equal(caught.text, messages);
	timing_release(&timing);
	timing_release(&timing);
}

#define PLAY(verbose, steps, messages) \
	play_on(0, verbose, steps, sizeof(steps) / sizeof(*(steps)), messages)

static void whole_request(void **state)
{
	static const struct step steps[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE | FS, 100, 4096, 1000 },
		{ ACT_BACKMERGE, TC_WRITE, 108, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 8192, 2000 },
		{ ACT_REQUEUE, TC_WRITE | FS, 100, 8192, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 8192, 4000 },
		{ ACT_COMPLETE, TC_WRITE | FS, 100, 8192, 1000 },
		{ ACT_COMPLETE, TC_WRITE | FS, 100, 8192, NONE },
		{ ACT_GETRQ, TC_READ, 0, 0, NONE }, /* no bytes */
		{ ACT_INSERT, TC_READ, 0, 0, 1000 },
		{ ACT_ISSUE, TC_READ | FS, 0, 0, 1000 },
		{ ACT_COMPLETE, TC_READ, 0, 0, 1000 },
	};

	(void)state;
	PLAY(false, steps, "");
	PLAY(true, steps, "complete not found for (0,0): 100\n");
}

/* Of a wait whose begin was not seen the classic prints stale memory. */
static void parts_of_a_request(void **state)
{
	static const struct step steps[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE | FS, 100, 4096, 1000 },
		{ ACT_INSERT, TC_WRITE | FS, 100, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, 1000 },
		{ ACT_COMPLETE, TC_WRITE | FS, 100, 4096, 1000 },
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE | FS, 100, 4096, NONE },
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 1000 },
		{ ACT_ISSUE, TC_WRITE, 100, 4096, NONE }, /* neither fs nor pc */
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, NONE },
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
	};

	(void)state;
	PLAY(true, steps, "issue not found for (0,0): 100\n");
	PLAY(false, steps, "");
}

static void passthrough_is_not_seen(void **state)
{
	static const struct step steps[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 1000 },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, 1000 },
		{ ACT_COMPLETE, TC_WRITE | TC_PC, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE | TC_PC, 100, 4096, NONE },
		{ ACT_GETRQ, TC_WRITE | TC_PC, 100, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | TC_PC | FS, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, 5000 },
		{ ACT_ISSUE, TC_WRITE | TC_PC, 100, 4096, NONE },
	};

	(void)state;
	PLAY(true, steps, "");
}

static void front_merges(void **state)
{
	static const struct step steps[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 1000 },
		{ ACT_FRONTMERGE, TC_WRITE, 92, 4096, NONE },
		{ ACT_FRONTMERGE, TC_WRITE, 92, 0, NONE },
		{ ACT_FRONTMERGE, TC_WRITE, 90, 1025, NONE }, /* whole sectors */
		{ ACT_ISSUE, TC_WRITE | FS, 90, 8192, 4000 },
		{ ACT_FRONTMERGE, TC_WRITE, 92, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 90, 8192, 2000 },
		{ ACT_FRONTMERGE, TC_WRITE, 92, 0, NONE },
	};

	(void)state;
	PLAY(true, steps, "merge not found for (0,0): 100\nmerge not found for (0,0): 92\n");
	PLAY(false, steps, "");
}

static void front_merge_into_another(void **state)
{
	static const struct step steps[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_GETRQ, TC_WRITE, 92, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 2000 },
		{ ACT_FRONTMERGE, TC_WRITE, 92, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 92, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 92, 4096, 2000 },
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 1000 },
	};

	(void)state;
	PLAY(false, steps, "sector alias (92) on device 0,0!\n");
	PLAY(true, steps, "sector alias (92) on device 0,0!\nissue not found for (0,0): 100\n");
}

static void times(void **state)
{
	static const struct step backwards[] = {
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE, 9000 },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 18446744073709550616u, 8000 },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, 18446744073709550616u, 7000 },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, 18446744073709550616u, 6000 },
	};
	struct timing timing = { 0 };
	struct step step = { ACT_GETRQ, TC_WRITE, 100, 4096, NONE };
	struct record r;
	uint64_t none = 0;

	(void)state;
	PLAY(true, backwards, "");
	/* a G that is the first event of all has time 0, which is the classic's "no G" */
	r = record_of(&step, &none);
	r.h.time_ns = 0;
	timing_take(&timing, &r, 0, false);
	r.h.number = ACT_INSERT;
	assert_true(timing_take(&timing, &r, 0, false).elapsed_ns == NONE);
	r.h.number = ACT_ISSUE;
	r.h.categories |= FS;
	assert_int_equal(timing_take(&timing, &r, 0, false).elapsed_ns, 0);
	r.h.number = ACT_COMPLETE;
	assert_int_equal(timing_take(&timing, &r, 0, false).elapsed_ns, 0);
	timing_release(&timing);
}

/* md and device mapper: from Q to C. */
static void devices_that_pass_on(void **state)
{
	static const struct step steps[] = {
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, 1000 },
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_GETRQ, TC_WRITE, 100, 4096, NONE },
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_INSERT, TC_WRITE, 100, 4096, 2000 },
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_ISSUE, TC_WRITE | FS, 100, 4096, 2000 },
		{ ACT_QUEUE, TC_WRITE | TC_PC, 100, 4096, NONE },
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, 1000 },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, NONE },
	};
	static const struct step others[] = {
		{ ACT_QUEUE, TC_WRITE, 100, 4096, NONE },
		{ ACT_COMPLETE, TC_WRITE, 100, 4096, NONE },
	};

	(void)state;
	play_on(DEVICE(9, 5), true, steps, sizeof(steps) / sizeof(*steps),
		"complete not found for (9,5): 100\n");
	play_on(DEVICE(253, 0), true, steps, sizeof(steps) / sizeof(*steps),
		"complete not found for (253,0): 100\n");
	play_on(DEVICE(254, 16), true, others, sizeof(others) / sizeof(*others),
		"complete not found for (254,16): 100\n");
}

static struct timed next(struct timing *timing, uint32_t number, uint32_t pid)
{
	struct step step = { number, TC_WRITE | FS, 100, 4096, NONE, 0, pid };
	uint64_t now_ns = 5000;
	struct record r = record_of(&step, &now_ns);

	return timing_take(timing, &r, 0, false);
}

static void owner_is_who_made_the_entry(void **state)
{
	struct timing timing = { 0 };
	struct timed timed;

	(void)state;
	timed = next(&timing, ACT_GETRQ, 9);
	assert_true(timed.created && !timed.found);
	timed = next(&timing, ACT_GETRQ, 11);
	assert_false(timed.created || timed.found);
	timed = next(&timing, ACT_INSERT, 12);
	assert_true(timed.found && !timed.created);
	assert_int_equal(timed.owner, 9);
	assert_int_equal(timed.wait, TIMED_ALLOCATION);
	timed = next(&timing, ACT_ISSUE, 13);
	assert_true(timed.found);
	assert_int_equal(timed.owner, 9);
	assert_int_equal(timed.wait, TIMED_DISPATCH);
	timed = next(&timing, ACT_COMPLETE, 14);
	assert_true(timed.found);
	assert_int_equal(timed.owner, 9);
	assert_int_equal(timed.wait, TIMED_COMPLETION);
	timed = next(&timing, ACT_COMPLETE, 14);
	assert_false(timed.created || timed.found);
	timed = next(&timing, ACT_INSERT, 15);
	assert_true(timed.created);
	timing_release(&timing);
}

static void many_requests(void **state)
{
	struct timing timing = { 0 };
	struct record r = { .h = { .categories = TC_READ | FS, .bytes = 4096 } };

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 10000; i++) {
			r.h.number = ACT_INSERT;
			r.h.sector = i << 40;
			r.h.time_ns = i;
			timing_take(&timing, &r, 0, true);
		}
		for (uint64_t i = 0; i < 10000; i++) {
			r.h.number = ACT_ISSUE;
			r.h.sector = i << 40;
			r.h.time_ns = 3 * i;
			assert_int_equal(timing_take(&timing, &r, 0, true).elapsed_ns, 2 * i);
			r.h.number = ACT_COMPLETE;
			r.h.time_ns = 6 * i;
			assert_int_equal(timing_take(&timing, &r, 0, true).elapsed_ns, 3 * i);
		}
		assert_int_equal(timing.by_sector.nr, 0);
	}
	timing_release(&timing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_request),
		cmocka_unit_test(parts_of_a_request),
		cmocka_unit_test(passthrough_is_not_seen),
		cmocka_unit_test(front_merges),
		cmocka_unit_test(front_merge_into_another),
		cmocka_unit_test(times),
		cmocka_unit_test(devices_that_pass_on),
		cmocka_unit_test(owner_is_who_made_the_entry),
		cmocka_unit_test(many_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
