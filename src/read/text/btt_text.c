// SPDX-License-Identifier: MIT
/* The tables that btt prints: doc/formats/btt_text.md. */
#include <string.h>

#include "read/text/btt_findings.h"
#include "read/text/btt_rows.h"
#include "read/text/finding.h"
#include "read/text/text.h"

#define ROWS_MAX  20000u /* kept of one text */
#define LABEL_MAX 64
#define GAP_MAX   10u /* lines: behind it a table's head says nothing any more */

enum times_of { TIMES_NONE, TIMES_ALL, TIMES_PROCESS, TIMES_DEVICE };

struct btt {
	json_t *table; /* owned: the one that is being filled */
	const char *table_name;
	enum times_of times_of; /* the section that is open says so */
	const char *phase;      /* of a table with rows per process or device */
	const char *seen[16];   /* phases of the ALL table at hand */
	size_t nr_seen, nr_rows, nr_all;
	const struct btt_table *bars; /* the table with a bar that is open */
	const char *seek_name;        /* by its title */
	bool any;
	uint64_t last_nr; /* of the last line that was taken */
	uint64_t lost_rows, overhead_devices;
	struct btt_all all;
	struct btt_overhead overhead;
};

/* ---- tables ---- */

static void close_table(struct btt *btt, struct text *text)
{
	if (btt->table && !facts_append(&text_facts(text)->latency_tables, btt->table))
		btt->lost_rows++;
	btt->table = NULL;
	btt->table_name = NULL;
	btt->nr_seen = 0;
}

/* The rows of the table of that name, begun if another one is open. */
static json_t *rows_of(struct btt *btt, struct text *text, const char *name)
{
	btt->any = true;
	if (!btt->table || strcmp(btt->table_name, name) != 0) {
		const char *heading = text_heading(text);

		close_table(btt, text);
		btt->table = json_object();
		btt->table_name = name;
		put_text(btt->table, "source", "btt");
		put_text(btt->table, "name", name);
		if (*heading)
			put_text(btt->table, "context", heading);
		else
			put_unknown(btt->table, "context", "nothing stands above it");
		json_object_set_new(btt->table, "rows", json_array());
	}
	return json_object_get(btt->table, "rows");
}

static void add_row(struct btt *btt, json_t *rows, json_t *row)
{
	if (btt->nr_rows == ROWS_MAX) {
		btt->lost_rows++;
		json_decref(row);
		return;
	}
	btt->nr_rows++;
	json_array_append_new(rows, row);
}

/* ---- tables of times ---- */

static struct btt_mean *mean_of(struct btt_all *all, const char *phase)
{
	const struct {
		const char *phase;
		struct btt_mean *mean;
	} means[] = {
		{ "q2g", &all->q2g }, { "g2i", &all->g2i }, { "q2m", &all->q2m },
		{ "i2d", &all->i2d }, { "m2d", &all->m2d }, { "d2c", &all->d2c },
		{ "q2c", &all->q2c },
	};

	for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++)
		if (!strcmp(means[i].phase, phase))
			return means[i].mean;
	return NULL;
}

static json_t *times_json(const char *phase, const struct btt_times *t)
{
	json_t *row = json_object();
	uint64_t sum;

	put_text(row, "phase", phase);
	put_u64(row, "min_ns", t->min_ns);
	put_u64(row, "mean_ns", t->mean_ns);
	put_u64(row, "max_ns", t->max_ns);
	put_u64(row, "n", t->n);
	if (__builtin_mul_overflow(t->mean_ns, t->n, &sum) || sum > INT64_MAX)
		put_unknown(row, "sum_ns", "too large");
	else
		put_u64(row, "sum_ns", sum);
	return row;
}

/* A phase that was there already begins the table of another run. */
static void note_phase(struct btt *btt, struct text *text, const char *phase)
{
	bool again = false;

	for (size_t i = 0; i < btt->nr_seen; i++)
		again |= btt->seen[i] == phase;
	if (again || btt->nr_seen == sizeof(btt->seen) / sizeof(*btt->seen))
		close_table(btt, text);
}

static void take_all(struct btt *btt, struct text *text, const char *phase,
		     const struct btt_times *times)
{
	struct btt_mean *mean;
	json_t *rows;

	if (btt->table_name && !strcmp(btt->table_name, "ALL"))
		note_phase(btt, text, phase);
	btt->nr_all += !btt->table || strcmp(btt->table_name, "ALL") != 0;
	rows = rows_of(btt, text, "ALL");
	btt->seen[btt->nr_seen++] = phase;
	mean = mean_of(&btt->all, phase);
	if (mean)
		*mean = (struct btt_mean){ times->mean_ns, times->n };
	add_row(btt, rows, times_json(phase, times));
}

static void take_one(struct btt *btt, struct text *text, const struct btt_times *times)
{
	bool device = btt->times_of == TIMES_DEVICE ||
		      (btt->times_of != TIMES_PROCESS && *times->label.at == '(');
	json_t *row = times_json(btt->phase, times), *rows;
	char label[LABEL_MAX];

	btt_label(label, sizeof(label), times->label);
	put_text(row, device ? "device" : "process", label);
	rows = rows_of(btt, text, device ? "per-device" : "per-process");
	add_row(btt, rows, row);
}

static bool take_times(struct btt *btt, struct text *text, struct scan line)
{
	struct btt_times times;
	const char *phase;
	struct scan name;

	if (btt_times_head(line, &name)) {
		btt->phase = btt_phase(name);
		btt->bars = NULL;
		if (!btt->phase && !scan_word_is(name.at, scan_left(&name), "ALL"))
			return false;
		btt->any = true;
		return true;
	}
	if (!btt_times_parse(line, &times))
		return false;
	phase = btt_phase(times.label);
	if (phase && !btt->phase)
		take_all(btt, text, phase, &times);
	else if (btt->phase)
		take_one(btt, text, &times);
	else
		return false;
	return true;
}

/* ---- tables with a bar ---- */

static void put_value(json_t *row, const struct btt_column *column, union btt_value value)
{
	if (column->unit == BTT_COUNT || column->unit == BTT_SECONDS)
		put_u64(row, column->key, value.whole);
	else
		put_real(row, column->key, value.real);
}

static void note_overhead(struct btt *btt, const struct btt_row *row, const char *label,
			  json_t *obj)
{
	bool overall = !strcmp(label, "Overall");
	double sum = 0;

	for (size_t i = 0; i < row->nr; i++)
		sum += row->values[i].real;
	put_real(obj, "sum", sum);
	btt->overhead_devices += !overall;
	btt->overhead.known = overall || btt->overhead_devices == 1;
	btt->overhead.sum = sum;
	memcpy(btt->overhead.device, label, LABEL_MAX);
}

static void put_row(struct btt *btt, struct text *text, const struct btt_row *found)
{
	const struct btt_table *table = btt->bars;
	const char *name = table->name;
	json_t *row = json_object();
	char label[LABEL_MAX] = "";

	if (!strcmp(name, "seek") && btt->seek_name)
		name = btt->seek_name;
	btt_label(label, sizeof(label), found->label);
	put_text(row, "device", label);
	for (size_t i = 0; i < found->nr; i++)
		put_value(row, &table->columns[i], found->values[i]);
	if (table == btt_table_overhead())
		note_overhead(btt, found, label, row);
	add_row(btt, rows_of(btt, text, name), row);
}

static enum text_answer take_bars(struct btt *btt, struct text *text, const struct text_line *line,
				  struct scan s)
{
	const struct btt_table *head = btt_table_head(s);
	struct btt_row row;

	if (head) {
		btt->bars = head;
		btt->phase = NULL;
		btt->any = true;
		return TEXT_USED;
	}
	if (btt_is_overhead(s))
		btt->bars = btt_table_overhead();
	if (!btt->bars)
		return TEXT_NO;
	switch (btt_row_parse(s, btt->bars, &row)) {
	case BTT_FITS:
		put_row(btt, text, &row);
		return TEXT_USED;
	case BTT_SHORT:
		if (line->joined)
			return TEXT_NO;
		if (!line->last_try)
			return TEXT_MORE;
		text_why(text, "a row of btt's that breaks off");
		return TEXT_BAD;
	case BTT_NO:
		break;
	}
	return TEXT_NO;
}

/* ---- lines ---- */

static bool take_title(struct btt *btt, struct text *text, struct scan line)
{
	enum btt_title title;

	if (!btt_title_parse(line, &title))
		return false;
	close_table(btt, text);
	btt->times_of = title == BTT_PER_PROCESS  ? TIMES_PROCESS
			: title == BTT_PER_DEVICE ? TIMES_DEVICE
						  : TIMES_NONE;
	btt->seek_name = title == BTT_Q2Q_SEEK   ? "q2q-seek"
			 : title == BTT_D2D_SEEK ? "d2d-seek"
						 : NULL;
	btt->bars = NULL;
	btt->phase = NULL;
	btt->any = true;
	return true;
}

static enum text_answer offer(struct btt *btt, struct text *text, const struct text_line *line,
			      struct scan s)
{
	if (memchr(s.at, '|', scan_left(&s))) {
		enum text_answer answer = take_bars(btt, text, line, s);

		if (answer != TEXT_NO)
			return answer;
	} else if (take_times(btt, text, s)) {
		return TEXT_USED;
	}
	if (*s.at == '=' && take_title(btt, text, s))
		return TEXT_USED;
	return btt->any && btt_is_rule(s) ? TEXT_USED : TEXT_NO;
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct btt *btt = state;
	struct scan s = scan_over(line->s, line->len);
	enum text_answer answer;

	if (scan_done(&s))
		return TEXT_NO;
	if (line->nr > btt->last_nr + GAP_MAX) {
		btt->bars = NULL;
		btt->phase = NULL;
		btt->any = false;
	}
	answer = offer(btt, text, line, s);
	if (answer == TEXT_USED)
		btt->last_nr = line->nr;
	return answer;
}

static void end(void *state, struct text *text)
{
	struct btt *btt = state;
	struct facts *facts = text_facts(text);

	close_table(btt, text);
	if (btt->nr_all <= 1) /* of several runs the numbers would be mixed */
		btt_findings(facts, &btt->all, &btt->overhead);
	else
		facts_note(facts, "the text holds btt's tables of several runs: nothing is "
				  "concluded from them");
	if (btt->lost_rows)
		facts_note(facts, "%llu rows of btt's tables beyond the first %u were left out",
			   (unsigned long long)btt->lost_rows, ROWS_MAX);
}

const struct text_kind text_btt = {
	.name = "btt",
	.what = "btt's tables",
	.state_size = sizeof(struct btt),
	.take = take,
	.end = end,
};
