/* SPDX-License-Identifier: MIT */
#include "read/text/btt_rows.h"

#include <stdio.h>

#define NS_DIGITS 9
#define RULE_MIN  3

/* ---- tables of times ---- */

static const struct {
	const char *label, *key;
} phases[] = {
	{ "Q2Q", "q2q" },     { "Q2A", "q2a" }, { "Q2G", "q2g" },     { "S2G", "s2g" },
	{ "G2I", "g2i" },     { "Q2M", "q2m" }, { "I2D", "i2d" },     { "M2D", "m2d" },
	{ "D2C", "d2c" },     { "Q2C", "q2c" }, { "Q2Qdm", "q2qdm" }, { "Q2Adm", "q2adm" },
	{ "Q2Cdm", "q2cdm" },
};

const char *btt_phase(struct scan label)
{
	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++)
		if (scan_word_is(label.at, scan_left(&label), phases[i].label))
			return phases[i].key;
	return NULL;
}

static struct scan trimmed(struct scan s)
{
	scan_blanks(&s);
	while (s.at < s.end && scan_is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* Takes the last word off the line. */
static struct scan last_word(struct scan *line)
{
	struct scan word;

	*line = trimmed(*line);
	word = (struct scan){ line->end, line->end };
	while (word.at > line->at && !scan_is_blank(word.at[-1]))
		word.at--;
	line->end = word.at;
	return word;
}

static bool is_time(struct scan word, uint64_t *ns)
{
	return memchr(word.at, '.', scan_left(&word)) && scan_fixed(&word, NS_DIGITS, ns) &&
	       scan_end(&word);
}

bool btt_times_parse(struct scan line, struct btt_times *row)
{
	struct scan word = last_word(&line);

	if (!scan_u64(&word, &row->n) || !scan_end(&word) || row->n > INT64_MAX)
		return false;
	if (!is_time(last_word(&line), &row->max_ns) || !is_time(last_word(&line), &row->mean_ns) ||
	    !is_time(last_word(&line), &row->min_ns))
		return false;
	row->label = trimmed(line);
	return !scan_end(&row->label);
}

bool btt_times_head(struct scan line, struct scan *name)
{
	static const char *const words[] = { "N", "MAX", "AVG", "MIN" };

	for (size_t i = 0; i < 4; i++) {
		struct scan word = last_word(&line);

		if (!scan_word_is(word.at, scan_left(&word), words[i]))
			return false;
	}
	*name = trimmed(line);
	return !scan_end(name);
}

/* ---- tables with a bar ---- */

static const struct btt_table tables[] = {
	{ "Q2G G2I Q2M I2D D2C",
	  BTT_OVERHEAD,
	  5,
	  false,
	  { { "q2g", BTT_PERCENT },
	    { "g2i", BTT_PERCENT },
	    { "q2m", BTT_PERCENT },
	    { "i2d", BTT_PERCENT },
	    { "d2c", BTT_PERCENT } } },
	{ "#Q #D Ratio | BLKmin BLKavg BLKmax Total",
	  "merge",
	  7,
	  false,
	  { { "queued", BTT_COUNT },
	    { "dispatched", BTT_COUNT },
	    { "ratio", BTT_REAL },
	    { "min_sectors", BTT_COUNT },
	    { "mean_sectors", BTT_COUNT },
	    { "max_sectors", BTT_COUNT },
	    { "total_sectors", BTT_COUNT } } },
	{ "NSEEKS MEAN MEDIAN | MODE",
	  "seek",
	  5,
	  true,
	  { { "n", BTT_COUNT },
	    { "mean_sectors", BTT_REAL },
	    { "median_sectors", BTT_REAL },
	    { "mode_sectors", BTT_COUNT },
	    { "mode_count", BTT_COUNT } } },
	{ "# Plugs # Timer Us | % Time Q Plugged",
	  "plug",
	  3,
	  false,
	  { { "unplugs", BTT_COUNT },
	    { "timer_unplugs", BTT_COUNT },
	    { "plugged_share", BTT_PERCENT } } },
	{ "IOs/Unp IOs/Unp(to)",
	  "unplug",
	  2,
	  false,
	  { { "requests_per_unplug", BTT_REAL }, { "requests_per_timer_unplug", BTT_REAL } } },
	{ "Avg Reqs @ Q", "active-requests", 1, false, { { "mean_requests_at_q", BTT_REAL } } },
	{ "Avgs Reqs @ Q", "active-requests", 1, false, { { "mean_requests_at_q", BTT_REAL } } },
	{ "# Live Avg. Act Avg. !Act % Live",
	  "active-period",
	  4,
	  false,
	  { { "periods", BTT_COUNT },
	    { "mean_active_ns", BTT_SECONDS },
	    { "mean_idle_ns", BTT_SECONDS },
	    { "active_share", BTT_PERCENT } } },
	{ "<.005 <.010 <.025 <.050 <.075 <.100 <.250 <.500 < 1.0 >=1.0",
	  "q2d-histogram",
	  10,
	  false,
	  { { "below_5_ms", BTT_PERCENT },
	    { "below_10_ms", BTT_PERCENT },
	    { "below_25_ms", BTT_PERCENT },
	    { "below_50_ms", BTT_PERCENT },
	    { "below_75_ms", BTT_PERCENT },
	    { "below_100_ms", BTT_PERCENT },
	    { "below_250_ms", BTT_PERCENT },
	    { "below_500_ms", BTT_PERCENT },
	    { "below_1_s", BTT_PERCENT },
	    { "from_1_s", BTT_PERCENT } } },
};

/* What stands behind the first bar; the label before it. */
static bool scan_bar(struct scan *line, struct scan *label)
{
	const char *bar = memchr(line->at, '|', scan_left(line));

	if (!bar)
		return false;
	*label = trimmed((struct scan){ line->at, bar });
	line->at = bar + 1;
	return !scan_end(label);
}

const struct btt_table *btt_table_overhead(void)
{
	return &tables[0];
}

const struct btt_table *btt_table_head(struct scan line)
{
	struct scan label;

	if (!scan_bar(&line, &label))
		return NULL;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct scan at = line;

		if (scan_words(&at, tables[i].head) && scan_done(&at))
			return &tables[i];
	}
	return NULL;
}

/* To the next number: over blanks, bars and the parentheses of "12(3)". */
static void skip_marks(struct scan *s)
{
	while (s->at < s->end && strchr(" \t|()%", *s->at) && *s->at)
		s->at++;
}

static bool scan_value(struct scan *s, enum btt_unit unit, union btt_value *value)
{
	uint64_t fixed;

	switch (unit) {
	case BTT_COUNT:
		return scan_u64(s, &value->whole) && value->whole <= INT64_MAX &&
		       (scan_end(s) || *s->at != '.');
	case BTT_SECONDS:
		return scan_fixed(s, NS_DIGITS, &value->whole);
	case BTT_REAL:
	case BTT_PERCENT:
		if (!scan_fixed(s, NS_DIGITS, &fixed))
			return false;
		value->real = (double)fixed / (unit == BTT_PERCENT ? 1e11 : 1e9);
		return true;
	}
	return false;
}

/* "8(2)" and "...(3 more)" behind the first mode. */
static bool is_more_modes(struct scan s)
{
	for (; s.at < s.end; s.at++)
		if (!scan_is_digit(*s.at) && !strchr(" \t().more", *s.at))
			return false;
	return true;
}

enum btt_fit btt_row_parse(struct scan line, const struct btt_table *table, struct btt_row *row)
{
	if (!scan_bar(&line, &row->label))
		return BTT_NO;
	for (row->nr = 0; row->nr < table->nr; row->nr++) {
		skip_marks(&line);
		if (scan_end(&line))
			return row->nr ? BTT_SHORT : BTT_NO;
		if (!scan_value(&line, table->columns[row->nr].unit, &row->values[row->nr]))
			return BTT_NO;
		if (!scan_end(&line) && !strchr(" \t|()%", *line.at))
			return BTT_NO;
	}
	skip_marks(&line);
	return scan_end(&line) || (table->more && is_more_modes(line)) ? BTT_FITS : BTT_NO;
}

bool btt_is_overhead(struct scan line)
{
	struct scan label;
	unsigned int percents = 0;

	if (!scan_bar(&line, &label))
		return false;
	for (; line.at < line.end; line.at++) {
		if (*line.at == '%')
			percents++;
		else if (!scan_is_digit(*line.at) && !strchr(" \t.", *line.at))
			return false;
	}
	return percents == btt_table_overhead()->nr;
}

/* ---- what stands around them ---- */

bool btt_title_parse(struct scan line, enum btt_title *title)
{
	static const struct {
		const char *words;
		enum btt_title title;
	} titles[] = {
		{ "Per Process", BTT_PER_PROCESS },
		{ "Per Device", BTT_PER_DEVICE },
		{ "All Devices", BTT_ALL_DEVICES },
		{ "Device Overhead", BTT_OTHER_TITLE },
		{ "Device Merge Information", BTT_OTHER_TITLE },
		{ "Device Q2Q Seek Information", BTT_Q2Q_SEEK },
		{ "Device D2D Seek Information", BTT_D2D_SEEK },
		{ "Plug Information", BTT_OTHER_TITLE },
		{ "Active Requests At Q Information", BTT_OTHER_TITLE },
		{ "I/O Active Period Information", BTT_OTHER_TITLE },
		{ "Q2D Histogram", BTT_OTHER_TITLE },
	};
	const char *from;

	scan_blanks(&line);
	from = line.at;
	while (scan_char(&line, '='))
		;
	if (line.at - from < RULE_MIN)
		return false;
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
		struct scan at = line;

		if (!scan_words(&at, titles[i].words) || !scan_mark(&at, '='))
			continue;
		while (scan_char(&at, '='))
			;
		*title = titles[i].title;
		return scan_done(&at);
	}
	return false;
}

bool btt_is_rule(struct scan line)
{
	size_t dashes = 0, others = 0;

	for (; line.at < line.end; line.at++) {
		if (*line.at == '-' || *line.at == '=')
			dashes++;
		else if (scan_is_blank(*line.at) || *line.at == '|')
			others++;
		else
			return false;
	}
	return dashes >= RULE_MIN && others;
}

void btt_label(char *to, size_t room, struct scan label)
{
	struct scan at = label;
	struct scan inside;
	uint32_t major, minor;

	if (scan_parens(&at, &inside) && scan_done(&at) && scan_u32(&inside, UINT32_MAX, &major) &&
	    scan_mark(&inside, ',') &&
	    (scan_blanks(&inside), scan_u32(&inside, UINT32_MAX, &minor)) && scan_end(&inside))
		snprintf(to, room, "%u,%u", major, minor);
	else
		scan_copy(to, room, label);
}
