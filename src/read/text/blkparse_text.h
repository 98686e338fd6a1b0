/* SPDX-License-Identifier: MIT
 *
 * One line of blkparse's default output, of every version and mangling: doc/formats/blkparse_text.md.
 * For the files blkparse_text*.c only.
 */
#ifndef BLKLAB_READ_TEXT_BLKPARSE_TEXT_H
#define BLKLAB_READ_TEXT_BLKPARSE_TEXT_H

#include <string.h>

#include "read/text/text.h"

enum blkparse_answer {
	BLKPARSE_NO,    /* no line of blkparse's */
	BLKPARSE_EVENT, /* whole */
	BLKPARSE_CUT,   /* begins like one and breaks off; `safe`: what is there may be used */
	BLKPARSE_BAD,   /* is one, but unusable: `why` */
	BLKPARSE_OWN,   /* the header is blkparse's, what follows it somebody's own format (-f) */
};

/* What a line had that others do not. */
#define BLKPARSE_ELAPSED   (1u << 0)
#define BLKPARSE_CGROUP    (1u << 1)
#define BLKPARSE_PRIORITY  (1u << 2)
#define BLKPARSE_LANDING   (1u << 3)
#define BLKPARSE_PREFIX    (1u << 4)
#define BLKPARSE_ANNOTATED (1u << 5)
#define BLKPARSE_WRAPPED   (1u << 6) /* the time was a negative one, printed unsigned */

#define BLKPARSE_MEMOS 16

/* Flags and classes of the RWBS texts seen; the same few come all the time. */
struct blkparse_memo {
	struct {
		uint64_t letters; /* 0 = free */
		uint32_t flags;
		uint8_t class;
	} of[BLKPARSE_MEMOS];
};

struct blkparse_line {
	struct event ev;     /* time_ns with TEXT_BIAS */
	const char *why;     /* of BLKPARSE_BAD; static */
	const char *comm;    /* borrowed from the line; NULL = no name */
	const char *tail;    /* what follows the RWBS, borrowed */
	const char *rwbs;    /* borrowed */
	uint64_t time_ns;    /* as printed */
	uint64_t elapsed_ns; /* with BLKPARSE_ELAPSED */
	uint64_t number;     /* BLKPARSE_OWN: what stands where a length would, if has_number */
	uint32_t seen;       /* BLKPARSE_* */
	uint8_t comm_len, rwbs_len;
	uint8_t digits; /* of the time's fraction */
	bool safe;
	bool has_number;
	bool counted; /* blkparse_number_seen was called */
};

/* Reads one line. */
enum blkparse_answer blkparse_line(const struct text_line *text, struct blkparse_memo *memo,
				   struct blkparse_line *line);

/* ---- the whole text ---- */

struct blkparse_own; /* lines of a format of somebody's own: blkparse_text_own.c */

#define BLKPARSE_NAMES 256

struct blkparse_name {
	uint32_t pid, len; /* len 0 = free */
	char comm[16];
};

/* The state of the kind. */
struct blkparse {
	struct blkparse_memo memo;
	uint32_t device;       /* of the last I/O event; 0 = none yet */
	uint32_t seen, digits; /* that were told already: BLKPARSE_*, bit per number of digits */
	uint64_t nr_default;   /* lines in blkparse's own format, messages left out */
	uint64_t nr_wrapped, wrapped_from_ns, wrapped_to_ns; /* times, with TEXT_BIAS */
	uint64_t nr_wrong_elapsed;
	bool have_zero;                             /* an event at time 0 ... */
	uint64_t zero_sector;                       /* ... was here */
	struct blkparse_own *own;                   /* owned; NULL = no such line yet */
	struct blkparse_name names[BLKPARSE_NAMES]; /* by pid: the last one told */
};

/* Gives the event of a line, and what else the line tells. */
void blkparse_give(struct blkparse *b, struct text *text, struct blkparse_line *line);

/* The line may be of no use or be given later, but its number is not missing. */
void blkparse_number_seen(struct text *text, struct blkparse_line *line);

/* How a line came to be taken for one of somebody's own format. */
enum blkparse_own_kind {
	BLKPARSE_OWN_SURE,    /* its tail cannot be blkparse's */
	BLKPARSE_OWN_MAYBE,   /* it may be blkparse's with an elapsed time as well */
	BLKPARSE_OWN_TRIMMED, /* blkparse's without its last column, or cut */
	BLKPARSE_OWN_FREE,    /* columns in any order; line->ev is still empty */
};

/* Takes such a line: keeps it until the format is understood, or gives its event. TEXT_NO and TEXT_BAD:
 * the format is none. */
enum text_answer blkparse_own_take(struct blkparse *b, struct text *text,
				   const struct text_line *from, struct blkparse_line *line,
				   enum blkparse_own_kind kind);
/* The format is blkparse's own: lines that may be either are. */
void blkparse_own_settle(struct blkparse *b, struct text *text);
/* Has it been found that lines are in a format of somebody's own? */
bool blkparse_own_known(const struct blkparse_own *own);
/* The text has ended (or NULL); frees. */
void blkparse_own_end(struct blkparse *b, struct text *text);

/* Is it worth a look as a line of free columns? Cheap where not. */
bool blkparse_free_candidate(const struct text_line *line);

#define BLKPARSE_COLUMNS 32

/* Which column of free ones is what; -1 = none. */
struct blkparse_columns {
	int time, action, rwbs, sector, length, major, pid, comm;
	bool bytes_told; /* there is a column of bytes beside that of sectors: `length` */
};

/* Learns them from lines; false: they make no sense. */
bool blkparse_columns_learn(struct blkparse_columns *c, const char *const *lines, size_t nr);
/* Reads one line by them; false: it does not fit. Device 0 = not told. */
bool blkparse_columns_read(const struct blkparse_columns *c, const char *text,
			   struct blkparse_line *line);

/* ---- pieces, for the files beside this one ---- */

/* Reads what follows the RWBS (line->tail) in the default format. whole: nothing may follow. */
enum blkparse_answer blkparse_tail(struct blkparse_line *line, const char *end, bool whole,
				   struct blkparse_memo *memo);
/* The same as `SECTOR [+ NUMBER] [(ERROR)] [[NAME]]` with nothing behind it, for every action;
 * BLKPARSE_OWN or BLKPARSE_NO. */
enum blkparse_answer blkparse_own_tail(struct blkparse_line *line, const char *end);

/* Class and flags; ev.action, sector and bytes are set. sectors: of the length. */
void blkparse_rwbs(struct event *ev, const char *rwbs, size_t len, uint32_t sectors,
		   struct blkparse_memo *memo);
/* Past an I/O priority (a class letter or a class name) and the blanks behind it, if there is one. */
const char *blkparse_skip_priority(const char *p, struct blkparse_line *line);
/* An action's letters, `len` of them; ACT_UNKNOWN = no action's. */
enum action blkparse_action(const char *letters, size_t len);
/* Could it be an RWBS text? */
bool blkparse_is_rwbs(const char *letters, size_t len);
/* SECONDS.FRACTION with at least one digit each; where it ends, or NULL. Sets time_ns, ev.time_ns, digits
 * and BLKPARSE_WRAPPED. */
const char *blkparse_time(const char *p, struct blkparse_line *line);
/* "65531", "-5" or "EIO", `len` bytes: 0 or negative errno. False: it is none of them. */
bool blkparse_error(const char *p, size_t len, int16_t *error);

/* A name of `len` bytes at s; "(null)" is blkparse's word for none. */
static inline void blkparse_set_comm(struct blkparse_line *line, const char *s, size_t len)
{
	line->comm_len = (uint8_t)(len < UINT8_MAX ? len : UINT8_MAX);
	line->comm = !len || (len == 6 && !memcmp(s, "(null)", 6)) ? NULL : s;
}

static inline bool blkparse_is_plug(uint8_t action)
{
	return action == ACT_PLUG || action == ACT_UNPLUG || action == ACT_UNPLUG_TIMER ||
	       action == ACT_ZONE_PLUG || action == ACT_ZONE_UNPLUG;
}

/* "FN", "FF": nothing but a flush. */
static inline bool blkparse_is_flush(const struct blkparse_line *line)
{
	return line->rwbs_len > 1 && line->rwbs[0] == 'F' &&
	       (line->rwbs[1] == 'N' || line->rwbs[1] == 'F');
}

static inline bool blkparse_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline bool blkparse_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *blkparse_skip(const char *p)
{
	while (blkparse_blank(*p))
		p++;
	return p;
}

/* Decimal digits; where they end, or NULL where there are none or too many. */
static inline const char *blkparse_number(const char *p, uint64_t *value)
{
	const char *first = p;
	uint64_t v = 0;

	for (; blkparse_digit(*p); p++)
		v = v * 10 + (unsigned char)(*p - '0');
	*value = v;
	if (p - first < 19)
		return p > first ? p : NULL;
	/* Nineteen always fit. Twenty do if they begin with 1 and did not wrap. */
	if (p - first > 20 ||
	    (p - first == 20 && (*first != '1' || v < UINT64_C(10000000000000000000))))
		return NULL;
	return p;
}

static inline const char *blkparse_u32(const char *p, uint32_t *value)
{
	uint64_t v;

	p = blkparse_number(p, &v);
	*value = (uint32_t)v;
	return v <= UINT32_MAX ? p : NULL;
}

#endif
