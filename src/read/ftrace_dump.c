/* SPDX-License-Identifier: MIT
 *
 * Every event of the pages with all its fields, for the test that compares with the kernel's text.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "read/ftrace_layout.h"

static void put_text(FILE *out, const char *p, size_t len)
{
	putc('"', out);
	for (size_t i = 0; i < len && p[i]; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void put_number(FILE *out, const struct ftrace_field *f, const uint8_t *p, bool swap)
{
	uint64_t value = load_uint(p, f->size, swap);

	if (f->is_signed && f->size < 8 && value >> (8 * f->size - 1))
		value |= ~0ull << (8 * f->size);
	if (f->is_signed)
		fprintf(out, "%" PRId64, (int64_t)value);
	else
		fprintf(out, "%" PRIu64, value);
}

static void put_field(FILE *out, const struct ftrace_field *f, const struct page_record *r,
		      bool swap)
{
	const uint8_t *p = r->data + f->offset;
	size_t len;

	fprintf(out, " %s=", f->name);
	if (f->offset > r->len || f->size > r->len - f->offset) {
		fputs("?", out);
	} else if (f->is_data_loc && f->size == 4) {
		const char *text = data_loc_text(r->data, r->len, p, swap, &len);

		put_text(out, text, len);
	} else if (f->is_text) {
		put_text(out, (const char *)p, f->size);
	} else if (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) {
		put_number(out, f, p, swap);
	} else {
		fputs("?", out);
	}
}

static void put_record(FILE *out, const struct page_layout *layout, int cpu,
		       const struct page_record *r)
{
	const struct decoder *d = page_layout_decoder(layout, bytes_u16(r->data, layout->swap));
	const struct ftrace_field *pid;

	if (!d) {
		fprintf(out, "? %" PRIu64 " %d\n", r->time_ns, cpu);
		return;
	}
	fprintf(out, "%s %" PRIu64 " %d ", d->format->name, r->time_ns, cpu);
	pid = ftrace_format_field(d->format, "common_pid");
	if (pid && pid->size == 4 && r->len >= 4 && pid->offset <= r->len - 4)
		put_number(out, pid, r->data + pid->offset, layout->swap);
	else
		putc('?', out);
	for (size_t i = 0; i < d->format->nr; i++) {
		if (!d->format->fields[i].is_common)
			put_field(out, &d->format->fields[i], r, layout->swap);
	}
	putc('\n', out);
}

int page_dump(struct input *in, const struct page_machine *machine, FILE *out, struct error *err)
{
	struct page_layout *layout = page_layout_new(in, machine, err);
	int r = 0;

	if (!layout)
		return -1;
	for (size_t i = 0; i < in->nr && r >= 0; i++) {
		int cpu = page_blob_cpu(in->blobs[i].name);
		struct source_stats stats = { 0 };
		struct page_record record;
		struct page_walk walk;

		if (cpu < 0)
			continue;
		page_walk_init(&walk, layout, &in->blobs[i], &stats);
		while ((r = page_walk_next(&walk, &record, err)) > 0)
			put_record(out, layout, cpu, &record);
		page_walk_release(&walk);
	}
	page_layout_put(layout);
	return r < 0 ? -1 : 0;
}
