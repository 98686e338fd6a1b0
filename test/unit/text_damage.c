/* SPDX-License-Identifier: MIT
 *
 * What people pasted (test/data/pasted), cut at every byte, and with every byte changed: nothing may
 * crash, and every line is used or ignored.
 */
#include "cm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/formats.h"

#define FOLDER  "test/data/pasted"
#define LARGEST 2600u /* bytes; longer texts repeat themselves */

/* Every byte; sanitized, which takes thirty times as long, a part of them. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 7u
#else
#define STEP 1u
#endif

extern const struct format format_text;

static uint64_t lines_of(const char *text, size_t len)
{
	uint64_t nr = 0;
	bool blank = true;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			nr += !blank;
			blank = true;
		} else if (!text[i] || !strchr(" \t\r>", text[i])) {
			blank = false;
		}
	}
	return nr + !blank;
}

/* Reads it all; more lines than it has cannot come out, unless as quoted-printable. */
static void read_text(const char *text, size_t len)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[64];
	struct facts facts;
	struct input in;

	facts_init(&facts);
	input_memory(&in, "text", text, len);
	if (!format_text.open(&in, &facts, &sources, &err)) {
		int nr;

		while ((nr = source_pull(sources.list[0], events, 64, &err)) > 0)
			for (int i = 0; i < nr; i++)
				assert_in_range(events[i].action, 0, ACT_NR - 1);
		assert_int_equal(nr, 0);
	} else {
		assert_true(err.text[0]);
	}
	if (!memmem(text, len, "=0A", 3))
		assert_in_range(facts.inputs[0].lines_used + facts.inputs[0].lines_ignored, 0,
				lines_of(text, len));
	sources_release(&sources);
	input_release(&in);
	facts_release(&facts);
}

static char *load(const char *name, size_t *len)
{
	char *path = mem_printf(FOLDER "/%s", name), *text = mem_zalloc(LARGEST);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	*len = fread(text, 1, LARGEST, file);
	fclose(file);
	free(path);
	return text;
}

static unsigned int each_text(void (*check)(char *text, size_t len))
{
	DIR *dir = opendir(FOLDER);
	const struct dirent *entry;
	unsigned int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		size_t len, name = strlen(entry->d_name);
		char *text;

		if (name < 4 || strcmp(entry->d_name + name - 4, ".txt") != 0)
			continue;
		text = load(entry->d_name, &len);
		check(text, len);
		free(text);
		nr++;
	}
	closedir(dir);
	return nr;
}

static void cut(char *text, size_t len)
{
	for (size_t i = 0; i <= len; i += STEP) {
		char *copy = mem_zalloc(i + 1); /* of its own, so that a byte too far is seen */

		memcpy(copy, text, i);
		read_text(copy, i);
		free(copy);
	}
}

static void change(char *text, size_t len)
{
	static const char to[] = { 0, '\n', ' ', '9', '-', '(', (char)0xff };

	for (size_t i = 0; i < len; i += STEP) {
		char was = text[i];

		text[i] = to[i % sizeof(to)];
		read_text(text, len);
		text[i] = was;
	}
}

static void every_cut(void **state)
{
	assert_in_range(each_text(cut), 40, 1000);
}

static void every_change(void **state)
{
	assert_in_range(each_text(change), 40, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut),
		cmocka_unit_test(every_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
