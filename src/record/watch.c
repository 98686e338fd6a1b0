/* SPDX-License-Identifier: MIT
 *
 * While it records: samples, progress, and what ends it. The command is never killed for our sake,
 * except by the time limit, which is what the user asked for.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "record/recording.h"
#include "record/when.h"

#define SECOND_NS   1000000000ull
#define GRACE_NS    (2 * SECOND_NS) /* for a command that was asked to end */
#define SETTLE_NS   SECOND_NS       /* for requests in flight after the command's end */
#define SETTLE_TICK (SECOND_NS / 100)

#define PLUG_IOS_PER_S 50000ull /* model.md 15 */
#define FAST_SAMPLES   3        /* in a row */

static bool child_runs(struct recording *rec)
{
	return rec->child.started && !child_poll(&rec->child);
}

static void ask_to_end(const struct recording *rec)
{
	kill(rec->child.pid, SIGTERM);
	kill(rec->child.pid, SIGCONT); /* one that is stopped would not get it */
}

/* Whoever asks us to stop means the command too; the terminal has told both. SIGTERM, since jobs in
 * the background of a script ignore SIGINT. */
static void pass_signal_on(const struct recording *rec)
{
	if (session_signal_from_terminal())
		kill(rec->child.pid, SIGCONT);
	else
		ask_to_end(rec);
}

static enum stop_reason check_signal(struct recording *rec, uint64_t now, uint64_t *grace_end)
{
	if (!session_signal())
		return STOP_NOT;
	if (!child_runs(rec))
		return STOP_SIGNAL;
	if (!*grace_end) {
		*grace_end = now + GRACE_NS;
		pass_signal_on(rec);
	}
	return now >= *grace_end || session_nr_signals() > 1 ? STOP_SIGNAL : STOP_NOT;
}

static enum stop_reason check_writes(struct recording *rec)
{
	int failed = rec->backend->progress(rec->recorder).write_errno;

	if (!failed)
		return STOP_NOT;
	recording_say(rec, "cannot write the trace to %s any more: %s; recording ends here%s",
		      rec->out.path, strerror(failed),
		      child_runs(rec) ? ", the command runs on" : "");
	return failed == ENOSPC || failed == EDQUOT || failed == EFBIG ? STOP_DISK_FULL
								       : STOP_ERROR;
}

static enum stop_reason check_devices(struct recording *rec)
{
	const char *news;
	size_t gone = sampler_look(&rec->sampler, &news);

	if (news) {
		recording_say(rec, "%s is gone (detached or unplugged); what was recorded is kept",
			      news);
		rec->gone = news;
	}
	/* With a command its end is the end: what it does without the device may matter. */
	return gone == rec->sampler.nr_devices && gone && !child_runs(rec) ? STOP_DEVICE_GONE
									   : STOP_NOT;
}

static void show_progress(struct recording *rec, uint64_t now)
{
	if (rec->options->progress)
		rec->options->progress(rec->options->arg, (double)(now - rec->armed_ns) / 1e9,
				       rec->backend->progress(rec->recorder).bytes);
}

/* Fast I/O plugs for every request; two more events for each would cost the most and tell the least. */
static void check_rate(struct recording *rec)
{
	uint64_t completed, last = rec->completed;

	if (rec->plugs_shed || rec->options->no_plug || rec->options->keep_plugs ||
	    !rec->backend->shed_plugs)
		return;
	completed = sampler_completed(&rec->sampler);
	rec->completed = completed;
	if (completed - last < PLUG_IOS_PER_S * SAMPLE_INTERVAL_NS / SECOND_NS || !last) {
		rec->fast_samples = 0;
		return;
	}
	if (++rec->fast_samples < FAST_SAMPLES)
		return;
	rec->plugs_shed = true;
	rec->backend->shed_plugs(rec->recorder);
	recording_say(rec, "above 50,000 I/Os a second: plug events are recorded no longer "
			   "(--plug keeps them)");
}

/* Until something ends the recording. */
static enum stop_reason watch_recording(struct recording *rec)
{
	uint64_t deadline =
		rec->options->for_ns ? rec->armed_ns + rec->options->for_ns : UINT64_MAX;
	uint64_t next_sample = rec->armed_ns, next_progress = rec->armed_ns + SECOND_NS;
	uint64_t grace_end = 0;
	enum stop_reason stop = STOP_NOT;

	while (!stop) {
		uint64_t now = when_mono();
		uint64_t wake = next_sample < deadline ? next_sample : deadline;

		if (wake > now)
			session_wait(&rec->session, NULL, 0, wake - now);
		now = when_mono();
		stop = check_signal(rec, now, &grace_end);
		if (!stop && rec->child.started && child_poll(&rec->child))
			stop = session_signal() ? STOP_SIGNAL : STOP_COMMAND;
		if (!stop && now >= deadline)
			stop = STOP_TIME;
		if (stop || now < next_sample)
			continue;
		sampler_take(&rec->sampler);
		workers_look(&rec->workers);
		check_rate(rec);
		next_sample += SAMPLE_INTERVAL_NS;
		if (next_sample <= now) /* we were held up: no burst of samples */
			next_sample = now + SAMPLE_INTERVAL_NS;
		stop = check_writes(rec);
		if (!stop)
			stop = check_devices(rec);
		if (now >= next_progress) {
			show_progress(rec, now);
			next_progress = now + SECOND_NS;
		}
	}
	return stop;
}

/* Requests that the command started may still be at the device. */
static void settle(struct recording *rec)
{
	uint64_t end = when_mono() + SETTLE_NS;

	while (!session_signal() && sampler_inflight(&rec->sampler) && when_mono() < end)
		session_wait(&rec->session, NULL, 0, SETTLE_TICK);
}

/* Waits for the command, which the recording did not outlive. */
static void see_command_out(struct recording *rec)
{
	uint64_t grace_end = 0;

	if (!child_runs(rec))
		return;
	if (rec->stopped_by == STOP_TIME) {
		recording_say(rec,
			      "the time is up: the command (process %d) is asked to end "
			      "(SIGTERM)",
			      (int)rec->child.pid);
		ask_to_end(rec);
		grace_end = when_mono() + GRACE_NS;
	} else if (rec->stopped_by == STOP_SIGNAL) {
		grace_end = 1; /* it has had its time */
	}
	while (child_runs(rec) && (!grace_end || when_mono() < grace_end)) {
		session_wait(&rec->session, NULL, 0, SAMPLE_INTERVAL_NS);
		if (session_signal() && !grace_end) {
			pass_signal_on(rec);
			grace_end = when_mono() + GRACE_NS;
		}
		if (session_nr_signals() > 1)
			break;
	}
	if (child_runs(rec))
		recording_say(rec, "the command (process %d) has not ended and runs on",
			      (int)rec->child.pid);
}

int recording_watch(struct recording *rec, struct error *err)
{
	int result;

	rec->stopped_by = watch_recording(rec);
	if (rec->stopped_by == STOP_COMMAND)
		settle(rec);
	workers_look(&rec->workers);
	sampler_take(&rec->sampler);
	rec->after = sampler_snapshot(&rec->sampler);
	result = rec->backend->drain(rec->recorder, &rec->losses, err);
	check_devices(rec);
	threads_scan(&rec->threads_end, rec->root);
	if (!result)
		see_command_out(rec);
	return result;
}
