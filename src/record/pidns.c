/* SPDX-License-Identifier: MIT */
#include "record/pidns.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The namespace of one process; false with errno. */
static bool inode_of(const struct sysroot *root, const char *process, uint64_t *inode)
{
	char *path = sysroot_path(root, "/proc/%s/ns/pid", process);
	struct stat st;
	bool known = !stat(path, &st);
	int errnum = errno;

	free(path);
	*inode = known ? st.st_ino : PIDNS_UNKNOWN;
	errno = errnum;
	return known;
}

uint64_t pidns_own(const struct sysroot *root)
{
	uint64_t inode;

	inode_of(root, "self", &inode);
	return inode;
}

uint64_t pidns_of_proc(const struct sysroot *root)
{
	uint64_t inode;

	/* Only /proc of the initial namespace shows a process of the initial namespace. In others,
	 * the first process is one of their own. */
	inode = pidns_own(root);
	if (inode != PIDNS_INITIAL)
		inode_of(root, "1", &inode);
	return inode;
}

/* For a process whose namespace we may not look at (it has capabilities that we lack): one that has
 * but one number is in the initial namespace. */
static bool may_be_below(const struct sysroot *root, const char *process)
{
	char *text = sysroot_read(root, 1 << 16, "/proc/%s/status", process);
	const char *numbers = text ? strstr(text, "\nNSpid:\t") : NULL;
	bool may = !numbers || numbers[8 + strcspn(numbers + 8, "\t\n")] == '\t';

	free(text);
	return may;
}

bool pidns_has_processes(const struct sysroot *root, uint64_t inode)
{
	char *path = sysroot_path(root, "/proc");
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool has = !dir;

	while (!has && (entry = readdir(dir))) {
		uint64_t theirs;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (inode_of(root, entry->d_name, &theirs))
			has = theirs == inode;
		else if (errno != ENOENT && errno != ESRCH)
			has = inode != PIDNS_INITIAL && may_be_below(root, entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(path);
	return has;
}
