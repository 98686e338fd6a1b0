/* SPDX-License-Identifier: MIT
 *
 * The bpf backend of a program that was built without it.
 */
#include <stdio.h>

#include "record/recorder.h"

static bool absent_probe(const struct sysroot *root, struct obstacle *no)
{
	snprintf(no->why, sizeof(no->why),
		 "this blklab was built without it (clang, bpftool or libbpf was missing)");
	snprintf(no->fix, sizeof(no->fix), "apt install clang bpftool libbpf-dev, and build again");
	return false;
}

const struct backend backend_bpf = {
	.name = "bpf",
	.what = "programs on the kernel's block tracepoints (BPF)",
	.filters = true,
	.probe = absent_probe,
};
