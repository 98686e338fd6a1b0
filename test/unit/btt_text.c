/* SPDX-License-Identifier: MIT */
#include "cm.h"

#include "../text_read.h"

#define assert_near(got, want, within) assert_true(fabs((got) - (want)) <= (within))

static const char whole[] =
	"==================== Per Process ====================\n"
	"\n"
	"            Q2Q           MIN           AVG           MAX           N\n"
	"--------------- ------------- ------------- ------------- -----------\n"
	"jbd2/sda1-8       0.000000001   0.000159747   0.025292639       62150\n"
	"Web Content       0.000000002   0.000159748   0.025292640           2\n"
	"\n"
	"            D2C           MIN           AVG           MAX           N\n"
	"--------------- ------------- ------------- ------------- -----------\n"
	"jbd2/sda1-8       0.000000001   0.000159747   0.025292639       62150\n"
	"\n"
	"==================== Per Device ====================\n"
	"\n"
	"            Q2Q           MIN           AVG           MAX           N\n"
	"--------------- ------------- ------------- ------------- -----------\n"
	" (  8, 16)        0.000000001   0.000159747   0.025292639       62150\n"
	"\n"
	"==================== All Devices ====================\n"
	"\n"
	"            ALL           MIN           AVG           MAX           N\n"
	"--------------- ------------- ------------- ------------- -----------\n"
	"\n"
	"Q2Q               0.000000001   0.000159747   1.951129570       62150\n"
	"Q2G               0.000000233   0.000001000   0.000056343         100\n"
	"D2C               0.000046189   0.002000000   0.007860766         100\n"
	"Q2C               0.000051089   0.002001000   0.026096657         100\n"
	"\n"
	"==================== Device Overhead ====================\n"
	"\n"
	"       DEV |       Q2G       G2I       Q2M       I2D       D2C\n"
	"---------- | --------- --------- --------- --------- ---------\n"
	" (  8, 16) |   0.0500%   0.0000%   0.0000%   0.0000%  99.9500%\n"
	"---------- | --------- --------- --------- --------- ---------\n"
	"   Overall |   0.0500%   0.0000%   0.0000%   0.0000%  99.9500%\n"
	"\n"
	"==================== Device Merge Information ====================\n"
	"\n"
	"       DEV |       #Q       #D   Ratio |   BLKmin   BLKavg   BLKmax    Total\n"
	"---------- | -------- -------- ------- | -------- -------- -------- --------\n"
	" (  8, 16) |    17411    16158     1.1 |        2      165  2097152  2672074\n"
	"\n"
	"==================== Device Q2Q Seek Information ====================\n"
	"\n"
	"       DEV |          NSEEKS            MEAN          MEDIAN | MODE\n"
	"---------- | --------------- --------------- --------------- | ---------------\n"
	" (  8, 16) |           17411         55323.8               0 | 0(1620) 8(7)\n"
	"---------- | --------------- --------------- --------------- | ---------------\n"
	"   Overall |          NSEEKS            MEAN          MEDIAN | MODE\n"
	"   Average |           17411         55323.8               0 | 0(1620)\n"
	"\n"
	"==================== Plug Information ====================\n"
	"\n"
	"       DEV |    # Plugs # Timer Us  | % Time Q Plugged\n"
	"---------- | ---------- ----------  | ----------------\n"
	" (  8, 16) |         12(        20) |   96.500000000%\n"
	"\n"
	"       DEV |    IOs/Unp   IOs/Unp(to)\n"
	"---------- | ----------   ----------\n"
	" (  8, 16) |        1.5          2.5\n"
	"\n"
	"==================== Active Requests At Q Information ====================\n"
	"\n"
	"       DEV |  Avg Reqs @ Q\n"
	"---------- | -------------\n"
	" (  8, 16) |           0.4\n"
	"\n"
	"==================== I/O Active Period Information ====================\n"
	"\n"
	"       DEV |     # Live      Avg. Act     Avg. !Act % Live\n"
	"---------- | ---------- ------------- ------------- ------\n"
	" (  8, 16) |      11569   0.000150391   0.000819592  15.51\n"
	"---------- | ---------- ------------- ------------- ------\n"
	" Total Sys |      11569   0.000150391   0.000819592  15.51\n"
	"\n"
	"==================== Q2D Histogram ====================\n"
	"\n"
	"       DEV | <.005 <.010 <.025 <.050 <.075 <.100 <.250 <.500 < 1.0 >=1.0 \n"
	" --------- | ===== ===== ===== ===== ===== ===== ===== ===== ===== =====\n"
	" (  8, 16) |  99.5   0.0   0.0   0.0   0.0   0.0   0.0   0.0   0.0   0.5 \n"
	"========== | ===== ===== ===== ===== ===== ===== ===== ===== ===== =====\n"
	"       AVG |  99.5   0.0   0.0   0.0   0.0   0.0   0.0   0.0   0.0   0.5 \n";

static const json_t *table(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < json_array_size(facts->latency_tables); i++) {
		const json_t *found = json_array_get(facts->latency_tables, i);

		if (!strcmp(text_str(found, "name"), name))
			return found;
	}
	return NULL;
}

static void every_section(void **state)
{
	struct facts facts;
	const json_t *t;

	assert_int_equal(text_read(&facts, whole), 0);
	assert_int_equal(facts.inputs[0].lines_ignored, 0);
	assert_string_equal(facts.inputs[0].format, "btt");
	t = table(&facts, "per-process");
	assert_int_equal(json_array_size(text_at(t, "rows")), 3);
	assert_string_equal(text_str(t, "rows.1.process"), "Web Content");
	assert_string_equal(text_str(t, "rows.2.phase"), "d2c");
	t = table(&facts, "per-device");
	assert_string_equal(text_str(t, "rows.0.device"), "8,16");
	t = table(&facts, "ALL");
	assert_int_equal(json_array_size(text_at(t, "rows")), 4);
	assert_int_equal(text_num(t, "rows.0.max_ns"), 1951129570);
	assert_int_equal(text_num(t, "rows.2.sum_ns"), 200000000);
	t = table(&facts, "device-overhead");
	assert_int_equal(json_array_size(text_at(t, "rows")), 2);
	assert_near(text_num(t, "rows.0.d2c"), 0.9995, 1e-9);
	assert_near(text_num(t, "rows.0.sum"), 1, 1e-9);
	t = table(&facts, "merge");
	assert_int_equal(text_num(t, "rows.0.queued"), 17411);
	assert_near(text_num(t, "rows.0.ratio"), 1.1, 1e-9);
	assert_int_equal(text_num(t, "rows.0.total_sectors"), 2672074);
	t = table(&facts, "q2q-seek");
	assert_near(text_num(t, "rows.0.mean_sectors"), 55323.8, 1e-6);
	assert_int_equal(text_num(t, "rows.0.mode_count"), 1620);
	assert_string_equal(text_str(t, "rows.1.device"), "Average");
	t = table(&facts, "plug");
	assert_int_equal(text_num(t, "rows.0.timer_unplugs"), 20);
	assert_near(text_num(t, "rows.0.plugged_share"), 0.965, 1e-9);
	assert_near(text_num(table(&facts, "unplug"), "rows.0.requests_per_timer_unplug"), 2.5,
		    1e-9);
	assert_near(text_num(table(&facts, "active-requests"), "rows.0.mean_requests_at_q"), 0.4,
		    1e-9);
	t = table(&facts, "active-period");
	assert_int_equal(text_num(t, "rows.1.mean_active_ns"), 150391);
	assert_near(text_num(t, "rows.1.active_share"), 0.1551, 1e-9);
	t = table(&facts, "q2d-histogram");
	assert_near(text_num(t, "rows.0.from_1_s"), 0.005, 1e-9);
	facts_release(&facts);
}

static void device_bound(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, whole), 0);
	assert_null(text_finding(&facts, "overhead-not-whole", 0));
	assert_string_equal(text_str(text_finding(&facts, "bound-from-table", 0), "evidence.bound"),
			    "device");
	facts_release(&facts);
}

/* Rows and the overhead table without what stands around them. */
static void pasted_rows(void **state)
{
	struct facts facts;
	const json_t *t, *found;

	assert_int_equal(text_read_file(&facts, "test/data/pasted/btt-tables.txt"), 0);
	t = table(&facts, "ALL");
	assert_int_equal(json_array_size(text_at(t, "rows")), 8);
	assert_string_equal(text_str(t, "rows.5.phase"), "m2d");
	assert_int_equal(text_num(t, "rows.5.mean_ns"), 2617691);
	assert_int_equal(text_num(t, "rows.7.n"), 62151);
	found = text_finding(&facts, "overhead-not-whole", 0);
	assert_string_equal(text_str(found, "severity"), "notice");
	assert_near(text_num(found, "evidence.sum"), 0.831, 0.0005);
	assert_near(text_num(found, "evidence.m2d_share"), 0.097, 0.0005);
	assert_near(text_num(found, "evidence.q2c_sum_ns"), 156.8e9, 0.05e9);
	assert_int_equal(text_num(found, "evidence.unmatched_merges"), 9728 - 5821);
	assert_non_null(strstr(text_str(found, "sentence"), "83.1 %"));
	assert_non_null(strstr(text_str(found, "sentence"), "3,907 merges"));
	found = text_finding(&facts, "bound-from-table", 0);
	assert_string_equal(text_str(found, "evidence.bound"), "queue");
	assert_int_equal(text_num(found, "evidence.i2d_mean_ns"), 1534463);
	assert_int_equal(text_num(found, "evidence.d2c_mean_ns"), 779355);
	assert_non_null(
		strstr(text_str(found, "sentence"), "I2D (1.53 ms) is 2.0 times D2C (0.78 ms)"));
	facts_release(&facts);
}

static void shares_above_the_whole(void **state)
{
	struct facts facts;
	const json_t *found;

	assert_int_equal(text_read(&facts, " (  8, 0) | 120103.0000% 0.0% 0.0% 0.0% 4.57%\n"), 0);
	found = text_finding(&facts, "overhead-not-whole", 0);
	assert_non_null(strstr(text_str(found, "sentence"), "joined"));
	assert_true(text_unknown(text_at(found, "evidence"), "m2d_share"));
	assert_null(text_finding(&facts, "bound-from-table", 0));
	facts_release(&facts);
}

static void two_runs_are_not_mixed(void **state)
{
	struct facts facts;

	assert_int_equal(text_read(&facts, "Before:\nI2D 0.1 0.2 0.3 4\nD2C 0.1 0.2 0.3 4\n"
					   "After:\nI2D 0.1 0.9 0.9 4\nD2C 0.1 0.2 0.3 4\n"),
			 0);
	assert_int_equal(json_array_size(facts.latency_tables), 2);
	assert_null(text_finding(&facts, "bound-from-table", 0));
	assert_true(text_noted(&facts, "several runs"));
	facts_release(&facts);
}

static void a_wrapped_row(void **state)
{
	struct facts facts;

	assert_int_equal(
		text_read(&facts,
			  "       DEV |       #Q       #D   Ratio |   BLKmin   BLKavg   BLKmax    "
			  "Total\n"
			  " (  8, 16) |    17411    16158     1.1 |        2      165  2097152\n"
			  "2672074\n"
			  " (  8, 17) |    17411    16158     1.1 |        2      165\n"
			  "and so on\n"),
		0);
	assert_int_equal(text_num(table(&facts, "merge"), "rows.0.total_sectors"), 2672074);
	assert_int_equal(json_array_size(text_at(table(&facts, "merge"), "rows")), 1);
	assert_int_equal(facts.inputs[0].lines_ignored, 2);
	facts_release(&facts);
}

static void huge_and_odd_numbers(void **state)
{
	struct facts facts;

	assert_int_equal(
		text_read(
			&facts,
			"Q2Q 0.000000001 9223372036.0 9223372036.854775807 9223372036854775807\n"),
		0);
	assert_true(text_unknown(text_at(table(&facts, "ALL"), "rows.0"), "sum_ns"));
	facts_release(&facts);
	assert_int_equal(
		text_read(&facts,
			  "Q2Q 0.1 9999999999999.0 0.3 5\nQ2Q 1 2 3 4\nQ2X 0.1 0.2 0.3 4\n"),
		-1);
	facts_release(&facts);
}

static void other_tables_are_none(void **state)
{
	static const char *const texts[] = { "| a | b |\n| 1 | 2 |\n", "==== Results ====\n",
					     "12 -> 15 : 3 |****|\n", "N MIN AVG MAX N\n",
					     "------ ------\n" };
	struct facts facts;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(text_read(&facts, texts[i]), -1);
		assert_null(facts.latency_tables);
		facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_section),
		cmocka_unit_test(device_bound),
		cmocka_unit_test(pasted_rows),
		cmocka_unit_test(shares_above_the_whole),
		cmocka_unit_test(two_runs_are_not_mixed),
		cmocka_unit_test(a_wrapped_row),
		cmocka_unit_test(huge_and_odd_numbers),
		cmocka_unit_test(other_tables_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
