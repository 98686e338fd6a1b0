/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzzer's entry point over the files (or the files of the directories) given as arguments:
 * the corpus is a test where there is no libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, long size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data =
		malloc(size ? (size_t)size : 1); /* exact, so that ASan sees one byte more */
	size_t got;

	if (!in || !data) {
		perror(path);
		free(data);
		if (in)
			fclose(in);
		return -1;
	}
	got = fread(data, 1, (size_t)size, in);
	fclose(in);
	LLVMFuzzerTestOneInput(data, got);
	free(data);
	return 1;
}

/* How many files were run, or -1. */
static int replay(const char *path)
{
	struct stat st;
	struct dirent **list;
	int nr, files = 0;

	if (stat(path, &st)) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return replay_file(path, (long)st.st_size);
	nr = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < nr; i++) {
		char full[4096];

		snprintf(full, sizeof(full), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && files >= 0) {
			int r = replay(full);

			files = r < 0 ? -1 : files + r;
		}
		free(list[i]);
	}
	if (nr >= 0)
		free(list);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++) {
		int r = replay(argv[i]);

		if (r < 0)
			return 1;
		files += r;
	}
	printf("%d files\n", files);
	return files ? 0 : 1; /* a test over nothing would pass for ever */
}
