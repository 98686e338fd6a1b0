/* SPDX-License-Identifier: MIT
 *
 * Live streams of blktrace: the stored recordings cut into chunks of their CPUs come out in the order of
 * their files merged; pipes that pause, CPUs that are silent, records that are missing or late. Run from
 * the top folder.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "cm.h"
#include "read/blktrace_live.h"
#include "read/formats.h"

extern const struct format format_blktrace_bin;

struct stamp {
	uint64_t time_ns, sector;
	uint32_t cpu, sequence;
	uint8_t action;
	uint16_t payload_len;
	uint32_t payload_sum;
};

struct order {
	struct stamp *list;
	size_t nr;
	struct source_stats stats;
	char dialect[sizeof(((struct input_info *)0)->dialect)];
	size_t nr_notes;
};

static void take(struct order *o, const struct event *ev)
{
	struct stamp *s;

	o->list = mem_grow(o->list, o->nr, sizeof(*o->list));
	s = &o->list[o->nr++];
	memset(s, 0, sizeof(*s)); /* they are compared as memory */
	s->time_ns = ev->time_ns;
	s->sector = ev->sector;
	s->cpu = ev->cpu;
	s->sequence = ev->sequence;
	s->action = ev->action;
	s->payload_len = ev->payload_len;
	for (size_t i = 0; i < ev->payload_len; i++)
		s->payload_sum = s->payload_sum * 31 + ev->payload[i];
}

static void read_order(struct order *o, struct input *in, size_t nr_in)
{
	struct sources sources = { 0 };
	struct error err = { 0 };
	struct event events[100];
	struct source *src;
	struct facts facts;
	int n;

	*o = (struct order){ 0 };
	facts_init(&facts);
	for (size_t i = 0; i < nr_in; i++)
		assert_int_equal(format_blktrace_bin.open(&in[i], &facts, &sources, &err), 0);
	src = merge_new(&sources);
	while ((n = source_pull(src, events, 100, &err)) > 0)
		for (int i = 0; i < n; i++)
			take(o, &events[i]);
	if (n < 0)
		fail_msg("%s", err.text);
	o->stats = src->stats;
	o->nr_notes = facts.nr_notes;
	snprintf(o->dialect, sizeof(o->dialect), "%s", facts.inputs[0].dialect);
	source_release(src);
	facts_release(&facts);
}

static void same(const struct order *a, const struct order *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++)
		if (memcmp(&a->list[i], &b->list[i], sizeof(a->list[i])))
			fail_msg("event %zu: CPU %u number %u, not CPU %u number %u", i,
				 b->list[i].cpu, b->list[i].sequence, a->list[i].cpu,
				 a->list[i].sequence);
}

struct bytes {
	uint8_t *at; /* owned */
	size_t len, room;
};

static void add_bytes(struct bytes *to, const void *from, size_t n)
{
	if (to->len + n >= to->room) {
		to->room = (to->len + n) * 2;
		to->at = mem_resize(to->at, to->room, 1);
	}
	if (!n)
		return;
	memcpy(to->at + to->len, from, n);
	to->len += n;
}

static size_t record_size(const uint8_t *p)
{
	return 48 + bytes_u16(p + 46, false);
}

/* The files' records in chunks of a few hundred (differing), round robin. `skip`: leaves out the record
 * of that place in the stream. */
static struct bytes interleave(const struct bytes *files, size_t nr, size_t skip)
{
	struct bytes out = { 0 };
	size_t at[64] = { 0 }, place = 0;
	unsigned int size = 7;
	bool any = true;

	while (any) {
		any = false;
		for (size_t i = 0; i < nr; i++) {
			size_t start = at[i], end;

			size = size * 1103515245u + 12345u;
			for (unsigned int k = 1 + (size >> 16) % 500; k && at[i] < files[i].len;
			     k--) {
				end = at[i] + record_size(files[i].at + at[i]);
				if (++place == skip) {
					add_bytes(&out, files[i].at + start, at[i] - start);
					start = end;
				}
				at[i] = end;
			}
			add_bytes(&out, files[i].at + start, at[i] - start);
			any |= at[i] < files[i].len;
		}
	}
	return out;
}

/* The set of that base in an archive. */
static size_t load(struct bytes *files, const char *archive, const char *base)
{
	struct inputs inputs = { 0 };
	struct error err = { 0 };
	size_t nr = 0;

	if (inputs_add(&inputs, archive, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < inputs.nr; i++) {
		struct input *in = &inputs.list[i];

		for (size_t k = 0; k < in->nr && !strcmp(in->base, base); k++, nr++)
			files[nr].at = (uint8_t *)blob_text(&in->blobs[k], 100000000,
							    &files[nr].len, &err);
	}
	inputs_release(&inputs);
	assert_true(nr >= 2);
	return nr;
}

static void set_order(struct order *o, const struct bytes *files, size_t nr, const char *base)
{
	struct input in[64];

	for (size_t i = 0; i < nr; i++) {
		char *name = mem_printf("%s.blktrace.%zu", base, i);

		input_memory(&in[i], name, files[i].at, files[i].len);
		free(name);
	}
	read_order(o, in, nr);
	for (size_t i = 0; i < nr; i++)
		input_release(&in[i]);
}

static void stream_order(struct order *o, const struct bytes *bytes)
{
	struct input in;

	input_memory(&in, "stream", bytes->at, bytes->len);
	read_order(o, &in, 1);
	input_release(&in);
}

static const struct {
	const char *archive, *base;
} stored[] = {
	{ "sample", "vda" }, { "ddsync", "vda" }, { "pair", "a" },
	{ "pair", "b" },     { "raid", "vdd" },   { "raid", "vde" },
	{ "raid", "md0" },   { "scsi", "sda" },   { "drops", "nullb0" },
};

static void cut_traces_come_in_the_order_of_their_files(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(stored) / sizeof(*stored); t++) {
		char *path = mem_printf("test/data/%s.tar.xz", stored[t].archive);
		struct bytes files[64] = { 0 }, stream;
		size_t nr = load(files, path, stored[t].base);
		struct order want, got;

		stream = interleave(files, nr, 0);
		set_order(&want, files, nr, stored[t].base);
		stream_order(&got, &stream);
		assert_non_null(strstr(got.dialect, ", live stream of 2 CPUs"));
		assert_int_equal(got.stats.sequence_gaps, 0);
		assert_int_equal(got.nr_notes, 0);
		same(&want, &got);
		for (size_t i = 0; i < nr; i++)
			free(files[i].at);
		free(stream.at);
		free(want.list);
		free(got.list);
		free(path);
	}
}

/* One number that never comes: the rest comes as ever, and the gap is counted. */
static void a_missing_number_holds_up_nothing(void **state)
{
	struct bytes files[64] = { 0 }, stream;
	struct order whole, got;
	size_t nr, gone = 0;

	(void)state;
	nr = load(files, "test/data/ddsync.tar.xz", "vda");
	stream = interleave(files, nr, 1000);
	set_order(&whole, files, nr, "vda");
	stream_order(&got, &stream);
	assert_int_equal(got.stats.sequence_gaps, 1);
	assert_int_equal(got.nr, whole.nr - 1);
	for (size_t i = 0; i < got.nr; i++) {
		if (!gone && memcmp(&got.list[i], &whole.list[i], sizeof(*got.list)))
			gone = 1;
		assert_memory_equal(&got.list[i], &whole.list[i + gone], sizeof(*got.list));
	}
	for (size_t i = 0; i < nr; i++)
		free(files[i].at);
	free(stream.at);
	free(whole.list);
	free(got.list);
}

/* A stream in order comes as it is, also where times are equal or a CPU's run backwards. */
static void what_is_in_order_stays(void **state)
{
	static const struct {
		uint64_t time_ns;
		uint32_t cpu;
	} list[] = {
		{ 5, 1 }, { 5, 0 }, { 5, 1 }, { 7, 0 }, { 6, 0 }, { 7, 1 }, { 9, 1 }, { 9, 0 }
	};
	struct blktrace_live *live = blktrace_live_new();
	struct event events[8];
	int n = 0, got;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct event ev = { .time_ns = list[i].time_ns,
				    .cpu = (uint16_t)list[i].cpu,
				    .sequence = i };

		blktrace_live_add(live, &ev, DEVICE(8, 0), list[i].cpu);
	}
	assert_int_equal(blktrace_live_take(live, events, 8), 0);
	blktrace_live_flush(live);
	while ((got = blktrace_live_take(live, events, 3)) > 0)
		for (int i = 0; i < got; i++)
			assert_int_equal(events[i].sequence, n++);
	assert_int_equal(n, 8);
	assert_false(blktrace_live_mixed(live));
	assert_int_equal(blktrace_live_late(live), 0);
	blktrace_live_free(live);
}

static void add(struct blktrace_live *live, uint64_t time_ns, uint32_t cpu, const char *payload)
{
	struct event ev = { .time_ns = time_ns, .cpu = (uint16_t)cpu };

	ev.payload = (const uint8_t *)payload;
	ev.payload_len = payload ? (uint16_t)strlen(payload) : 0;
	blktrace_live_add(live, &ev, DEVICE(8, 0), cpu);
}

/* Of two CPUs one falls silent: no more than the bound is ever held, and what comes later than that is
 * counted. */
static void a_silent_cpu_does_not_fill_the_memory(void **state)
{
	struct blktrace_live *live = blktrace_live_new();
	uint64_t added = 1, given = 0, last = 0;
	struct event events[64];
	int n;

	(void)state;
	add(live, 1, 1, "quiet");
	for (uint64_t t = 2; t < 600000; t++) {
		add(live, t, 0, t % 1000 ? NULL : "message");
		added++;
		while ((n = blktrace_live_take(live, events, 64)) > 0)
			for (int i = 0; i < n; i++) {
				assert_true(events[i].time_ns > last);
				last = events[i].time_ns;
				given++;
				if (last == 1)
					assert_memory_equal(events[i].payload, "quiet", 5);
			}
		assert_true(added - given <= BLKTRACE_LIVE_RECORDS);
	}
	assert_true(given > 300000);
	assert_int_equal(blktrace_live_late(live), 0);
	add(live, 5, 1, NULL); /* hours behind */
	assert_int_equal(blktrace_live_take(live, events, 64), 1);
	assert_int_equal(events[0].time_ns, 5);
	assert_int_equal(blktrace_live_late(live), 1);
	blktrace_live_flush(live);
	while ((n = blktrace_live_take(live, events, 64)) > 0)
		given += (uint64_t)n;
	assert_int_equal(given, added);
	blktrace_live_free(live);
}

static void payloads_are_bounded(void **state)
{
	struct blktrace_live *live = blktrace_live_new();
	char big[60001];
	struct event ev;
	int held = 0;

	(void)state;
	memset(big, 'x', 60000);
	big[60000] = 0;
	for (uint64_t t = 1; t < 1000; t++) {
		add(live, t, 0, big);
		held += 1 - blktrace_live_take(live, &ev, 1);
		assert_true(held * 60000 <= (int)BLKTRACE_LIVE_BYTES);
	}
	blktrace_live_free(live); /* with some given and some not */
}

/* A writer that pauses: what it wrote comes after a second, not at its end. */
struct writer {
	int fd;
	const struct bytes *bytes;
	pthread_mutex_t lock;
	pthread_cond_t go;
	bool may_end;
};

static void *write_and_wait(void *arg)
{
	struct writer *w = arg;
	size_t half = 100 * 48;

	assert_int_equal(write(w->fd, w->bytes->at, half), half);
	pthread_mutex_lock(&w->lock);
	while (!w->may_end)
		pthread_cond_wait(&w->go, &w->lock);
	pthread_mutex_unlock(&w->lock);
	assert_int_equal(write(w->fd, w->bytes->at + half, w->bytes->len - half),
			 w->bytes->len - half);
	close(w->fd);
	return NULL;
}

static void make_record(struct bytes *to, uint32_t number, uint32_t cpu, uint64_t time_ns)
{
	uint8_t r[48] = { 7, 0x74, 0x61, 0x65 };

	memcpy(r + 4, &number, 4);
	memcpy(r + 8, &time_ns, 8);
	r[28] = 1;
	memcpy(r + 40, &cpu, 4);
	add_bytes(to, r, sizeof(r));
}

static void a_pause_gives_what_came(void **state)
{
	struct bytes bytes = { 0 };
	struct writer w = { .bytes = &bytes,
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .go = PTHREAD_COND_INITIALIZER };
	struct input in = { .label = mem_strdup("pipe"), .base = mem_strdup("pipe") };
	struct sources sources = { 0 };
	struct source *src;
	struct error err = { 0 };
	struct facts facts;
	struct event events[64];
	pthread_t thread;
	uint64_t last = 0;
	int fds[2], n, sum = 0;

	(void)state;
	for (uint32_t cpu = 0; cpu < 4; cpu++) /* times 4 apart, CPU by CPU, twice */
		for (uint32_t i = 1; i <= 25; i++)
			make_record(&bytes, i, cpu, 1000 + i * 4 + cpu);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		for (uint32_t i = 26; i <= 50; i++)
			make_record(&bytes, i, cpu, 1000 + i * 4 + cpu);
	assert_int_equal(pipe(fds), 0);
	in.blobs = mem_zalloc(sizeof(*in.blobs));
	in.nr = 1;
	in.blobs[0] = (struct blob){ .name = mem_strdup("pipe"), .fd = fds[0] };
	w.fd = fds[1];
	pthread_create(&thread, NULL, write_and_wait, &w);
	facts_init(&facts);
	assert_int_equal(format_blktrace_bin.probe(&in, &err), 100);
	assert_int_equal(format_blktrace_bin.open(&in, &facts, &sources, &err), 0);
	src = merge_new(&sources);
	while (sum < 200 && (n = source_pull(src, events, 64, &err)) > 0) {
		for (int i = 0; i < n; i++) {
			assert_int_equal(events[i].time_ns, last ? last + 1 : 1004);
			last = events[i].time_ns;
		}
		sum += n;
		if (sum == 100) { /* the writer still waits */
			pthread_mutex_lock(&w.lock);
			w.may_end = true;
			pthread_cond_signal(&w.go);
			pthread_mutex_unlock(&w.lock);
		}
	}
	assert_int_equal(sum, 200);
	assert_int_equal(source_pull(src, events, 64, &err), 0);
	assert_int_equal(src->stats.damages, 0);
	pthread_join(thread, NULL);
	source_release(src);
	facts_release(&facts);
	input_release(&in);
	free(bytes.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_traces_come_in_the_order_of_their_files),
		cmocka_unit_test(a_missing_number_holds_up_nothing),
		cmocka_unit_test(what_is_in_order_stays),
		cmocka_unit_test(a_silent_cpu_does_not_fill_the_memory),
		cmocka_unit_test(payloads_are_bounded),
		cmocka_unit_test(a_pause_gives_what_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
