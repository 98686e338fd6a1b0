/* SPDX-License-Identifier: MIT
 *
 * Lines of /proc/meminfo, /proc/vmstat and sysctl vm.*: the memory that writeback works with.
 * doc/formats/meminfo_text.md
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "read/text/result.h"

#define KEY_MAX       64u
#define KIB           1024u
#define TINY_LOW      (UINT64_C(256) << 20) /* free low memory below which writers wait for so little */
#define SNAPSHOTS_MAX 10000u

struct known {
	uint64_t value;
	bool told;
};

struct meminfo {
	json_t *values; /* owned: of the snapshot that is open, or NULL */
	uint64_t snapshots;
	struct known high_total, low_free, low_total, dirty,
		highmem_dirtyable; /* the last ones told */
};

static void close_snapshot(struct meminfo *m, struct text *text)
{
	json_t *obj;

	if (!m->values)
		return;
	obj = json_pack("{s:s, s:o}", "source", "meminfo", "values", m->values);
	m->values = NULL;
	if (m->snapshots++ < SNAPSHOTS_MAX)
		facts_append(&text_facts(text)->snapshots, obj);
	else
		json_decref(obj);
}

static void add(struct meminfo *m, struct text *text, const char *key, json_t *value)
{
	if (json_object_get(m->values, key))
		close_snapshot(m, text);
	if (!m->values)
		m->values = json_object();
	json_object_set_new(m->values, key, value);
}

static bool name_char(char c)
{
	return scan_is_letter(c) || scan_is_digit(c) || c == '_';
}

/* A name up to what cannot be in one; "Active(anon)" has parentheses. */
static bool read_name(struct scan *s, char *name)
{
	size_t len = 0;

	while (s->at < s->end && len < KEY_MAX &&
	       (name_char(*s->at) || (len && (*s->at == '(' || *s->at == ')'))))
		name[len++] = *s->at++;
	name[len] = 0;
	return len && len < KEY_MAX;
}

static void keep(struct known *known, uint64_t value)
{
	known->value = value;
	known->told = true;
}

/* ---- the three kinds of lines ---- */

/* "HighTotal:        524288 kB", "HugePages_Total:       0" */
static bool meminfo_line(struct meminfo *m, struct text *text, struct scan s)
{
	char name[KEY_MAX + 1], key[KEY_MAX + 8];
	const struct {
		const char *name;
		struct known *known;
	} wanted[] = {
		{ "HighTotal", &m->high_total },
		{ "LowFree", &m->low_free },
		{ "LowTotal", &m->low_total },
		{ "Dirty", &m->dirty },
	};
	uint64_t value;
	bool kb;

	if (s.at == s.end || *s.at < 'A' || *s.at > 'Z' || !read_name(&s, name) ||
	    !scan_text(&s, ":"))
		return false;
	scan_blanks(&s);
	if (!scan_u64(&s, &value) || value > INT64_MAX / KIB)
		return false;
	kb = scan_next(&s, "kB");
	if (!scan_ended(&s) || (!kb && strncmp(name, "HugePages_", 10) != 0))
		return false;
	snprintf(key, sizeof(key), kb ? "%s_bytes" : "%s", name);
	value *= kb ? KIB : 1;
	add(m, text, key, json_integer((json_int_t)value));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strcmp(name, wanted[i].name))
			keep(wanted[i].known, value);
	return true;
}

/* "vm.dirty_ratio = 20", "/proc/sys/vm/dirty_ratio:20", "vm.lowmem_reserve_ratio = 256 256 32" */
static bool sysctl_line(struct meminfo *m, struct text *text, struct scan s)
{
	char name[KEY_MAX + 1], key[KEY_MAX + 8];
	struct scan rest;
	uint64_t value;

	if (!scan_text(&s, "vm.") && !scan_text(&s, "/proc/sys/vm/") && !scan_text(&s, "vm/"))
		return false;
	if (!read_name(&s, name))
		return false;
	if (!scan_next(&s, "=") && !scan_text(&s, ":"))
		return false;
	scan_blanks(&s);
	rest = s;
	if (!scan_u64(&s, &value) || value > INT64_MAX)
		return false;
	snprintf(key, sizeof(key), "vm.%s", name);
	if (scan_ended(&s)) {
		if (!strcmp(name, "highmem_is_dirtyable"))
			keep(&m->highmem_dirtyable, value);
		add(m, text, key, json_integer((json_int_t)value));
		return true;
	}
	for (const char *p = rest.at; p < rest.end; p++)
		if (!scan_is_blank(*p) && !scan_is_digit(*p))
			return false;
	add(m, text, key, result_string(rest.at, scan_left(&rest)));
	return true;
}

/* "nr_dirty 1234": pages or events */
static bool vmstat_line(struct meminfo *m, struct text *text, struct scan s)
{
	char name[KEY_MAX + 1];
	uint64_t value;

	if (!scan_starts(&s, "nr_") && !scan_starts(&s, "pgpg") && !scan_starts(&s, "pswp") &&
	    !scan_starts(&s, "pgscan") && !scan_starts(&s, "pgsteal") &&
	    !scan_starts(&s, "balance_"))
		return false;
	if (!read_name(&s, name) || s.at == s.end || !scan_is_blank(*s.at))
		return false;
	scan_blanks(&s);
	if (!scan_u64(&s, &value) || value > INT64_MAX || !scan_ended(&s))
		return false;
	add(m, text, name, json_integer((json_int_t)value));
	return true;
}

/* ---- what they prove ---- */

static void tiny_limit(const struct meminfo *m, struct text *text)
{
	static const char *const advice[] = { "use a 64-bit kernel, whose whole memory counts",
					      "as a test: sysctl vm.highmem_is_dirtyable=1", NULL };
	json_t *evidence;

	if (!m->high_total.told || !m->high_total.value || !m->low_free.told ||
	    !m->highmem_dirtyable.told || m->highmem_dirtyable.value ||
	    m->low_free.value >= TINY_LOW)
		return;
	evidence = json_pack("{s:I, s:I, s:i}", "high_total_bytes", (json_int_t)m->high_total.value,
			     "low_free_bytes", (json_int_t)m->low_free.value,
			     "highmem_is_dirtyable", 0);
	if (m->low_total.told)
		json_object_set_new(evidence, "low_total_bytes",
				    json_integer((json_int_t)m->low_total.value));
	if (m->dirty.told)
		json_object_set_new(evidence, "dirty_bytes",
				    json_integer((json_int_t)m->dirty.value));
	result_finding(
		text, "tiny-dirty-limit", "warning", "writers are held by a tiny dirty limit",
		mem_printf("the limits on dirty memory are shares of low memory only "
			   "(highmem_is_dirtyable is 0), and of that %.1f MiB are free: writers "
			   "wait in balance_dirty_pages with hardly anything dirty, whatever "
			   "the disk can do",
			   (double)m->low_free.value / (1 << 20)),
		evidence, advice);
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct meminfo *m = state;
	struct scan s = scan_line(line);

	if (s.at == s.end || line->len > 300)
		return TEXT_NO;
	return meminfo_line(m, text, s) || sysctl_line(m, text, s) || vmstat_line(m, text, s)
		       ? TEXT_USED
		       : TEXT_NO;
}

static void end(void *state, struct text *text)
{
	struct meminfo *m = state;

	if (text) {
		close_snapshot(m, text);
		tiny_limit(m, text);
	}
	json_decref(m->values);
	m->values = NULL;
}

const struct text_kind text_meminfo = {
	.name = "meminfo",
	.what = "lines of /proc/meminfo, vmstat and sysctl",
	.state_size = sizeof(struct meminfo),
	.take = take,
	.end = end,
};
