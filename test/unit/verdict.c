/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cm.h"
#include "why/verdict.h"

#define SECOND UINT64_C(1000000000)

static struct summary make(struct device_sum *dev, uint64_t device, uint64_t behind, uint64_t held,
			   uint64_t submitter)
{
	struct summary sum = { .devices = dev, .nr_devices = 1 };

	*dev = (struct device_sum){ .device = 8 << 20, .have_requests = true };
	sum.wait = (struct wait_sum){ .to_ns = device + behind + held + submitter,
				      .place_ns = { device, behind, held, submitter },
				      .own_ns = { device, behind, held, submitter },
				      .bios = 10,
				      .own_bios = 10 };
	memcpy(dev->wait_ns, sum.wait.place_ns, sizeof(dev->wait_ns));
	return sum;
}

static struct verdict decide(const struct summary *sum)
{
	struct verdict v;

	verdict_decide(&v, &sum->wait, sum);
	return v;
}

static void largest_share(void **state)
{
	struct device_sum dev;
	struct summary sum = make(&dev, 60, 10, 10, 20);

	(void)state;
	assert_int_equal(decide(&sum).bound, BOUND_DEVICE);
	assert_int_equal(decide(&sum).second, BOUND_UNKNOWN);
	sum = make(&dev, 20, 25, 25, 30); /* the queue is behind others and held together */
	assert_int_equal(decide(&sum).bound, BOUND_QUEUE);
	sum = make(&dev, 45, 0, 5, 50);
	assert_int_equal(decide(&sum).bound, BOUND_SUBMITTER);
	assert_int_equal(decide(&sum).second, BOUND_DEVICE);
}

static void nothing_to_go_by(void **state)
{
	struct device_sum dev;
	struct summary sum = make(&dev, 0, 0, 0, 100);

	(void)state;
	sum.wait.bios = sum.wait.own_bios = 0;
	assert_int_equal(decide(&sum).bound, BOUND_NONE);
	sum.wait.to_ns = 0;
	sum.first_queue_ns = TIME_NONE;
	assert_int_equal(decide(&sum).bound, BOUND_UNKNOWN);
	sum = make(&dev, 0, 0, 80, 20); /* a device whose requests are not in the trace */
	dev.have_requests = false;
	assert_int_equal(decide(&sum).bound, BOUND_UNKNOWN);
	assert_false(decide(&sum).have_shares);
	assert_non_null(strstr(decide(&sum).why_unknown, "8,0"));
}

/* Kernel threads that also wrote for others: their time is not the command's for sure. */
static void shared_helpers(void **state)
{
	struct device_sum dev;
	struct summary sum = make(&dev, 88, 0, 0, 12);
	struct verdict v;

	(void)state;
	sum.wait.own_bios = 5;
	sum.wait.own_ns[WAIT_DEVICE] = 65;
	sum.wait.own_ns[WAIT_SUBMITTER] = 35;
	assert_false(decide(&sum).own_only); /* nobody else wrote: they worked for the command */
	sum.wait.foreign_write_bios = 1;
	v = decide(&sum);
	assert_int_equal(v.bound, BOUND_DEVICE);
	assert_true(v.own_only);
	assert_true(v.share[WAIT_DEVICE] > 0.64 && v.share[WAIT_DEVICE] < 0.66);
	assert_true(v.helper_share > 0.22 && v.helper_share < 0.24);
	sum.wait.own_ns[WAIT_DEVICE] = 10; /* in or out: another answer */
	sum.wait.own_ns[WAIT_SUBMITTER] = 90;
	v = decide(&sum);
	assert_int_equal(v.bound, BOUND_UNKNOWN);
	assert_non_null(strstr(v.why_unknown, "kernel threads"));
}

static void level(struct device_sum *dev, int depth, double seconds, uint64_t completions,
		  uint64_t bytes_each, double reads)
{
	dev->levels[depth] =
		(struct depth_level){ .time_ns = (uint64_t)(seconds * (double)SECOND),
				      .completions = completions,
				      .bytes = completions * bytes_each,
				      .reads = (uint64_t)((double)completions * reads) };
	dev->open_area += seconds * (double)SECOND * depth;
}

static void modes(void **state)
{
	struct device_sum dev;
	struct summary sum = make(&dev, 90, 0, 0, 10);

	(void)state;
	level(&dev, 1, 10, 10000, 4096, 1);
	assert_int_equal(decide(&sum).mode, MODE_LATENCY);
	/* more depth, the same rate */
	sum = make(&dev, 90, 0, 0, 10);
	level(&dev, 4, 10, 10000, 4096, 1);
	level(&dev, 16, 10, 10100, 4096, 1);
	assert_int_equal(decide(&sum).mode, MODE_SATURATED);
	/* more depth, a higher rate */
	level(&dev, 16, 10, 20000, 4096, 1);
	assert_int_equal(decide(&sum).mode, MODE_UNKNOWN);
	/* fewer but larger I/O says nothing */
	sum = make(&dev, 90, 0, 0, 10);
	level(&dev, 2, 10, 20000, 4096, 1);
	level(&dev, 8, 10, 2000, 1 << 20, 1);
	assert_int_equal(decide(&sum).mode, MODE_UNKNOWN);
	/* nor do writes after reads */
	level(&dev, 8, 10, 2000, 4096, 0);
	assert_int_equal(decide(&sum).mode, MODE_UNKNOWN);
	/* one large bio at a time, split in sixteen requests */
	sum = make(&dev, 90, 0, 0, 10);
	level(&dev, 16, 10, 10000, 65536, 0);
	dev.open_area = 10.0 * (double)SECOND;
	assert_int_equal(decide(&sum).mode, MODE_LATENCY);
	/* nothing but flush commands */
	sum = make(&dev, 90, 0, 0, 10);
	dev.requests[CLASS_FLUSH].count = 100;
	dev.levels[0].time_ns = 10 * SECOND;
	assert_int_equal(decide(&sum).mode, MODE_LATENCY);
	/* a handful of them is no ground for advice */
	dev.requests[CLASS_FLUSH].count = 3;
	assert_int_equal(decide(&sum).mode, MODE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_share),
		cmocka_unit_test(nothing_to_go_by),
		cmocka_unit_test(shared_helpers),
		cmocka_unit_test(modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
