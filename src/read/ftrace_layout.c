/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/ftrace_layout.h"

#define FORMAT_TEXT_MAX (256u << 10)
#define FORMATS_MAX     1024
#define PAGE_MIN        64u
#define PAGE_MAX        (1u << 20)
#define FORMATS_DIR     "formats/"

static const struct {
	const char *name;
	enum decoder_kind kind;
	uint8_t action;
} meanings[] = {
	{ "block/block_bio_queue", DECODE_EVENT, ACT_QUEUE },
	{ "block/block_getrq", DECODE_EVENT, ACT_GETRQ },
	{ "block/block_sleeprq", DECODE_EVENT, ACT_SLEEPRQ },
	{ "block/block_bio_backmerge", DECODE_EVENT, ACT_BACKMERGE },
	{ "block/block_bio_frontmerge", DECODE_EVENT, ACT_FRONTMERGE },
	{ "block/block_bio_bounce", DECODE_EVENT, ACT_BOUNCE },
	{ "block/block_rq_insert", DECODE_EVENT, ACT_INSERT },
	{ "block/block_rq_issue", DECODE_EVENT, ACT_ISSUE },
	{ "block/block_rq_complete", DECODE_EVENT, ACT_COMPLETE },
	{ "block/block_rq_requeue", DECODE_EVENT, ACT_REQUEUE },
	{ "block/block_rq_merge", DECODE_EVENT, ACT_RQ_MERGE },
	{ "block/block_split", DECODE_EVENT, ACT_SPLIT },
	{ "block/block_bio_remap", DECODE_EVENT, ACT_REMAP },
	{ "block/block_rq_remap", DECODE_EVENT, ACT_RQ_REMAP },
	{ "block/block_bio_complete", DECODE_EVENT, ACT_BIO_COMPLETE },
	{ "block/block_rq_error", DECODE_EVENT, ACT_RQ_ERROR },
	{ "block/block_plug", DECODE_EVENT, ACT_PLUG },
	{ "block/block_unplug", DECODE_EVENT, ACT_UNPLUG },
	{ "block/disk_zone_wplug_add_bio", DECODE_EVENT, ACT_ZONE_PLUG },
	{ "block/blk_zone_wplug_bio", DECODE_EVENT, ACT_ZONE_UNPLUG },
	{ "block/blk_zone_append_update_request_bio", DECODE_EVENT, ACT_ZONE_APPEND },
	{ "sched/sched_process_fork", DECODE_FORK, 0 },
	{ "sched/sched_process_exec", DECODE_EXEC, 0 },
	{ "task/task_newtask", DECODE_TASK, 0 },
	{ "task/task_rename", DECODE_RENAME, 0 },
};

/* Names of one meaning that kernels spell differently stand beside each other. */
static const struct {
	const char *name;
	enum field field;
	bool is_text;
} fields[] = {
	{ "common_pid", FIELD_PID, false },
	{ "dev", FIELD_DEV, false },
	{ "sector", FIELD_SECTOR, false },
	{ "nr_sector", FIELD_NR_SECTOR, false },
	{ "nr_sectors", FIELD_NR_SECTOR, false },
	{ "bytes", FIELD_BYTES, false },
	{ "error", FIELD_ERROR, false },
	{ "errors", FIELD_ERROR, false }, /* before 4.14 */
	{ "rwbs", FIELD_RWBS, true },
	{ "comm", FIELD_COMM, true },
	{ "old_dev", FIELD_OLD_DEV, false },
	{ "old_sector", FIELD_OLD_SECTOR, false },
	{ "new_sector", FIELD_NEW_SECTOR, false },
	{ "nr_rq", FIELD_NR_RQ, false },
	{ "parent_pid", FIELD_PARENT_PID, false },
	{ "child_pid", FIELD_CHILD_PID, false },
	{ "child_comm", FIELD_CHILD_COMM, true },
	{ "pid", FIELD_TASK_PID, false },
	{ "newcomm", FIELD_NEW_COMM, true },
	{ "filename", FIELD_FILENAME, true },
};

const char *data_loc_text(const uint8_t *record, size_t record_len, const uint8_t *p, bool swap,
			  size_t *len)
{
	uint32_t loc = bytes_u32(p, swap), offset = loc & 0xffff, size = loc >> 16;

	*len = 0;
	if (offset >= record_len)
		return "";
	if (size > record_len - offset)
		size = (uint32_t)(record_len - offset);
	*len = strnlen((const char *)record + offset, size);
	return (const char *)record + offset;
}

static void resolve(struct decoder *d, const struct ftrace_field *f, enum field which, bool is_text)
{
	bool is_number = !f->is_text && !f->is_data_loc &&
			 (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
	bool is_good =
		is_text ? (f->is_text && f->size) || (f->is_data_loc && f->size == 4) : is_number;

	if (!is_good || d->at[which].size)
		return;
	d->at[which].offset = f->offset;
	d->at[which].size = f->size;
	d->at[which].is_data_loc = f->is_data_loc;
	if (d->need < f->offset + f->size)
		d->need = f->offset + f->size;
}

/* Takes format. */
static void add_decoder(struct page_layout *layout, const char *name, struct ftrace_format *format)
{
	struct decoder *d;

	layout->decoders =
		mem_grow(layout->decoders, layout->nr_decoders, sizeof(*layout->decoders));
	d = &layout->decoders[layout->nr_decoders++];
	*d = (struct decoder){ .format = format, .need = 2 };
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		if (!strcmp(meanings[i].name, name)) {
			d->kind = meanings[i].kind;
			d->action = meanings[i].action;
		}
	}
	if (d->kind == DECODE_NOTHING)
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct ftrace_field *f = ftrace_format_field(format, fields[i].name);

		if (f)
			resolve(d, f, fields[i].field, fields[i].is_text);
	}
}

static int read_format(struct page_layout *layout, struct blob *blob, struct error *err)
{
	struct ftrace_format *format;
	char *text = blob_text(blob, FORMAT_TEXT_MAX, NULL, err);
	int r;

	blob_close(blob);
	if (!text)
		return -1;
	format = mem_zalloc(sizeof(*format));
	r = ftrace_format_parse(format, text, true);
	free(text);
	if (r || layout->nr_decoders == FORMATS_MAX) {
		free(format);
		return r ? error_set(err, "%s: not a format of an event", blob->name)
			 : error_set(err, "more than %d event formats", FORMATS_MAX);
	}
	if (format->id >= layout->nr_ids) {
		layout->by_id = mem_resize(layout->by_id, format->id + 1, sizeof(*layout->by_id));
		memset(layout->by_id + layout->nr_ids, 0,
		       (format->id + 1 - layout->nr_ids) * sizeof(*layout->by_id));
		layout->nr_ids = format->id + 1;
	}
	layout->by_id[format->id] = (uint16_t)(layout->nr_decoders + 1);
	add_decoder(layout, blob->name + strlen(FORMATS_DIR), format);
	return 0;
}

static int read_formats(struct page_layout *layout, struct input *in, struct error *err)
{
	for (size_t i = 0; i < in->nr; i++) {
		const char *name = in->blobs[i].name;

		/* formats/SYSTEM/EVENT; formats/header_page has no system. */
		if (strncmp(name, FORMATS_DIR, strlen(FORMATS_DIR)) ||
		    !strchr(name + strlen(FORMATS_DIR), '/'))
			continue;
		if (read_format(layout, &in->blobs[i], err)) {
			struct error cause = *err;

			return error_set(err, "%s: %.400s", in->label, cause.text);
		}
	}
	if (!layout->nr_decoders)
		return error_set(err, "%s: holds no event formats, so its pages cannot be read",
				 in->label);
	return 0;
}

static void use_header_page(struct page_layout *layout, const struct ftrace_format *format)
{
	const struct ftrace_field *time = ftrace_format_field(format, "timestamp");
	const struct ftrace_field *commit = ftrace_format_field(format, "commit");
	const struct ftrace_field *data = ftrace_format_field(format, "data");

	if (time && time->size == 8)
		layout->time_at = time->offset;
	if (commit) {
		layout->commit_at = commit->offset;
		layout->long_size = commit->size;
	}
	if (data) {
		layout->data_at = data->offset;
		layout->page_size = data->offset + data->size;
	}
}

static int read_header_page(struct page_layout *layout, struct input *in, struct error *err)
{
	struct blob *blob = input_blob(in, FORMATS_DIR "header_page");
	struct ftrace_format *format;
	char *text;

	if (blob) {
		text = blob_text(blob, FORMAT_TEXT_MAX, NULL, err);
		blob_close(blob);
		if (!text)
			return -1;
		format = mem_zalloc(sizeof(*format));
		ftrace_format_parse(format, text, false);
		use_header_page(layout, format);
		free(format);
		free(text);
	}
	if (layout->page_size < PAGE_MIN || layout->page_size > PAGE_MAX ||
	    (layout->long_size != 4 && layout->long_size != 8) ||
	    layout->data_at >= layout->page_size || layout->time_at + 8 > layout->data_at ||
	    layout->commit_at + layout->long_size > layout->data_at)
		return error_set(err, "%s: formats/header_page describes no page that could be",
				 in->label);
	return 0;
}

struct page_layout *page_layout_new(struct input *in, const struct page_machine *machine,
				    struct error *err)
{
	struct page_layout *layout = mem_zalloc(sizeof(*layout));

	layout->refs = 1;
	layout->big_endian = !machine->little_endian;
	layout->swap = machine->little_endian != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	layout->long_size = machine->long_size;
	layout->page_size = machine->page_size;
	layout->commit_at = 8;
	layout->data_at = 8 + machine->long_size;
	if (!read_header_page(layout, in, err) && !read_formats(layout, in, err))
		return layout;
	page_layout_put(layout);
	return NULL;
}

void page_layout_put(struct page_layout *layout)
{
	if (!layout || --layout->refs)
		return;
	for (size_t i = 0; i < layout->nr_decoders; i++)
		free(layout->decoders[i].format);
	free(layout->decoders);
	free(layout->by_id);
	free(layout);
}
