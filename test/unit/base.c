/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/sysroot.h"
#include "cm.h"

static void printable_is_one_line_of_utf8(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "plain \\ \"text\"", "plain \\ \"text\"" },
		{ "a\nb\tc\033[31m\x7f", "a\\x0ab\\x09c\\x1b[31m\\x7f" },
		{ "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac" }, /* UTF-8 stays */
		{ "\xff\xc3", "\\xff\\xc3" },                       /* is none, or cut */
		{ "\xc2\x9b"
		  "31m\xc2\xa0",
		  "\\xc2\\x9b"
		  "31m\xc2\xa0" }, /* a control character */
		{ "a\xe2\x80\xae.c",
		  "a\\xe2\\x80\\xae.c" }, /* U+202E: what follows runs backwards */
		{ "\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" }, /* isolates */
		{ "\xe2\x80\x8f\xe2\x80\x8b", "\\xe2\\x80\\x8f\\xe2\\x80\\x8b" }, /* no width */
		{ "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf" }, /* their neighbours */
		{ "\xf3\xa0\x81\x81\xf0\x9f\x98\x80", "\\xf3\\xa0\\x81\\x81\xf0\x9f\x98\x80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *clean = printable(pairs[i][0]);

		assert_string_equal(clean, pairs[i][1]);
		free(clean);
	}
}

static void limit_goes_up_and_back(void **state)
{
	struct rlimit before, old, now;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit_raise_files(&old);
	getrlimit(RLIMIT_NOFILE, &now);
	assert_int_equal(old.rlim_cur, before.rlim_cur);
	assert_int_equal(now.rlim_cur, before.rlim_max);
	limit_restore_files(&old);
	getrlimit(RLIMIT_NOFILE, &now);
	assert_int_equal(now.rlim_cur, before.rlim_cur);
}

static void cursor_refuses_what_is_not_there(void **state)
{
	const uint8_t bytes[] = { 1, 0, 0, 0, 2, 0, 0, 0, 9 };
	struct cursor c = cursor_over(bytes, sizeof(bytes), false);

	(void)state;
	assert_int_equal(cursor_u32(&c), 1);
	assert_int_equal(cursor_u32(&c), 2);
	assert_false(c.bad);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
	assert_null(cursor_take(&c, 1)); /* sticky, although one byte is left */
	assert_int_equal(cursor_left(&c), 1);
	c = cursor_over(bytes, sizeof(bytes), true);
	assert_int_equal(cursor_u32(&c), 0x01000000);
	assert_int_equal(bytes_be32(bytes), 0x01000000);
}

static void equal_keys_keep_their_order(void **state)
{
	enum { N = 1000 };
	struct hnode *nodes = calloc(N, sizeof(*nodes));
	struct hash hash;

	(void)state;
	hash_init(&hash);
	for (int i = 0; i < N; i++)
		hash_add(&hash, &nodes[i], (uint64_t)i % 10); /* grows on the way */
	for (uint64_t key = 0; key < 10; key++) {
		struct hnode *node = hash_find(&hash, key);

		for (int i = (int)key; i < N; i += 10, node = hash_next(node))
			assert_ptr_equal(node, &nodes[i]);
		assert_null(node);
	}
	for (int i = 0; i < N; i += 2)
		hash_del(&hash, &nodes[i]);
	assert_int_equal(hash.nr, N / 2);
	assert_null(hash_find(&hash, 2));
	assert_ptr_equal(hash_find(&hash, 3), &nodes[3]);
	hash_release(&hash);
	free(nodes);
}

static void slab_recycles_and_keeps_addresses(void **state)
{
	struct slab slab;
	char *things[5000];

	(void)state;
	slab_init(&slab, 33);
	for (int i = 0; i < 5000; i++) {
		things[i] = slab_get(&slab);
		memset(things[i], i, 33);
	}
	for (int i = 0; i < 5000; i++)
		assert_int_equal((uint8_t)things[i][32], (uint8_t)i);
	slab_put(&slab, things[7]);
	assert_ptr_equal(slab_get(&slab), things[7]);
	slab_release(&slab);
}

static void sysroot_fakes_a_machine(void **state)
{
	char dir[] = "/tmp/blklab-sysroot-XXXXXX";
	struct sysroot root = { .prefix = mkdtemp(dir) };
	char *path = sysroot_path(&root, "/value-%d", 7), *text;
	struct error err = { 0 };
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fputs("first\nlast\n", file);
	fclose(file);
	text = sysroot_read(&root, 100, "/value-7");
	assert_string_equal(text, "first\nlast");
	free(text);
	assert_null(sysroot_read(&root, 5, "/value-7"));
	assert_int_equal(errno, EFBIG);
	assert_null(sysroot_read(&root, 5, "/nothing"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(file_write(path, "x", &err), 0);
	assert_int_equal(file_write("/nowhere/at/all", "x", &err), -1);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
	unlink(path);
	rmdir(dir);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_refuses_what_is_not_there),
		cmocka_unit_test(equal_keys_keep_their_order),
		cmocka_unit_test(slab_recycles_and_keeps_addresses),
		cmocka_unit_test(printable_is_one_line_of_utf8),
		cmocka_unit_test(limit_goes_up_and_back),
		cmocka_unit_test(sysroot_fakes_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
