/* SPDX-License-Identifier: MIT */
#include "base/limit.h"

void limit_raise_files(struct rlimit *old)
{
	struct rlimit most;

	*old = (struct rlimit){ 0 };
	if (getrlimit(RLIMIT_NOFILE, old))
		return;
	most = (struct rlimit){ .rlim_cur = old->rlim_max, .rlim_max = old->rlim_max };
	setrlimit(RLIMIT_NOFILE, &most);
}

void limit_restore_files(const struct rlimit *old)
{
	if (old->rlim_max)
		setrlimit(RLIMIT_NOFILE, old);
}
