/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static void set_text(struct error *err, enum status status, const char *fmt, va_list args)
{
	err->status = status;
	vsnprintf(err->text, sizeof(err->text), fmt, args);
}

int error_set(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(err, STATUS_FAILED, fmt, args);
	va_end(args);
	return -1;
}

int error_errno(struct error *err, int errnum, const char *fmt, ...)
{
	va_list args;
	size_t len;

	va_start(args, fmt);
	set_text(err, STATUS_FAILED, fmt, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errnum));
	return -1;
}

int error_usage(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(err, STATUS_USAGE, fmt, args);
	va_end(args);
	return -1;
}
