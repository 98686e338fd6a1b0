/* SPDX-License-Identifier: MIT
 *
 * What somebody's own format (blkparse -f) usually prints behind blkparse's header.
 */
#include <string.h>

#include "read/text/blkparse_text.h"

static const char *own_error(const char *p, const char *end, struct blkparse_line *line)
{
	const char *close = memchr(p, ')', (size_t)(end - p));

	p = blkparse_skip(p + 1);
	while (close && close > p && blkparse_blank(close[-1]))
		close--;
	if (!close || !blkparse_error(p, (size_t)(close - p), &line->ev.error))
		return NULL;
	return blkparse_skip(strchr(close, ')') + 1);
}

static const char *own_name(const char *p, const char *end, struct blkparse_line *line)
{
	const char *close = end;

	while (close > p && blkparse_blank(close[-1]))
		close--;
	if (close[-1] != ']' || close - p < 2)
		return NULL;
	blkparse_set_comm(line, p + 1, (size_t)(close - p) - 2);
	return end;
}

enum blkparse_answer blkparse_own_tail(struct blkparse_line *line, const char *end)
{
	const char *p = line->tail;
	struct event *ev = &line->ev;

	ev->sector = ev->aux_sector = 0;
	ev->bytes = 0;
	ev->error = 0;
	ev->flags &= EV_CGROUP;
	line->comm = NULL;
	line->has_number = false;
	line->seen &= BLKPARSE_CGROUP | BLKPARSE_PREFIX | BLKPARSE_WRAPPED;
	if (ev->action == ACT_MESSAGE)
		return BLKPARSE_NO;
	if (!*p)
		return blkparse_is_plug(ev->action) || blkparse_is_flush(line) ? BLKPARSE_OWN
									       : BLKPARSE_NO;
	p = blkparse_number(p, &ev->sector);
	if (!p || (*p && !blkparse_blank(*p)))
		return BLKPARSE_NO;
	p = blkparse_skip(p);
	if (*p == '+') {
		p = blkparse_number(blkparse_skip(p + 1), &line->number);
		if (!p || (*p && !blkparse_blank(*p)))
			return BLKPARSE_NO;
		line->has_number = true;
		p = blkparse_skip(p);
	}
	if (*p == '(' && !(p = own_error(p, end, line)))
		return BLKPARSE_NO;
	if (*p == '[' && !(p = own_name(p, end, line)))
		return BLKPARSE_NO;
	return *p ? BLKPARSE_NO : BLKPARSE_OWN;
}
