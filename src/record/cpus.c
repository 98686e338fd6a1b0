/* SPDX-License-Identifier: MIT */
#include "record/cpus.h"

#include <stdlib.h>

/* From "0-3,8". */
size_t online_cpus(const struct sysroot *root, int *cpus)
{
	char *text = sysroot_read(root, 1 << 16, "/sys/devices/system/cpu/online");
	size_t nr = 0;

	for (char *at = text; at && *at;) {
		long from = strtol(at, &at, 10);
		long to = *at == '-' ? strtol(at + 1, &at, 10) : from;

		for (long cpu = from; cpu <= to && nr < CPU_MAX; cpu++)
			cpus[nr++] = (int)cpu;
		if (*at != ',')
			break;
		at++;
	}
	free(text);
	if (!nr)
		cpus[nr++] = 0;
	return nr;
}
