/* SPDX-License-Identifier: MIT
 *
 * One run of blkparse: records come from files.h or pipe.h, pass the filters, are counted, printed and dumped.
 */
#ifndef BLKLAB_CLASSIC_BLKPARSE_H
#define BLKLAB_CLASSIC_BLKPARSE_H

#include "classic/comms.h"
#include "classic/counters.h"
#include "classic/options.h"
#include "classic/out.h"

struct blkparse {
	const struct blkparse_options *o; /* borrowed */
	struct out text, dump;            /* writer NULL: not wanted */
	struct comms comms;
	struct processes processes; /* -s */
	struct device *devices;     /* owned array */
	size_t nr_devices;
	uint64_t genesis_ns; /* of the first event; taken off every time */
	uint64_t wall_ns,
		wall_at_ns; /* the last timestamp note: wall clock, at which time of the trace; 0 = none */
	bool driver_data; /* some was shown as text: a line at the end says so */
	bool pipe;        /* pipe mode */
	int stop_fd; /* readable when a signal asks to stop: poll it together with an input that waits */
};

/* Runs; the exit status of the classic. SIGINT, SIGHUP and SIGTERM end the reading, not the program: they are
 * blocked meanwhile and come through stop_fd. */
int blkparse_run(const struct blkparse_options *o);

/* A process or timestamp note, when it is read. */
void blkparse_note(struct blkparse *bp, const struct record *r);
/* An event or message in its turn: genesis not yet taken off. False: it is behind the window's end, and
 * file mode stops there. r->h.time_ns and r->h.device are changed. */
bool blkparse_take(struct blkparse *bp, struct device *device, struct cpu *cpu, struct record *r);
/* The device, added if new; the array may move. */
struct device *blkparse_device(struct blkparse *bp, uint32_t number, const char *name);

/* Sources; each takes records until the end or a signal, and sets the genesis. 0; else the exit status. */
int files_run(struct blkparse *bp);
int pipe_run(struct blkparse *bp, int fd);
/* Is that input to be read as a pipe: "-" or a FIFO? */
bool input_is_pipe(const char *path);

/* One record as text: the default layout or a format of the user's own. `comm` may be NULL. */
struct line_context {
	const struct blkparse_options *o;
	uint64_t wall_ns;
};
void line_event(struct out *out, const struct line_context *c, const struct record *r,
		const struct comm *comm, uint64_t elapsed_ns, const char *error);
void line_message(struct out *out, const struct line_context *c, const struct record *r);
/* "Q", "UT", ...; NULL: no such action for this kind of record (fs or pc). */
const char *line_action(const struct record *r, enum classic classic);

#endif
