// SPDX-License-Identifier: MIT
#include "view/role.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum match {
	AT_START,
	ANYWHERE,
};

struct role {
	const char *text;
	enum match match;
	const char *role;
};

/* The first row that matches decides. In a kworker's name the work may follow a + or -; the kernel's
 * own comm mostly lacks it (it is only added in /proc/PID/comm), hence "worker" as the last resort. */
static const struct role roles[] = {
	{ "+flush-", ANYWHERE, "writeback" },   { "-flush-", ANYWHERE, "writeback" },
	{ "writeback", ANYWHERE, "writeback" }, { "flush-", AT_START, "writeback" },
	{ "pdflush", AT_START, "writeback" },   { "bdi-default", AT_START, "writeback" },
	{ "jbd2/", AT_START, "journal" },       { "kjournald", AT_START, "journal" },
	{ "xfsaild", AT_START, "journal" },     { "xfslogd", AT_START, "journal" },
	{ "xfs-log", ANYWHERE, "journal" },     { "xfs-cil", ANYWHERE, "journal" },
	{ "xfs-sync", ANYWHERE, "journal" },    { "btrfs-transacti", AT_START, "journal" },
	{ "txg_sync", AT_START, "journal" },    { "f2fs_ckpt", AT_START, "journal" },
	{ "dmcrypt_write", AT_START, "crypt" }, { "kcryptd", ANYWHERE, "crypt" },
	{ "btrfs-", ANYWHERE, "writeback" },    { "f2fs_", AT_START, "writeback" },
	{ "kswapd", AT_START, "reclaim" },      { "kworker/", AT_START, "worker" },
	{ "kthreadd", AT_START, "kernel" },     { "ksoftirqd/", AT_START, "kernel" },
	{ "swapper", AT_START, "kernel" },      { "migration/", AT_START, "kernel" },
	{ "irq/", AT_START, "kernel" },         { "scsi_eh_", AT_START, "kernel" },
	{ "kblockd", AT_START, "kernel" },      { "khugepaged", AT_START, "kernel" },
	{ "ext4lazyinit", AT_START, "kernel" }, { "nvme-", AT_START, "kernel" },
	{ "kcompactd", AT_START, "reclaim" },   { "<idle>", AT_START, "kernel" },
};

/* "md0_raid1", "md127_resync", "loop12": a word, digits, and what must follow. */
static bool numbered(const char *comm, const char *word, char then)
{
	size_t len = strlen(word);

	if (strncmp(comm, word, len) || !isdigit((unsigned char)comm[len]))
		return false;
	while (isdigit((unsigned char)comm[len]))
		len++;
	return comm[len] == then;
}

const char *role_of(const char *comm)
{
	if (!comm || !*comm)
		return "unknown";
	if (numbered(comm, "md", '_'))
		return "raid";
	if (numbered(comm, "loop", '\0'))
		return "loop";
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const char *at = strstr(comm, roles[i].text);

		if (at && (roles[i].match == ANYWHERE || at == comm))
			return roles[i].role;
	}
	return "app";
}
