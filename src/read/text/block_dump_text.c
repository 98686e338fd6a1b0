/* SPDX-License-Identifier: MIT
 *
 * What /proc/sys/vm/block_dump made kernels before 5.13 log: a line per bio that was submitted, and one per
 * inode that was dirtied. Nothing tells when a bio ended. doc/formats/meminfo_text.md
 */
#include <string.h>

#include "read/text/result.h"

struct head {
	uint64_t time_ns; /* since boot */
	uint32_t pid;
	struct scan comm;
};

/* "[   12.345678] kworker/u16:1(5188): ", also behind a log's own date and "kernel:" */
static bool read_head(struct scan *s, struct head *head)
{
	uint64_t step;
	const char *colon;
	struct scan pid;

	if (*s->at != '[' && scan_past(s, " kernel: "))
		scan_blanks(s);
	if (!scan_text(s, "["))
		return false;
	scan_blanks(s);
	if (!scan_time(s, 9, &head->time_ns, &step) || !scan_text(s, "]"))
		return false;
	scan_blanks(s);
	/* names of threads may hold anything, "(" included */
	colon = scan_left(s) ? memmem(s->at, scan_left(s), "): ", 3) : NULL;
	if (!colon)
		return false;
	pid.end = colon;
	for (pid.at = colon; pid.at > s->at && pid.at[-1] != '(';)
		pid.at--;
	if (pid.at <= s->at + 1)
		return false;
	head->comm = (struct scan){ s->at, pid.at - 1 };
	if (!scan_u32(&pid, INT32_MAX, &head->pid) || pid.at != pid.end)
		return false;
	s->at = colon + 3;
	return head->time_ns < UINT64_MAX - TEXT_BIAS;
}

/* "WRITE block 2048 on dm-0 (8 sectors)" */
static bool read_bio(struct scan *s, struct text *text, struct event *ev)
{
	uint64_t sectors;
	struct scan name;

	if (scan_text(s, "WRITE block ")) {
		ev->class = CLASS_WRITE;
		ev->flags = EV_WRITE;
	} else if (scan_text(s, "READ block ")) {
		ev->class = CLASS_READ;
	} else {
		return false;
	}
	if (!scan_u64(s, &ev->sector) || !scan_next(s, "on ") || !scan_token(s, &name))
		return false;
	if (scan_next(s, "(") && scan_u64(s, &sectors) && scan_next(s, "sectors)") &&
	    sectors <= UINT32_MAX / SECTOR_SIZE)
		ev->bytes = (uint32_t)sectors * SECTOR_SIZE;
	else
		ev->flags |= EV_NO_BYTES; /* before 2.6.37 it was not told */
	if (!scan_ended(s))
		return false;
	ev->device = text_device(text, name.at, scan_left(&name));
	return true;
}

static void name_thread(struct text *text, const struct head *head, uint64_t time_ns)
{
	names_add(&text_facts(text)->names, head->pid, time_ns, head->comm.at,
		  scan_left(&head->comm) < COMM_LEN - 1 ? scan_left(&head->comm) : COMM_LEN - 1);
}

static enum text_answer take(void *state, struct text *text, const struct text_line *line)
{
	struct scan s = scan_line(line), message;
	struct event ev = { .action = ACT_QUEUE };
	struct head head;
	size_t len;

	(void)state;
	if (s.at == s.end || line->len > 1000 || !memmem(s.at, scan_left(&s), "): ", 3) ||
	    !read_head(&s, &head))
		return TEXT_NO;
	ev.time_ns = head.time_ns + TEXT_BIAS;
	ev.pid = head.pid;
	message = s;
	if (scan_starts(&s, "dirtied inode ") || scan_starts(&s, "dirtied page ")) {
		len = scan_left(&message);
		ev.action = ACT_MESSAGE;
		ev.payload = (const uint8_t *)message.at;
		ev.payload_len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
	} else if (!read_bio(&s, text, &ev)) {
		return TEXT_NO;
	}
	name_thread(text, &head, ev.time_ns);
	text_resolution(text, 1000);
	text_event(text, &ev);
	return TEXT_USED;
}

const struct text_kind text_block_dump = {
	.name = "block_dump",
	.what = "the kernel's block_dump messages",
	.take = take,
};
