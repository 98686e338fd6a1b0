/* SPDX-License-Identifier: MIT
 *
 * btt over small histories, whose numbers were worked out by hand. Beside the installed btt: test/compare; whole
 * runs: test/cli/btt.
 */
#include "cm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classic/btt.h"

/* A history has one event a line: "US DEVICE PID ACTION WHAT", time in us, WHAT as blkparse prints it. */
struct play {
	char home[64], dir[64]; /* where we were; where the files are */
	char *avg;
	FILE *trace;
};

static const char *name_of(unsigned int pid)
{
	switch (pid) {
	case 7:
		return "kworker/0:1H";
	case 8:
		return "kworker/1:0";
	case 9:
		return "kworkers";
	default:
		return "fio";
	}
}

static void put_line(struct play *p, const char *line)
{
	unsigned int us, pid;
	char device[16], action[8], what[64];
	const char *tail;

	if (sscanf(line, "%u %15s %u %7s %63[^\n]", &us, device, &pid, action, what) != 5)
		fail_msg("bad line: %s", line);
	/* The number of requests stands behind the name. */
	tail = *action == 'U' ? strchr(what, '/') : NULL;
	fprintf(p->trace, "%5s %2u %8u %5u.%09u %5u %2s %.*s %s%s%s%s\n", device, 0, 0,
		us / 1000000, us % 1000000 * 1000, pid, action,
		tail ? (int)(tail - what) : (int)strlen(what), what, *action == 'C' ? "[0]" : "[",
		*action == 'C' ? "" : name_of(pid), *action == 'C' ? "" : "]",
		tail ? tail + 1 : "");
}

static char *slurp(const char *path)
{
	static const size_t most = 1 << 20;
	FILE *file = fopen(path, "r");
	char *text = calloc(1, most);

	assert_non_null(file);
	assert_true(fread(text, 1, most - 1, file) > 0);
	fclose(file);
	return text;
}

/* Words of the command line behind "-i trace -o t", up to NULL. */
static void play(struct play *p, const char *history, char **words)
{
	char *argv[16] = { "btt", "-i", "trace", "-o", "t" };
	char *copy = strdup(history), *save = NULL;
	struct btt_options o;
	struct error err = { 0 };
	int argc = 5;

	*p = (struct play){ .dir = "/tmp/blklab-btt-XXXXXX" };
	assert_non_null(mkdtemp(p->dir));
	assert_non_null(getcwd(p->home, sizeof(p->home)));
	assert_int_equal(chdir(p->dir), 0);
	p->trace = fopen("trace", "w");
	assert_non_null(p->trace);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		put_line(p, line);
	fclose(p->trace);
	free(copy);
	for (; words && *words; words++)
		argv[argc++] = *words;
	assert_int_equal(btt_options_parse(&o, argc, argv), OPTIONS_RUN);
	if (btt_run(&o, &err) != 0)
		fail_msg("%s", err.text);
	btt_options_release(&o);
	p->avg = slurp("t.avg");
}

static void done(struct play *p)
{
	DIR *dir = opendir(p->dir);
	struct dirent *entry;

	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlink(entry->d_name);
	closedir(dir);
	assert_int_equal(chdir(p->home), 0);
	assert_int_equal(rmdir(p->dir), 0);
	free(p->avg);
}

/* These lines follow each other somewhere behind that title. */
static void expect(const struct play *p, const char *title, const char *lines)
{
	const char *at = strstr(p->avg, title);

	while (at && at > p->avg && at[-1] != '\n')
		at--;
	if (!at || !strstr(at, lines))
		fail_msg("%s: no\n%s\nin\n%s", title, lines, p->avg);
}

static void expect_none(const struct play *p, const char *text)
{
	if (strstr(p->avg, text))
		fail_msg("there is %s in\n%s", text, p->avg);
}

#define ALL_DATA ((char *[]){ "-A", NULL })

/* A bio that goes its way and one that is merged to it. Q2Q 100; Q2G 10; Q2M 5; G2I 190; I2D 50 (one),
 * M2D 145 (the other); D2C 500 of both; Q2C 750 and 650. */
static const char merged[] = "0   8,0 1 Q W 1000 + 8\n"
			     "10  8,0 1 G W 1000 + 8\n"
			     "100 8,0 1 Q W 1008 + 8\n"
			     "105 8,0 1 M W 1008 + 8\n"
			     "200 8,0 1 I W 1000 + 16\n"
			     "250 8,0 7 D W 1000 + 16\n"
			     "750 8,0 0 C W 1000 + 16\n";

static void tables(void **state)
{
	struct play p;

	(void)state;
	play(&p, merged, ALL_DATA);
	expect(&p, "= All Devices =",
	       "==================== All Devices ====================\n\n"
	       "            ALL           MIN           AVG           MAX           N\n"
	       "--------------- ------------- ------------- ------------- -----------\n\n"
	       "Q2Q               0.000100000   0.000100000   0.000100000           1\n"
	       "Q2G               0.000010000   0.000010000   0.000010000           1\n"
	       "G2I               0.000190000   0.000190000   0.000190000           1\n"
	       "Q2M               0.000005000   0.000005000   0.000005000           1\n"
	       "I2D               0.000050000   0.000050000   0.000050000           1\n"
	       "M2D               0.000145000   0.000145000   0.000145000           1\n"
	       "D2C               0.000500000   0.000500000   0.000500000           2\n"
	       "Q2C               0.000650000   0.000700000   0.000750000           2\n\n"
	       "==================== Device Overhead");
	expect(&p, "Per Process",
	       "            Q2C           MIN           AVG           MAX           N\n"
	       "--------------- ------------- ------------- ------------- -----------\n"
	       "fio               0.000650000   0.000700000   0.000750000           2\n\n"
	       "==================== Per Device");
	expect(&p, "Per Device",
	       "            Q2C           MIN           AVG           MAX           N\n"
	       "--------------- ------------- ------------- ------------- -----------\n"
	       "(  8,  0)         0.000650000   0.000700000   0.000750000           2\n\n");
	/* Of 1,400 us: 10, 190, 5, 50, 1,000. */
	expect(&p, "Device Overhead",
	       " (  8,  0) |   0.7143%  13.5714%   0.3571%   3.5714%  71.4286%\n");
	done(&p);
}

static void merges_and_active(void **state)
{
	struct play p;

	(void)state;
	/* The second Q finds one request waiting: (0 + 1) / 2. */
	play(&p, merged, ALL_DATA);
	expect(&p, "Merge Information",
	       " (  8,  0) |        2        1     2.0 |       16       16       16       16\n");
	expect(&p, "Active Requests", " (  8,  0) |           0.5\n\n");
	expect(&p, "Q2D Histogram",
	       " (  8,  0) | 100.0   0.0   0.0   0.0   0.0   0.0   0.0   "
	       "0.0   0.0   0.0 \n");
	done(&p);
}

/* Cut at 1004: its parts complete apart, and it with the last of them. */
static void splits(void **state)
{
	struct play p;

	(void)state;
	play(&p,
	     "0   8,0 1 Q W 1000 + 8\n"
	     "5   8,0 1 X W 1000 / 1004\n"
	     "10  8,0 1 G W 1000 + 4\n"
	     "20  8,0 1 D W 1000 + 4\n"
	     "30  8,0 1 G W 1004 + 4\n"
	     "40  8,0 1 D W 1004 + 4\n"
	     "100 8,0 0 C W 1000 + 4\n"
	     "180 8,0 0 C W 1004 + 4\n",
	     NULL);
	expect(&p, "All Devices",
	       "Q2G               0.000010000   0.000010000   0.000010000           1\n"
	       "D2C               0.000160000   0.000160000   0.000160000           1\n"
	       "Q2C               0.000180000   0.000180000   0.000180000           1\n");
	expect(&p, "Merge Information",
	       " (  8,  0) |        1        2     0.5 |        4        4        4        8\n");
	done(&p);
}

/* 253 has requests of its own: a disk. 252 maps to it: bio-based. */
static void remappers(void **state)
{
	struct play p;

	(void)state;
	play(&p,
	     "0   252,0 1 Q R 1000 + 8\n"
	     "10  253,0 1 A R 3000 + 8 <- (252,0) 1000\n"
	     "15  253,0 1 Q R 3000 + 8\n"
	     "20  253,0 1 G R 3000 + 8\n"
	     "30  253,0 1 D R 3000 + 8\n"
	     "90  253,0 0 C R 3000 + 8\n"
	     "100 252,0 0 C R 1000 + 8\n",
	     NULL);
	expect(&p, "All Devices",
	       "Q2Adm             0.000010000   0.000010000   0.000010000           1\n"
	       "Q2Cdm             0.000100000   0.000100000   0.000100000           1\n\n"
	       "Q2Q               0.000015000   0.000015000   0.000015000           1\n"
	       "Q2G               0.000005000   0.000005000   0.000005000           1\n"
	       "D2C               0.000060000   0.000060000   0.000060000           1\n"
	       "Q2C               0.000075000   0.000075000   0.000075000           1\n");
	expect(&p, "Device Overhead", "---------\n (253,  0) |   6.6667%");
	expect(&p, "Active Requests", "-------------\n (253,  0) |           0.0\n\n");
	done(&p);
}

static const char plugged[] =
	"0    8,0 1 Q W 1000 + 8\n" /* without U: until its D */
	"10   8,0 1 G W 1000 + 8\n"
	"20   8,0 1 P N\n"
	"120  8,0 1 D W 1000 + 8\n"
	"150  8,0 0 C W 1000 + 8\n"
	"200  8,0 1 Q W 2000 + 8\n" /* put in by the scheduler before its UT */
	"210  8,0 1 G W 2000 + 8\n"
	"220  8,0 1 P N\n"
	"230  8,0 1 I W 2000 + 8\n"
	"240  8,0 1 UT N /3\n"
	"250  8,0 2 P N\n" /* two threads, overlapping: 250 to 290 */
	"260  8,0 3 P N\n"
	"280  8,0 2 U N /1\n"
	"290  8,0 3 U N /2\n"
	"300  8,0 4 P N\n" /* its end is not seen */
	"400  8,0 7 D W 2000 + 8\n"
	"1000 8,0 0 C W 2000 + 8\n";

/* At the device from 120 to 150 and from 400 to 1000; the first event is at 0. */
static void live(void **state)
{
	struct play p;

	(void)state;
	play(&p, plugged, NULL);
	expect(&p, "Active Period",
	       " (  8,  0) |          2   0.000315000   0.000250000  63.00\n"
	       "---------- | ---------- ------------- ------------- ------\n"
	       " Total Sys |          2   0.000315000   0.000250000  63.00\n");
	done(&p);
}

/* The second file begins at 5 s: what is before does not count, and the rest until the end does. */
static void from_only(void **state)
{
	struct play p;

	(void)state;
	play(&p,
	     "0       8,0 1 Q W 1000 + 8\n"
	     "5000000 8,0 1 Q W 2000 + 8\n"
	     "5000010 8,0 1 G W 2000 + 8\n"
	     "5000020 8,0 1 D W 2000 + 8\n"
	     "5000050 8,0 0 C W 2000 + 8\n",
	     (char *[]){ "-t", "5", NULL });
	expect(&p, "All Devices",
	       "Q2C               0.000050000   0.000050000   0.000050000           1\n");
	expect(&p, "Active Period", " (  8,  0) |          1   0.000030000   0.000000000  60.00\n");
	expect_none(&p, "Q2Q  ");
	done(&p);
}

static const char workers[] = "0  8,0 7 Q W 1000 + 8\n"
			      "1  8,0 7 D W 1000 + 8\n"
			      "2  8,0 0 C W 1000 + 8\n"
			      "10 8,0 8 Q W 2000 + 8\n"
			      "11 8,0 8 D W 2000 + 8\n"
			      "13 8,0 0 C W 2000 + 8\n"
			      "20 8,0 9 Q W 3000 + 8\n"
			      "21 8,0 9 D W 3000 + 8\n"
			      "24 8,0 0 C W 3000 + 8\n";

static void names(void **state)
{
	struct play p;

	(void)state;
	play(&p, workers, (char *[]){ "-A", "-e", "kworker", NULL });
	expect(&p, "Per Process",
	       "            Q2C           MIN           AVG           MAX           N\n"
	       "--------------- ------------- ------------- ------------- -----------\n"
	       "kworker/0:1H      0.000002000   0.000002000   0.000002000           1\n"
	       "kworker/1:0       0.000003000   0.000003000   0.000003000           1\n\n");
	expect_none(&p, "kworkers  ");
	done(&p);
	play(&p, workers, (char *[]){ "-A", "-e", "kworkers,kworker/1:0", NULL });
	expect(&p, "Per Process",
	       "--------------- ------------- ------------- ------------- -----------\n"
	       "kworkers          0.000004000   0.000004000   0.000004000           1\n"
	       "kworker/1:0       0.000003000   0.000003000   0.000003000           1\n\n");
	done(&p);
	play(&p, workers, (char *[]){ "-A", "-e", "", NULL });
	expect_none(&p, "Per Process");
	done(&p);
}

static void devices(void **state)
{
	struct play p;

	(void)state;
	play(&p, merged, (char *[]){ "-A", "-D", "9,9", NULL });
	expect(&p, "All Devices", "Q2C               0.000650000");
	expect_none(&p, "(  8,  0)");
	done(&p);
	/* Without any D: until D, of what was issued; nothing ends. */
	play(&p, "0 8,0 1 Q W 8 + 8\n10 8,0 1 G W 8 + 8\n30 8,0 1 D W 8 + 8\n", NULL);
	expect(&p, "All Devices",
	       "Q2G               0.000010000   0.000010000   0.000010000           1\n\n");
	done(&p);
}

/* ---- options ---- */

static void option_values(void **state)
{
	char *argv[] = { "btt", "-i",     "x",  "--devices=8,0;253,1;8,0",
			 "-e",  "a,b,,c", "-t", "1.5",
			 "-d",  "0.25",   "-S", "3",
			 "-Z",  NULL };
	struct btt_options o;

	(void)state;
	assert_int_equal(btt_options_parse(&o, 13, argv), OPTIONS_RUN);
	assert_string_equal(o.input, "x");
	assert_int_equal(o.nr_devices, 2);
	assert_int_equal(o.devices[1], DEVICE(253, 1));
	assert_int_equal(o.nr_processes, 4);
	assert_string_equal(o.processes[3], "c");
	assert_true(o.from_ns == 1500000000 && o.to_ns == UINT64_MAX);
	assert_true(o.range_delta_ns == 250000000 && o.iostat_ns == 3000000000u);
	assert_true(o.activity && !o.all_data);
	btt_options_release(&o);
}

/* What is said about them goes to standard error: out of the way. */
static void option_mistakes(void **state)
{
	char *none[] = { "btt", NULL }, *unknown[] = { "btt", "-i", "x", "-Y", NULL };
	char *devices_arg[] = { "btt", "-i", "x", "-D", "8", NULL };
	char *seeks[] = { "btt", "-i", "x", "-m", "y", NULL }, *help[] = { "btt", "-h", NULL };
	struct btt_options o;
	int kept = dup(STDERR_FILENO);

	(void)state;
	assert_non_null(freopen("/dev/null", "w", stderr));
	assert_int_equal(btt_options_parse(&o, 1, none), OPTIONS_EXIT_FAILED);
	assert_int_equal(btt_options_parse(&o, 4, unknown), OPTIONS_EXIT_FAILED);
	assert_int_equal(btt_options_parse(&o, 5, devices_arg), OPTIONS_EXIT_FAILED);
	btt_options_release(&o);
	assert_int_equal(btt_options_parse(&o, 5, seeks), OPTIONS_EXIT_FAILED);
	assert_int_equal(btt_options_parse(&o, 2, help), OPTIONS_EXIT_OK);
	fflush(stderr);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	close(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),        cmocka_unit_test(merges_and_active),
		cmocka_unit_test(splits),        cmocka_unit_test(remappers),
		cmocka_unit_test(live),          cmocka_unit_test(from_only),
		cmocka_unit_test(names),         cmocka_unit_test(devices),
		cmocka_unit_test(option_values), cmocka_unit_test(option_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
