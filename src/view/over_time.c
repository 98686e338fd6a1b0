// SPDX-License-Identifier: MIT
#include "view/over_time.h"

#include <math.h>

static const char levels[] = " .:-=+*#%@";

#define TOP_LEVEL ((int)sizeof(levels) - 2)

static char level(double value, double full)
{
	int i;

	if (isnan(value))
		return '?';
	if (value <= 0 || full <= 0)
		return levels[0];
	i = (int)ceil(value / full * TOP_LEVEL - 1e-9);
	return levels[i < 1 ? 1 : i > TOP_LEVEL ? TOP_LEVEL : i];
}

/* NAN where none of them is known. */
static double mean_of(const double *values, size_t nr)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < nr; i++) {
		sum += isnan(values[i]) ? 0 : values[i];
		known += !isnan(values[i]);
	}
	return known ? sum / (double)known : (double)NAN;
}

size_t over_time_draw(const double *values, size_t nr, double *full, char *line)
{
	size_t each = (nr + OVER_TIME_MOST - 1) / OVER_TIME_MOST, drawn = 0;
	double means[OVER_TIME_MOST], largest = 0;

	for (size_t i = 0; i < nr; i += each) {
		double mean = mean_of(values + i, nr - i < each ? nr - i : each);

		largest = mean > largest ? mean : largest;
		means[drawn++] = mean;
	}
	if (*full <= 0)
		*full = largest;
	for (size_t i = 0; i < drawn; i++)
		line[i] = level(means[i], *full);
	line[drawn] = '\0';
	return each;
}
