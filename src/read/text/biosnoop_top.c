/* SPDX-License-Identifier: MIT
 *
 * biotop: sums and means per process and device. They are somebody else's aggregates and stay that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "read/text/biosnoop_text.h"

json_t *biosnoop_string(const char *s, size_t len)
{
	char *copy = strndup(s, len), *clean;
	json_t *string;

	if (!copy)
		return json_null();
	clean = printable(copy);
	string = json_string(clean);
	free(clean);
	free(copy);
	return string ? string : json_null();
}

static void set_cell(json_t *obj, const char *key, const struct row *row, enum column column)
{
	const struct scan *cell = &row->cells[column];

	json_object_set_new(obj, key, biosnoop_string(cell->at, scan_left(cell)));
}

static bool numbers_of(const struct row *row, uint32_t *pid, uint64_t *count, uint64_t *kib,
		       uint64_t *mean_ns)
{
	struct scan s = row->cells[COL_PID], n = row->cells[COL_COUNT], kb = row->cells[COL_KBYTES],
		    ms = row->cells[COL_LAT_MS];
	uint64_t step;

	return scan_u32(&s, UINT32_MAX, pid) && scan_u64(&n, count) && *count <= INT64_MAX &&
	       scan_u64(&kb, kib) && *kib <= INT64_MAX / 1024 && scan_time(&ms, 6, mean_ns, &step);
}

static void set_device(json_t *obj, const struct row *row)
{
	char device[64];

	if (!row_has(row, COL_MAJOR) || !row_has(row, COL_MINOR)) {
		json_object_set_new(obj, "device", json_null());
		json_object_set_new(obj, "device_why", json_string("the table has no numbers"));
		return;
	}
	snprintf(device, sizeof(device), "%.*s,%.*s", (int)(scan_left(&row->cells[COL_MAJOR]) % 24),
		 row->cells[COL_MAJOR].at, (int)(scan_left(&row->cells[COL_MINOR]) % 24),
		 row->cells[COL_MINOR].at);
	json_object_set_new(obj, "device", json_string(device));
}

static json_t *table_of(struct top_rows *top)
{
	if (top->table)
		return top->table;
	top->table = json_object();
	json_object_set_new(top->table, "source", json_string("biotop"));
	if (top->at[0]) {
		json_object_set_new(top->table, "at", json_string(top->at));
	} else {
		json_object_set_new(top->table, "at", json_null());
		json_object_set_new(top->table, "at_why",
				    json_string("the line with the time is not in this text"));
	}
	json_object_set_new(top->table, "rows", json_array());
	return top->table;
}

enum text_answer top_row(struct top_rows *top, struct text *text, const struct row *row)
{
	uint64_t count, kib, mean_ns;
	uint32_t pid;
	json_t *obj;
	char letter = *row->cells[COL_TYPE].at;

	if (!numbers_of(row, &pid, &count, &kib, &mean_ns)) {
		text_why(text, "a number of this row is too large");
		return TEXT_BAD;
	}
	obj = json_object();
	json_object_set_new(obj, "pid", json_integer(pid));
	set_cell(obj, "comm", row, COL_COMM);
	set_device(obj, row);
	if (row_has(row, COL_DISK))
		set_cell(obj, "name", row, COL_DISK);
	json_object_set_new(obj, "class",
			    json_string(letter == 'R'   ? "read"
					: letter == 'W' ? "write"
							: "other"));
	json_object_set_new(obj, "count", json_integer((json_int_t)count));
	json_object_set_new(obj, "bytes", json_integer((json_int_t)(kib * 1024)));
	json_object_set_new(obj, "mean_ns", json_integer((json_int_t)mean_ns));
	json_array_append_new(json_object_get(table_of(top), "rows"), obj);
	return TEXT_USED;
}

bool top_begin(struct top_rows *top, struct text *text, struct scan line)
{
	if (scan_left(&line) < 17 || line.at[2] != ':' || line.at[5] != ':' ||
	    memcmp(line.at + 8, " loadavg:", 9))
		return false;
	for (size_t i = 0; i < 8; i++)
		if (i % 3 != 2 && !scan_is_digit(line.at[i]))
			return false;
	top_end(top, text);
	memcpy(top->at, line.at, 8);
	top->at[8] = 0;
	return true;
}

void top_end(struct top_rows *top, struct text *text)
{
	if (top->table)
		facts_append(&text_facts(text)->latency_tables, top->table);
	memset(top, 0, sizeof(*top));
}
