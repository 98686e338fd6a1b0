/* SPDX-License-Identifier: MIT
 *
 * What is expected here was printed by blkparse 1.2.0 when called so, where nothing else is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classic/options.h"
#include "cm.h"

#define MOST_WORDS 20

struct parsed {
	struct blkparse_options o;
	enum options_next next;
	char out[8192], err[8192];
	char *line, *argv[MOST_WORDS]; /* the options point into it */
};

/* What fd gets goes to a file from here on; returns where it went before. */
static int divert(int fd, FILE *file)
{
	int old = dup(fd);

	fflush(NULL);
	assert_true(old >= 0 && dup2(fileno(file), fd) >= 0);
	return old;
}

static void restore(int fd, int old, FILE *file, char text[8192])
{
	fflush(NULL);
	assert_true(dup2(old, fd) >= 0);
	close(old);
	rewind(file);
	text[fread(text, 1, 8191, file)] = '\0';
	fclose(file);
}

/* "blkparse" and these words, one blank between two. */
static struct parsed parse(const char *words)
{
	static struct parsed p;
	FILE *out = tmpfile(), *err = tmpfile();
	int argc = 1, old_out, old_err;
	char *at;

	memset(&p, 0, sizeof(p));
	at = p.line = strdup(words);
	p.argv[0] = (char[]){ "blkparse" };
	while (at && *words)
		p.argv[argc++] = strsep(&at, " ");
	old_out = divert(1, out);
	old_err = divert(2, err);
	p.next = options_parse(&p.o, argc, p.argv);
	restore(1, old_out, out, p.out);
	restore(2, old_err, err, p.err);
	return p;
}

static void done(struct parsed *p)
{
	options_release(&p->o);
	options_release(&p->o);
	free(p->line);
}

/* It runs, and says nothing. */
static struct parsed runs(const char *words)
{
	struct parsed p = parse(words);

	assert_string_equal(p.err, "");
	assert_string_equal(p.out, "");
	assert_int_equal(p.next, OPTIONS_RUN);
	return p;
}

/* It fails with exactly this on standard error. */
static void fails(const char *words, const char *text)
{
	struct parsed p = parse(words);

	assert_string_equal(p.err, text);
	assert_string_equal(p.out, "");
	assert_int_equal(p.next, OPTIONS_EXIT_FAILED);
	done(&p);
}

/* It fails with that line and the usage. */
static void misused(const char *words, const char *line)
{
	struct parsed p = parse(words);
	static const char usage[] = "Usage: blkparse \n\n-i <file> ";
	size_t len = strlen(line);

	assert_int_equal(p.next, OPTIONS_EXIT_FAILED);
	assert_string_equal(p.out, "");
	assert_memory_equal(p.err, line, len);
	assert_memory_equal(p.err + len, usage, strlen(usage));
	done(&p);
}

#define SYNOPSIS_BYTES 749 /* of what blkparse 1.2.0 prints before its explanations */

static void synopsis_is_the_classics(void **state)
{
	struct parsed p = parse("");

	(void)state;
	assert_int_equal(p.next, OPTIONS_EXIT_FAILED);
	assert_int_equal(strstr(p.err, "\n\n\t-a ") - p.err, SYNOPSIS_BYTES);
	assert_non_null(strstr(p.err, "\n[ -M                | --no-msgs\n[ -v "));
	done(&p);
	p = parse("--classic=1.3");
	assert_non_null(
		strstr(p.err, "\n[ -S <event>        | --sort-program-stats=<event> ]\n[ -t "));
	done(&p);
}

static void version(void **state)
{
	static const char *const calls[][2] = {
		{ "-V", "blkparse version 1.2.0\n" },
		{ "-VZ", "blkparse version 1.2.0\n" },
		{ "-q x --versi --nonsense", "blkparse version 1.2.0\n" },
		{ "-V --classic=1.3", "blkparse version 1.3.0\n" }, /* not run */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct parsed p = parse(calls[i][0]);

		assert_int_equal(p.next, OPTIONS_EXIT_OK);
		assert_string_equal(p.out, calls[i][1]);
		assert_string_equal(p.err, "");
		done(&p);
	}
}

static void wrong_options(void **state)
{
	(void)state;
	misused("-Z", "blkparse: invalid option -- 'Z'\n");
	misused("-q-", "blkparse: invalid option -- '-'\n");
	misused("-S N x", "blkparse: invalid option -- 'S'\n");
	misused("-i", "blkparse: option requires an argument -- 'i'\n");
	misused("--format", "blkparse: option '--format' requires an argument\n");
	misused("--quiet=3", "blkparse: option '--quiet' doesn't allow an argument\n");
	misused("--nosuch=5", "blkparse: unrecognized option '--nosuch=5'\n");
	misused("--sort x", "blkparse: unrecognized option '--sort'\n");
	misused("--s x", "blkparse: option '--s' is ambiguous; possibilities: '--set-mask' "
			 "'--stopwatch'\n");
	misused("--in x", "blkparse: option '--in' is ambiguous; possibilities: "
			  "'--input-directory' '--input'\n");
	misused("--no x", "blkparse: option '--no' is ambiguous; possibilities: '--no-msgs' "
			  "'--no-text-output'\n");
}

/* No abbreviation reaches our options or means something else because of them. */
static void ours_are_written_in_full(void **state)
{
	(void)state;
	misused("--f x", "blkparse: option '--f' is ambiguous; possibilities: '--format' "
			 "'--format-spec'\n");
	misused("--fi x", "blkparse: unrecognized option '--fi'\n");
	misused("--fix=1 x", "blkparse: unrecognized option '--fix=1'\n");
	misused("--g=yes x", "blkparse: unrecognized option '--g=yes'\n");
	misused("--class=8 x", "blkparse: unrecognized option '--class=8'\n");
	misused("--list x", "blkparse: unrecognized option '--list'\n");
	misused("--hel x", "blkparse: unrecognized option '--hel'\n");
	fails("--classic=7 x", "blkparse: --classic takes 1.2|1.3|8\n");
	fails("--group x", "blkparse: --group takes yes|no\n");
	fails("x --classic", "blkparse: --classic takes 1.2|1.3|8\n");
}

static void first_error_wins(void **state)
{
	(void)state;
	fails("-a x -w y", "Invalid action mask x\n");
	fails("-w 1:0.5 -V", "Invalid stopwatch interval: 1000000000 -> 500000000\n");
	fails("-F x -Z", "Bad format specifier x\n");
	misused("-Z -F x", "blkparse: invalid option -- 'Z'\n");
	fails("-f a\\x -V", "Invalid escape char in format x\n"); /* ours */
}

static uint32_t mask_of(const char *words)
{
	struct parsed p = runs(words);
	uint32_t mask = p.o.mask;

	done(&p);
	return mask;
}

static void masks(void **state)
{
	(void)state;
	assert_int_equal(mask_of("x"), UINT32_MAX);
	assert_int_equal(mask_of("x -a read"), 1);
	assert_int_equal(mask_of("x -a BLK_TC_FUA -a Drv_Data"), 0xc000);
	assert_int_equal(mask_of("x -A 2 -a read"), 3);
	assert_int_equal(mask_of("x -a read -A 0X4"), 4);
	assert_int_equal(mask_of("x -A 4z"), 4);
	assert_int_equal(mask_of("x -A 100000001"), 1);
	assert_int_equal(mask_of("x -A -fffffffe"), 2);
	fails("x -a barrier", "Invalid action mask barrier\n");
	fails("x -a ", "Invalid action mask \n");
	fails("x -a read,write", "Invalid action mask read,write\n");
	fails("x -A 0", "Invalid set action mask 0/0x0\n");
	fails("x -A 10000", "Invalid set action mask 10000/0x10000\n");
	fails("x -A -1", "Invalid set action mask -1/0xffffffff\n");
	fails("x -A zz", "Invalid set action mask zz/0x0\n");
	fails("x -a write -A zz", "Invalid set action mask zz/0x2\n");
}

static void window(const char *words, uint64_t from_ns, uint64_t to_ns)
{
	struct parsed p = runs(words);

	assert_true(p.o.from_ns == from_ns);
	assert_true(p.o.to_ns == to_ns);
	done(&p);
}

static void windows(void **state)
{
	(void)state;
	window("x", 0, UINT64_MAX);
	window("x -w 0.01", 0, 10000000);
	window("x -w .5:0x1p1", 500000000, 2000000000);
	window("x -w 0.001:0.01 -w 1", 1000000, 1000000000);
	window("x -w -1", 0, UINT64_C(18446744072709551616));
	window("x -w nan", 0, UINT64_C(1) << 63);
	fails("x -w 0", "Invalid stopwatch interval: 0 -> 0\n");
	fails("x -w 1e30", "Invalid stopwatch interval: 0 -> 0\n");
	fails("x -w -1:1", "Invalid stopwatch interval: 18446744072709551616 -> 1000000000\n");
	fails("x -w :1", "Invalid stopwatch timer: :1\n");
	fails("x -w 1a", "Invalid stopwatch start timer: 1a\n");
	fails("x -w 1:", "Invalid stopwatch duration time: \n");
	fails("x -w 1:2:3", "Invalid stopwatch duration time: 2:3\n");
}

static void batches(void **state)
{
	static const struct {
		const char *words;
		unsigned int batch;
	} rows[] = {
		{ "x", 512 },
		{ "x -b 3x", 3 },
		{ "x -b abc", 512 },
		{ "x -b 3 -b 0", 512 },
		{ "x -b 1e3", 1 },
		{ "x -b -1", 0xffffffff },
		{ "x -b 4294967297", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = runs(rows[i].words);

		assert_int_equal(p.o.batch, rows[i].batch);
		done(&p);
	}
}

static void inputs_and_outputs(void **state)
{
	struct parsed p =
		runs("first -i second -D one -o a -o text -d - --input=third -D two -- -q");

	(void)state;
	assert_int_equal(p.o.nr_inputs, 4); /* arguments come behind -i */
	assert_string_equal(p.o.inputs[0], "second");
	assert_string_equal(p.o.inputs[1], "third");
	assert_string_equal(p.o.inputs[2], "first");
	assert_string_equal(p.o.inputs[3], "-q");
	assert_string_equal(p.o.input_dir, "two");
	assert_string_equal(p.o.output, "text");
	assert_string_equal(p.o.dump, "-");
	assert_false(p.o.quiet);
	done(&p);
	p = runs("-");
	assert_null(p.o.input_dir);
	assert_null(p.o.output);
	assert_string_equal(p.o.inputs[0], "-");
	done(&p);
}

static void switches(void **state)
{
	struct parsed p = runs("-hqstv -OM x");

	(void)state;
	assert_true(p.o.by_name && p.o.quiet && p.o.per_program && p.o.track && p.o.verbose);
	assert_true(p.o.no_text && p.o.no_messages);
	assert_false(p.o.fix);
	assert_int_equal(p.o.classic, CLASSIC_1_2);
	assert_int_equal(p.o.group, GROUP_LOCALE);
	assert_int_equal(p.o.sort, 0);
	done(&p);
	p = runs("--h --q --pe --tr --verb --no-t --no-m x");
	assert_true(p.o.by_name && p.o.quiet && p.o.per_program && p.o.track && p.o.verbose);
	assert_true(p.o.no_text && p.o.no_messages);
	done(&p);
}

static void formats(void **state)
{
	struct parsed p = runs("-F Q,%a --format=%d x");

	(void)state;
	assert_non_null(p.o.formats.of['Q']);
	assert_non_null(p.o.formats.of['C']);
	assert_null(p.o.formats.of['m']);
	done(&p);
	fails("x -F E,a", "Bad format specifier E\n");
	fails("x --format-s Q", "Bad format specifier - need ',' Q\n");
}

static void ours(void **state)
{
	struct parsed p = runs("x -SQueued --fix --group no --classic=1.3");

	(void)state;
	assert_true(p.o.fix && p.o.per_program);
	assert_int_equal(p.o.group, GROUP_NO);
	assert_int_equal(p.o.classic, CLASSIC_1_3);
	assert_int_equal(p.o.sort, 'Q');
	assert_int_equal(p.o.nr_inputs, 1);
	done(&p);
	p = runs("-o --fix -qf --help -D --classic=8 -- --fix");
	assert_false(p.o.fix);
	assert_string_equal(p.o.output, "--fix");
	assert_string_equal(p.o.input_dir, "--classic=8");
	assert_string_equal(p.o.inputs[0], "--fix");
	done(&p);
	p = runs("--classic 8 --group=yes x --sort-p c");
	assert_int_equal(p.o.classic, CLASSIC_8);
	assert_int_equal(p.o.group, GROUP_YES);
	assert_int_equal(p.o.sort, 'c');
	done(&p);
	fails("x -S x --classic=8", "Invalid sort event x\n"); /* 1.3 says nothing */
}

/* As getopt: nothing behind the first argument is an option. */
static void in_posix_order(void **state)
{
	struct parsed p;

	(void)state;
	setenv("POSIXLY_CORRECT", "1", 1);
	p = runs("--fix x -q --classic=8");
	unsetenv("POSIXLY_CORRECT");
	assert_true(p.o.fix);
	assert_false(p.o.quiet);
	assert_int_equal(p.o.classic, CLASSIC_1_2);
	assert_int_equal(p.o.nr_inputs, 3);
	done(&p);
}

static void help_and_list(void **state)
{
	struct parsed p = parse("x --help --classic=1.3");

	(void)state;
	assert_int_equal(p.next, OPTIONS_EXIT_OK);
	assert_string_equal(p.err, "");
	assert_non_null(strstr(p.out, "\n\t--classic=1.2|1.3|8\n"));
	assert_non_null(strstr(p.out, "\n[ -S <event> "));
	done(&p);
	p = parse("--list-options");
	assert_int_equal(p.next, OPTIONS_EXIT_OK);
	assert_memory_equal(p.out, "a\tact-mask\t<action field>\n", 26);
	assert_non_null(strstr(p.out, "\nq\tquiet\t-\n"));
	assert_non_null(strstr(p.out, "\nS\tsort-program-stats\t<event>\n"));
	assert_non_null(strstr(p.out, "\n-\tfix\t-\n"));
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(synopsis_is_the_classics),
		cmocka_unit_test(version),
		cmocka_unit_test(wrong_options),
		cmocka_unit_test(ours_are_written_in_full),
		cmocka_unit_test(first_error_wins),
		cmocka_unit_test(masks),
		cmocka_unit_test(windows),
		cmocka_unit_test(batches),
		cmocka_unit_test(inputs_and_outputs),
		cmocka_unit_test(switches),
		cmocka_unit_test(formats),
		cmocka_unit_test(ours),
		cmocka_unit_test(in_posix_order),
		cmocka_unit_test(help_and_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
