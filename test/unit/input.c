/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "read/formats.h"
#include "trace/input.h"

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

static void file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static void add(struct inputs *inputs, const char *path)
{
	struct error err = { 0 };
	int r = inputs_add(inputs, path, &err);

	if (r)
		print_error("%s\n", err.text);
	assert_int_equal(r, 0);
}

static void refuse(const char *path, const char *says)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };

	assert_int_equal(inputs_add(&inputs, path, &err), -1);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	assert_null(strchr(err.text, '\n'));
	inputs_release(&inputs);
}

/* It is added, and says what is wrong with it when it is read. */
static void refuse_reading(const char *path, const char *says)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };

	add(&inputs, path);
	assert_int_equal(inputs.nr, 1);
	assert_null(blob_text(&inputs.list[0].blobs[0], 1000000, NULL, &err));
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	assert_null(strchr(err.text, '\n'));
	assert_true(blob_damaged(&inputs.list[0].blobs[0]));
	inputs_release(&inputs);
}

static void has_text(const struct input *in, const char *name, const char *text)
{
	struct blob *blob = input_blob(in, name);
	struct error err = { 0 };
	char *got;

	assert_non_null(blob);
	got = blob_text(blob, 100, NULL, &err);
	assert_non_null(got);
	assert_string_equal(got, text);
	free(got);
}

static void make_set(void)
{
	file("sda.blktrace.0", "zero");
	file("sda.blktrace.2", "two");
	file("sda.blktrace.10", "ten");
	file("sda1.blktrace.0", "other");
	file("sda.blktrace.x", "no number");
}

static void is_set(const struct input *in)
{
	assert_string_equal(in->base, "sda");
	assert_int_equal(in->nr, 3);
	assert_string_equal(in->blobs[0].name, "sda.blktrace.0");
	assert_string_equal(in->blobs[1].name, "sda.blktrace.2");
	assert_string_equal(in->blobs[2].name, "sda.blktrace.10");
}

static void sets_of_files(void **state)
{
	static const char *const names[] = { "sda", "sda.blktrace.2", "./sda",
					     ".//sda.blktrace.10" };

	make_set();
	for (size_t i = 0; i < 4; i++) {
		struct inputs inputs = { 0 };

		add(&inputs, names[i]);
		assert_int_equal(inputs.nr, 1);
		is_set(&inputs.list[0]);
		inputs_release(&inputs);
	}
}

static void shell_glob_is_one_group(void **state)
{
	struct inputs inputs = { 0 };

	make_set();
	add(&inputs, "sda.blktrace.0");
	add(&inputs, "sda.blktrace.10");
	add(&inputs, "sda.blktrace.2");
	add(&inputs, "sda1.blktrace.0");
	add(&inputs, "sda");
	assert_int_equal(inputs.nr, 2);
	is_set(&inputs.list[0]);
	assert_string_equal(inputs.list[1].base, "sda1");
	has_text(&inputs.list[0], "sda.blktrace.2", "two");
	inputs_release(&inputs);
	inputs_release(&inputs);
}

static void folder_of_sets_and_files(void **state)
{
	struct inputs inputs = { 0 };

	make_set();
	mkdir("sub", 0755);
	file("notes", "text");
	add(&inputs, ".");
	assert_int_equal(inputs.nr, 4); /* notes, sda, sda.blktrace.x, sda1 */
	assert_string_equal(inputs.list[0].base, "notes");
	is_set(&inputs.list[1]);
	inputs_release(&inputs);
}

static void make_trace_dir(const char *dir)
{
	char *command =
		mem_printf("mkdir -p %s/formats/block && echo -n '{}' >%s/meta.json && echo -n p "
			   ">%s/cpu10.pages && echo -n p >%s/cpu9.pages && echo -n f "
			   ">%s/formats/block/e",
			   dir, dir, dir, dir, dir);

	run(command);
	free(command);
}

static void is_trace_dir(const struct input *in)
{
	assert_int_equal(in->nr, 4);
	assert_string_equal(in->blobs[0].name, "cpu9.pages");
	assert_string_equal(in->blobs[1].name, "cpu10.pages");
	has_text(in, "formats/block/e", "f");
	has_text(in, "meta.json", "{}");
}

static void trace_directory_is_one_group(void **state)
{
	struct inputs inputs = { 0 };

	make_trace_dir("t");
	add(&inputs, "t/");
	add(&inputs, "t");
	assert_int_equal(inputs.nr, 1);
	assert_string_equal(inputs.list[0].label, "t");
	is_trace_dir(&inputs.list[0]);
	inputs_release(&inputs);
}

static void packed(void **state)
{
	static const char *const packers[] = { "gzip", "xz", "bzip2", "zstd" };

	make_set();
	make_trace_dir("t/deep");
	for (size_t i = 0; i < 4; i++) {
		struct inputs inputs = { 0 };
		char *command = mem_printf("tar cf - sda.blktrace.* t | %s >x", packers[i]);
		char *probe = mem_printf("command -v %s >/dev/null", packers[i]);

		if (!system(probe)) {
			run(command);
			add(&inputs, "x");
			assert_int_equal(inputs.nr, 3);
			assert_string_equal(inputs.list[0].label, "x:t/deep");
			is_trace_dir(&inputs.list[0]);
			is_set(&inputs.list[1]);
			assert_string_equal(inputs.list[1].label, "x:sda");
			has_text(&inputs.list[1], "sda.blktrace.10", "ten");
			has_text(&inputs.list[1], "sda.blktrace.0", "zero");
			inputs_release(&inputs);
		}
		free(command);
		free(probe);
	}
}

static void packed_per_cpu_files_are_a_set(void **state)
{
	struct inputs inputs = { 0 };

	make_set();
	run("gzip sda.blktrace.0 sda.blktrace.2 sda.blktrace.10");
	add(&inputs, "sda.blktrace.10.gz");
	add(&inputs, "sda.blktrace.2.gz");
	add(&inputs, "sda.blktrace.0.gz");
	assert_int_equal(inputs.nr, 1);
	is_set(&inputs.list[0]);
	assert_string_equal(inputs.list[0].label, "sda");
	has_text(&inputs.list[0], "sda.blktrace.2", "two");
	inputs_release(&inputs);
}

/* Any name of the set gives all of it, whatever each file is compressed with. */
static void one_packed_name_is_the_whole_set(void **state)
{
	static const char *const names[] = { "sda", "./sda", "sda.blktrace.0.gz",
					     "sda.blktrace.2.xz", "sda.blktrace.10" };
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	char byte;

	make_set();
	file("sda", "a file of the base's name");
	run("gzip sda.blktrace.0 && xz sda.blktrace.2 && gzip -k sda.blktrace.10");
	for (size_t i = 0; i < 5; i++) {
		if (i < 2)
			unlink("sda");
		add(&inputs, names[i]);
		assert_int_equal(inputs.nr, 1);
		is_set(&inputs.list[0]);
		assert_string_equal(inputs.list[0].label, "sda");
		has_text(&inputs.list[0], "sda.blktrace.0", "zero");
		has_text(&inputs.list[0], "sda.blktrace.2", "two");
		has_text(&inputs.list[0], "sda.blktrace.10", "ten");
		inputs_release(&inputs);
		file("sda", "a file of the base's name");
	}
	refuse("sda.blktrace.7.gz", "sda.blktrace.7.gz: no such file");
	refuse("nowhere/sda", "nowhere/sda: no such file");
	run("head -c 12 sda.blktrace.2.xz >cut && mv cut sda.blktrace.2.xz && rm sda");
	add(&inputs, "sda");
	is_set(&inputs.list[0]);
	has_text(&inputs.list[0], "sda.blktrace.10", "ten");
	assert_int_equal(blob_read(&inputs.list[0].blobs[1], &byte, 1, &err), -1);
	assert_non_null(strstr(err.text, "sda.blktrace.2.xz: cannot be unpacked"));
	inputs_release(&inputs);
}

/* A folder with a file of the base's name and a packed set holds two inputs. */
static void folder_of_packed_files(void **state)
{
	struct inputs inputs = { 0 };

	make_set();
	run("rm sda1.blktrace.0 sda.blktrace.x && gzip sda.blktrace.*");
	file("sda", "text");
	add(&inputs, ".");
	assert_int_equal(inputs.nr, 2);
	assert_int_equal(inputs.list[0].nr, 1);
	is_set(&inputs.list[1]);
	inputs_release(&inputs);
}

static void plain_tar_and_plain_file(void **state)
{
	struct inputs inputs = { 0 };

	make_set();
	file("zip", "PK is not a zip file");
	file("bz", "BZh9 is not bzip2");
	run("tar cf a.tar sda.blktrace.0");
	add(&inputs, "a.tar");
	add(&inputs, "zip");
	add(&inputs, "bz");
	assert_int_equal(inputs.nr, 3);
	has_text(&inputs.list[0], "sda.blktrace.0", "zero");
	has_text(&inputs.list[1], "zip", "PK is not a zip file");
	has_text(&inputs.list[2], "bz", "BZh9 is not bzip2");
	inputs_release(&inputs);
}

static void bad_names(void **state)
{
	make_set();
	mkdir("empty", 0755);
	mkdir("empty/sub", 0755);
	refuse("nothing", "nothing: no such file");
	refuse("sda.blktrace.7", "sda.blktrace.7: no such file");
	refuse("empty", "empty: no trace in this directory");
	refuse("", "empty name");
	run("head -c 100000 /dev/urandom | xz >cut.xz && truncate -s 5000 cut.xz");
	refuse_reading("cut.xz", "cut.xz: cannot be unpacked, it is cut or damaged");
	if (geteuid()) {
		file("secret", "x");
		chmod("secret", 0);
		refuse("secret", "secret: Permission denied");
	}
}

/* A stream needs no room, nor does a small archive. */
static void no_room_to_unpack(void **state)
{
	struct inputs inputs = { 0 };

	file("plain", "text");
	run("gzip -k plain && tar czf small.tgz plain");
	run("truncate -s 40M zeros && tar czf large.tgz zeros");
	setenv("TMPDIR", "/nonexistent", 1);
	refuse("large.tgz", "large.tgz: cannot be unpacked to /nonexistent");
	add(&inputs, "plain.gz");
	add(&inputs, "small.tgz");
	has_text(&inputs.list[0], "plain", "text");
	has_text(&inputs.list[1], "plain", "text");
	unsetenv("TMPDIR");
	inputs_release(&inputs);
}

static void reading_ahead_takes_nothing(void **state)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	const uint8_t *head;
	struct blob *blob;
	struct input in;
	char buf[8];

	file("f", "0123456789");
	add(&inputs, "f");
	input_memory(&in, "mem", "0123456789", 10);
	for (int i = 0; i < 2; i++) {
		blob = i ? &in.blobs[0] : &inputs.list[0].blobs[0];
		assert_int_equal(blob_head(blob, 4, &head, &err), 4);
		assert_memory_equal(head, "0123", 4);
		assert_int_equal(blob_head(blob, 6, &head, &err), 6);
		assert_int_equal(blob_head(blob, 2, &head, &err), 2);
		assert_int_equal(blob_read(blob, buf, 2, &err), 2);
		assert_memory_equal(buf, "01", 2);
		assert_int_equal(blob_head(blob, 99, &head, &err), 8);
		assert_memory_equal(head, "23456789", 8);
		assert_int_equal(blob_read(blob, buf, 7, &err), 7);
		assert_memory_equal(buf, "2345678", 7);
		assert_int_equal(blob_read(blob, buf, 7, &err), 1);
		assert_int_equal(blob_read(blob, buf, 7, &err), 0);
		blob_close(blob);
	}
	input_release(&in);
	inputs_release(&inputs);
}

static void text_has_a_limit(void **state)
{
	struct error err = { 0 };
	struct input in;
	size_t len;
	char *text;

	input_memory(&in, "mem", "12345", 5);
	assert_null(blob_text(&in.blobs[0], 4, &len, &err));
	assert_non_null(strstr(err.text, "mem"));
	input_release(&in);
	input_memory(&in, "mem", "12345", 5);
	text = blob_text(&in.blobs[0], 5, &len, &err);
	assert_string_equal(text, "12345");
	assert_int_equal(len, 5);
	free(text);
	input_release(&in);
}

/* inputs_open on one file with that text; what the error says. */
static void open_refuses(const char *name, const char *says)
{
	struct inputs inputs = { 0 };
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct facts facts;

	facts_init(&facts);
	add(&inputs, name);
	assert_int_equal(inputs_open(&inputs, &facts, &sources, &err), -1);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	assert_int_equal(facts.nr_inputs, 1);
	assert_non_null(facts.inputs[0].ignored);
	facts_release(&facts);
	sources_release(&sources);
	inputs_release(&inputs);
}

static void what_nobody_reads(void **state)
{
	file("text", "some text\n");
	file("none", "");
	file("binary", "\1\2\3\4");
	mkdir("t", 0755);
	file("t/meta.json", "{\"trace_version\": 1");
	run("tar czf none.tgz -T /dev/null");
	open_refuses("text", "text: is text");
	open_refuses("none.tgz", "none.tgz: is not a trace");
	open_refuses("none", "none: is empty");
	open_refuses("binary", "binary: is not a trace");
	open_refuses("t", "t: meta.json");
	file("t/meta.json", "{\"trace_version\": 2}");
	open_refuses("t", "t: meta.json");
	file("t/meta.json", "{\"trace_version\": 1}");
	open_refuses("t", "t: holds no event formats");
}

static void the_rest_is_used(void **state)
{
	struct inputs inputs = { 0 };
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct facts facts;

	file("a", "some text\n");
	file("log", "=== sda ===\n  CPU  0: 1 events, 0 KiB data\n  Total: 1 events (dropped 3), 0 "
		    "KiB data\n");
	facts_init(&facts);
	add(&inputs, ".");
	assert_int_equal(inputs_open(&inputs, &facts, &sources, &err), 0);
	assert_int_equal(facts.nr_inputs, 2);
	assert_non_null(strstr(facts.inputs[0].ignored, "is text, but "));
	assert_null(facts.inputs[1].ignored);
	assert_non_null(strstr(facts.notes[0], "a was ignored: is text, but "));
	assert_int_equal(facts.dropped, 3);
	facts_release(&facts);
	sources_release(&sources);
	inputs_release(&inputs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sets_of_files),
		TEST(shell_glob_is_one_group),
		TEST(folder_of_sets_and_files),
		TEST(trace_directory_is_one_group),
		TEST(packed),
		TEST(packed_per_cpu_files_are_a_set),
		TEST(one_packed_name_is_the_whole_set),
		TEST(folder_of_packed_files),
		TEST(plain_tar_and_plain_file),
		TEST(bad_names),
		TEST(no_room_to_unpack),
		TEST(reading_ahead_takes_nothing),
		TEST(text_has_a_limit),
		TEST(what_nobody_reads),
		TEST(the_rest_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
