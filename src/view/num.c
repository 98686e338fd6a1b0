// SPDX-License-Identifier: MIT
#include "view/num.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct num num_count(uint64_t n)
{
	struct num digits, out;
	int len = snprintf(digits.s, sizeof(digits.s), "%" PRIu64, n);
	int at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out.s[at++] = ',';
		out.s[at++] = digits.s[i];
	}
	out.s[at] = '\0';
	return out;
}

struct num num_of(uint64_t n, const char *noun)
{
	struct num out;

	snprintf(out.s, sizeof(out.s), "%.18s %.12s%s", num_count(n).s, noun, n == 1 ? "" : "s");
	return out;
}

/* Decimals that leave three significant digits; the limits are where rounding adds a digit. */
static int decimals(double v)
{
	if (v < 9.995)
		return 2;
	return v < 99.95 ? 1 : 0;
}

static struct num scaled(double v, double step, const char *const *units, int nr)
{
	struct num out;
	int unit = 0;

	while (unit + 1 < nr && v >= (unit ? step - step / 2000 : step)) {
		v /= step;
		unit++;
	}
	snprintf(out.s, sizeof(out.s), "%.*f %s", unit ? decimals(v) : 0, v, units[unit]);
	return out;
}

struct num num_ns(double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(ns, 1000, units, 4);
}

struct num num_bytes(double n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

	return scaled(n, 1024, units, 6);
}

struct num num_share(double part)
{
	struct num out;
	double percent = part * 100;

	if (percent > 0 && percent < 0.05)
		snprintf(out.s, sizeof(out.s), "<0.1 %%");
	else if (percent < 99.95)
		snprintf(out.s, sizeof(out.s), "%.1f %%", percent);
	else
		snprintf(out.s, sizeof(out.s), "%.0f %%", percent);
	return out;
}

struct num num_real(double n)
{
	struct num out;

	if (n >= 999.5)
		return num_count((uint64_t)llround(n));
	snprintf(out.s, sizeof(out.s), "%.*f", decimals(n), n);
	return out;
}
