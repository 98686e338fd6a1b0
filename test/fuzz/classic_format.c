/* SPDX-License-Identifier: MIT
 *
 * Formats of the user's own, -f and -F: strings that NULs end, each with a byte in front that picks the
 * option. Prints records of all sizes of payload with them into exactly the room that the module asks for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classic/out.h"
#include "classic/own_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
	if (!truth)
		abort();
}

static void compile(struct own_formats *formats, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data + 1, 0, size - 1);
		size_t len = end ? (size_t)(end - data) : size;
		char *fmt = mem_strndup((const char *)data + 1, len - 1);
		struct error err = { 0 };
		int ret = *data & 1 ? own_formats_add(formats, fmt, &err)
				    : own_formats_add_all(formats, fmt, &err);

		must((ret < 0) == (err.text[0] != 0));
		free(fmt);
		len += end != NULL;
		data += len;
		size -= len;
	}
}

static void print(const struct own_format *format, const struct record *r,
		  const struct line_extra *extra, enum classic classic)
{
	size_t room = own_format_room(format, r);
	char *line = mem_resize(NULL, room + 1, 1);
	char *exact = line + 1; /* the first byte behind it is ASan's */

	must(room <= OUT_BYTES);
	must(own_format_print(format, r, extra, classic, exact) <= room);
	free(line);
}

/* The smallest and the largest of everything. */
static void print_all(const struct own_format *format, bool large, uint16_t pdu_len)
{
	uint8_t *pdu = mem_resize(NULL, pdu_len ? pdu_len : 1, 1);
	const struct line_extra extra = {
		.action = large ? "UT" : "Q",
		.comm = large ? "fifteen letters" : NULL,
		.elapsed_ns = large ? ELAPSED_NONE - 1 : ELAPSED_NONE,
		.wall_ns = large ? UINT64_MAX : 0,
		.payload = pdu_len > 0,
		.cgroup_ino = large ? UINT32_MAX : 0,
		.cgroup_gen = large ? UINT32_MAX : 0,
		.error = large ? "-121 EREMOTEIO" : NULL,
	};
	struct record r = { .pdu = pdu, .swap = large };

	if (large)
		memset(&r.h, 0xff, sizeof(r.h));
	r.h.pdu_len = pdu_len;
	memset(pdu, 0xff, pdu_len);
	for (enum classic c = CLASSIC_1_2; c <= CLASSIC_8; c++)
		print(format, &r, &extra, c);
	free(pdu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t sizes[] = { 0, 7, 8, 16, UINT16_MAX };
	struct own_formats formats = { 0 };

	compile(&formats, data, size);
	for (const char *letter = "CQ"; *letter; letter++)
		for (size_t i = 0; formats.of[(uint8_t)*letter] && i < 5; i++)
			print_all(formats.of[(uint8_t)*letter], i & 1 || i == 4, sizes[i]);
	own_formats_release(&formats);
	return 0;
}
