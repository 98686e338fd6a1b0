/* SPDX-License-Identifier: MIT
 *
 * gen_seed [-n PAGES] DIR: writes DIR/sdb.blktrace.0 to .7, a blktrace version 7 trace of the shape of
 * the slow-sync seed: a 10 GB dd and its sync, written one 4 KiB page at a time from ext4 on a
 * partition. 2,560,000 pages make 7.76 million events. Same arguments, same bytes.
 *
 * The figures come from the seed (its summary and excerpts): A to Q of a page 84 ns, Q to M 220 ns, A to
 * the next A 1.31 us during dd and 1.19 us during sync; bursts of 2,048 pages (what writeback wrote
 * per scan of the file) spread over 346 s; about 105 pages per request; the shares of the 8 CPUs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NR_CPUS      8
#define BURST        2048
#define PAGE_SECTORS 8
#define START_NS     1000000000ULL
#define DD_NS        17560000000ULL  /* dd ran 17.56 s, */
#define SYNC_NS      328540000000ULL /* sync 328.54 s */
#define DEPTH        31              /* NCQ */

#define DEV(major, minor) ((uint32_t)(major) << 20 | (minor))
#define SDB               DEV(8, 16)
#define SDB1              DEV(8, 17)

enum {
	ACT_Q = 1,
	ACT_M = 2,
	ACT_G = 4,
	ACT_D = 7,
	ACT_C = 8,
	ACT_P = 9,
	ACT_U = 10,
	ACT_I = 12,
	ACT_A = 15
};
enum {
	TC_READ = 1,
	TC_WRITE = 2,
	TC_SYNC = 8,
	TC_QUEUE = 0x10,
	TC_ISSUE = 0x40,
	TC_COMPLETE = 0x80,
	TC_FS = 0x100, /* events of requests have it, those of bios not */
	TC_NOTIFY = 0x400
};
enum { PID_DD = 3687, PID_PDFLUSH = 3688, PID_SYNC = 3753 };

/* As laid out in the file, on a little-endian machine (checked in main). */
struct record {
	uint32_t magic, sequence;
	uint64_t time, sector;
	uint32_t bytes, action, pid, device, cpu;
	uint16_t error, pdu_len;
};
_Static_assert(sizeof(struct record) == 48, "no padding");

struct request {
	uint64_t sector, done_ns;
	uint32_t pages, tc;
	int cpu;
};

struct gen {
	FILE *file[NR_CPUS];
	uint32_t sequence[NR_CPUS];
	uint64_t random, events, device_free_ns;
	struct request flight[DEPTH]; /* ring, in order of completion */
	unsigned int first, nr_flight;
};

static uint32_t gen_random(struct gen *gen, uint32_t below)
{
	/* xorshift64*, so that the trace does not depend on the C library */
	gen->random ^= gen->random >> 12;
	gen->random ^= gen->random << 25;
	gen->random ^= gen->random >> 27;
	return (uint32_t)((gen->random * 2685821657736338717ULL) >> 33) % below;
}

static void put_record(struct gen *gen, int cpu, uint64_t time, uint32_t pid, uint32_t act,
		       uint32_t tc, uint64_t sector, uint32_t bytes, const void *pdu,
		       uint16_t pdu_len)
{
	struct record rec = {
		.magic = 0x65617407,
		.sequence = tc & TC_NOTIFY ? 0 : ++gen->sequence[cpu],
		.time = time,
		.sector = sector,
		.bytes = bytes,
		.action = tc << 16 | act,
		.pid = pid,
		.device = tc & TC_NOTIFY ? 0 : SDB,
		.cpu = (uint32_t)cpu,
		.pdu_len = pdu_len,
	};

	fwrite(&rec, sizeof(rec), 1, gen->file[cpu]);
	if (pdu_len)
		fwrite(pdu, pdu_len, 1, gen->file[cpu]);
	if (!(tc & TC_NOTIFY))
		gen->events++;
}

static void put_name(struct gen *gen, int cpu, uint64_t time, uint32_t pid, const char *name)
{
	char pdu[16] = { 0 };

	memcpy(pdu, name, strlen(name));
	put_record(gen, cpu, time, pid, 0, TC_NOTIFY, 0, 0, pdu, sizeof(pdu));
}

static void put_be64(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (56 - 8 * i));
}

static void put_remap(struct gen *gen, int cpu, uint64_t time, uint32_t pid, uint32_t tc,
		      uint64_t sector)
{
	uint8_t pdu[16];

	put_be64(pdu, (uint64_t)SDB1 << 32 | SDB);
	put_be64(pdu + 8, sector - 2048);
	put_record(gen, cpu, time, pid, ACT_A, tc | TC_QUEUE, sector, PAGE_SECTORS * 512, pdu,
		   sizeof(pdu));
}

/* Completions that are due before `now`. They come first in time, so every file stays in order. */
static void complete_until(struct gen *gen, uint64_t now)
{
	while (gen->nr_flight && gen->flight[gen->first].done_ns <= now) {
		const struct request *req = &gen->flight[gen->first];

		put_record(gen, req->cpu, req->done_ns, 0, ACT_C, req->tc | TC_COMPLETE | TC_FS,
			   req->sector, req->pages * PAGE_SECTORS * 512, NULL, 0);
		gen->first = (gen->first + 1) % DEPTH;
		gen->nr_flight--;
	}
}

/* Issues a request at `now`, or later when the device has DEPTH in flight; returns when. The device
 * takes one after the other: 0.1 ms plus 40 us a page, 100 MB/s. */
static uint64_t issue(struct gen *gen, uint64_t now, uint32_t pid, struct request req)
{
	if (gen->nr_flight == DEPTH && gen->flight[gen->first].done_ns > now)
		now = gen->flight[gen->first].done_ns;
	complete_until(gen, now);
	now += 700;
	if (gen->device_free_ns < now)
		gen->device_free_ns = now;
	gen->device_free_ns += 100000 + req.pages * 40000 + gen_random(gen, 50000);
	req.done_ns = gen->device_free_ns;
	put_record(gen, req.cpu, now, pid, ACT_D, req.tc | TC_ISSUE | TC_FS, req.sector,
		   req.pages * PAGE_SECTORS * 512, NULL, 0);
	gen->flight[(gen->first + gen->nr_flight++) % DEPTH] = req;
	return now;
}

/* One burst of writeback: each page is remapped, queued and merged; then all requests are inserted and
 * issued. Returns the time of the last event. */
static uint64_t burst(struct gen *gen, int cpu, uint64_t now, uint32_t pid, bool sync,
		      uint64_t sector, uint32_t nr_pages)
{
	struct request reqs[BURST / 80 + 2];
	uint32_t nr = 0, left = 0, tc = TC_WRITE;
	uint32_t step = sync ? 1190 : 1310;
	uint8_t pdu[8];

	for (uint32_t page = 0; page < nr_pages; page++) {
		complete_until(gen, now + 600);
		put_remap(gen, cpu, now, pid, tc, sector);
		put_record(gen, cpu, now + 84, pid, ACT_Q, tc | TC_QUEUE, sector,
			   PAGE_SECTORS * 512, NULL, 0);
		if (!left) {
			left = 88 + gen_random(gen, 41);
			reqs[nr++] = (struct request){ .sector = sector, .tc = tc, .cpu = cpu };
		}
		put_record(gen, cpu, now + 290 + gen_random(gen, 40), pid,
			   reqs[nr - 1].pages ? ACT_M : ACT_G, tc | TC_QUEUE, sector,
			   PAGE_SECTORS * 512, NULL, 0);
		if (!page) {
			put_record(gen, cpu, now + 400, pid, ACT_P, TC_QUEUE, 0, 0, NULL, 0);
		}
		reqs[nr - 1].pages++;
		left--;
		sector += PAGE_SECTORS;
		now += step - 60 + gen_random(gen, 121);
	}
	for (uint32_t i = 0; i < nr; i++) {
		complete_until(gen, now);
		put_record(gen, cpu, now, pid, ACT_I, tc | TC_QUEUE | TC_FS, reqs[i].sector,
			   reqs[i].pages * PAGE_SECTORS * 512, NULL, 0);
		now += 150;
	}
	put_be64(pdu, nr);
	complete_until(gen, now);
	put_record(gen, cpu, now, pid, ACT_U, TC_QUEUE, 0, 0, pdu, sizeof(pdu));
	for (uint32_t i = 0; i < nr; i++)
		now = issue(gen, now, pid, reqs[i]);
	return now;
}

/* The few reads of the seed: metadata that dd needs first. */
static uint64_t reads(struct gen *gen, uint64_t now)
{
	for (int i = 0; i < 6; i++) {
		uint64_t sector = 4096 + (uint64_t)gen_random(gen, 1000000) * PAGE_SECTORS;
		struct request req = { .sector = sector, .pages = 1, .tc = TC_READ };

		put_remap(gen, 0, now, PID_DD, TC_READ, sector);
		put_record(gen, 0, now + 84, PID_DD, ACT_Q, TC_READ | TC_QUEUE, sector, 4096, NULL,
			   0);
		put_record(gen, 0, now + 300, PID_DD, ACT_G, TC_READ | TC_QUEUE, sector, 4096, NULL,
			   0);
		put_record(gen, 0, now + 900, PID_DD, ACT_I, TC_READ | TC_QUEUE | TC_FS, sector,
			   4096, NULL, 0);
		now = issue(gen, now + 1000, PID_DD, req) + 400000;
		complete_until(gen, now);
	}
	return now;
}

static void generate(struct gen *gen, uint64_t pages)
{
	/* Kilobytes per CPU in the seed's summary, as the share of the bursts that run there. */
	static const uint32_t share[NR_CPUS] = { 25, 66, 37, 51, 29, 130, 35, 30 };
	bool named[NR_CPUS] = { 0 };
	uint64_t bursts = (pages + BURST - 1) / BURST;
	uint64_t gap = (DD_NS + SYNC_NS) / 1250; /* the pace of the full size at every size */
	uint64_t dd_end =
		START_NS + gap * bursts * (DD_NS / 1000000) / ((DD_NS + SYNC_NS) / 1000000);
	uint64_t now = START_NS, sector = 48501576;
	uint32_t clock[2] = { 1206000000, 123456789 };

	put_record(gen, 0, now, 0, 1, TC_NOTIFY, 0, 0, clock, sizeof(clock));
	put_name(gen, 0, now + 1, PID_DD, "dd");
	put_name(gen, 1, now + 2, PID_PDFLUSH, "pdflush");
	now = reads(gen, now + 1000);
	for (uint64_t done = 0; done < pages; done += BURST) {
		uint32_t nr = pages - done < BURST ? (uint32_t)(pages - done) : BURST;
		bool sync = now > dd_end;
		uint32_t at = gen_random(gen, 403);
		int cpu = 0;
		uint64_t end;

		while (at >= share[cpu])
			at -= share[cpu++];
		if (sync && !named[0]) {
			put_name(gen, cpu, now, PID_SYNC, "sync");
			named[0] = true;
		}
		end = burst(gen, cpu, now, sync ? PID_SYNC : PID_PDFLUSH, sync, sector, nr);
		sector += (uint64_t)nr * PAGE_SECTORS;
		now += gap;
		if (now < end + 1000)
			now = end + 1000;
	}
	complete_until(gen, UINT64_MAX);
}

static int run(const char *dir, uint64_t pages)
{
	struct gen gen = { .random = 88172645463325252ULL };
	char path[4096];
	int ret = 0;

	if (mkdir(dir, 0777) && errno != EEXIST) {
		perror(dir);
		return 1;
	}
	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		snprintf(path, sizeof(path), "%s/sdb.blktrace.%d", dir, cpu);
		gen.file[cpu] = fopen(path, "we");
		if (!gen.file[cpu]) {
			perror(path);
			return 1;
		}
		setvbuf(gen.file[cpu], NULL, _IOFBF, 1 << 20);
	}
	generate(&gen, pages);
	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		if (ferror(gen.file[cpu]) || fclose(gen.file[cpu]))
			ret = 1;
	}
	if (ret)
		fprintf(stderr, "gen_seed: cannot write to %s\n", dir);
	else
		printf("%" PRIu64 "\n", gen.events);
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t pages = 2560000;
	uint16_t one = 1;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) == 'n')
		pages = strtoull(optarg, NULL, 10);
	if (opt != -1 || optind + 1 != argc || !pages || !*(char *)&one) {
		fprintf(stderr, "usage: gen_seed [-n PAGES] DIR   (on a little-endian machine)\n");
		return 2;
	}
	return run(argv[optind], pages);
}
