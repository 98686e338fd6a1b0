// SPDX-License-Identifier: MIT
//
// Which devices are recorded, and by which filters: over a fake /sys with a dm device on a partition
// and a whole disk, which few machines have at hand.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "record/block_events.h"
#include "record/devices.h"
#include "record/snapshot.h"
#include "trace/event.h"

struct fake {
	char dir[64];
	struct sysroot root;
};

static void make_dirs(const char *path)
{
	char *copy = mem_strdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
}

static void put(const struct fake *fake, const char *path, const char *text)
{
	char *full = mem_printf("%s%s", fake->dir, path);
	FILE *file;

	make_dirs(full);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(full);
}

static void put_link(const struct fake *fake, const char *path, const char *target)
{
	char *full = mem_printf("%s%s", fake->dir, path);
	char *to = mem_printf("%s%s", fake->dir, target);

	make_dirs(full);
	assert_int_equal(symlink(to, full), 0);
	free(to);
	free(full);
}

static void put_device(const struct fake *fake, const char *dir, const char *name, const char *dev)
{
	char *path = mem_printf("%s/dev", dir);
	char *number = mem_printf("/sys/dev/block/%s", dev);
	char *class = mem_printf("/sys/class/block/%s", name);
	char *text = mem_printf("%s\n", dev);

	put(fake, path, text);
	put_link(fake, number, dir);
	put_link(fake, class, dir);
	free(text);
	free(class);
	free(number);
	free(path);
}

/* sda with sda1 and sda2; sdb; dm-0 on sda2 and sdb; dm-1 on dm-0. */
static int set_up(void **state)
{
	struct fake *fake = mem_zalloc(sizeof(*fake));

	strcpy(fake->dir, "/tmp/blklab-unit-XXXXXX");
	assert_non_null(mkdtemp(fake->dir));
	fake->root.prefix = fake->dir;
	put_device(fake, "/sys/devices/sda", "sda", "8:0");
	put(fake, "/sys/devices/sda/mq/0/x", "");
	put(fake, "/sys/devices/sda/queue/write_cache", "write back\n");
	put(fake, "/sys/devices/sda/queue/fua", "1\n");
	put_device(fake, "/sys/devices/sda/sda1", "sda1", "8:1");
	put(fake, "/sys/devices/sda/sda1/partition", "1\n");
	put(fake, "/sys/devices/sda/sda1/start", "2048\n");
	put(fake, "/sys/devices/sda/sda1/size", "1000\n");
	put_device(fake, "/sys/devices/sda/sda2", "sda2", "259:3");
	put(fake, "/sys/devices/sda/sda2/partition", "2\n");
	put(fake, "/sys/devices/sda/sda2/start", "5000\n");
	put(fake, "/sys/devices/sda/sda2/size", "100\n");
	put_device(fake, "/sys/devices/sdb", "sdb", "8:16");
	put(fake, "/sys/devices/sdb/mq/0/x", "");
	put_device(fake, "/sys/devices/dm-0", "dm-0", "253:0");
	put(fake, "/sys/devices/dm-0/queue/x", "");
	put_link(fake, "/sys/devices/dm-0/slaves/sda2", "/sys/devices/sda/sda2");
	put_link(fake, "/sys/devices/dm-0/slaves/sdb", "/sys/devices/sdb");
	put_device(fake, "/sys/devices/dm-1", "dm-1", "253:1");
	put(fake, "/sys/devices/dm-1/queue/x", "");
	put_link(fake, "/sys/devices/dm-1/slaves/dm-0", "/sys/devices/dm-0");
	put_link(fake, "/sys/block/sda", "/sys/devices/sda");
	put_link(fake, "/sys/block/sdb", "/sys/devices/sdb");
	put(fake, "/proc/self/mountinfo",
	    "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 30 0:5 / /tmp rw - tmpfs tmpfs rw\n");
	put(fake, "/proc/sys/vm/dirty_ratio", "20\n");
	*state = fake;
	return 0;
}

static int tear_down(void **state)
{
	struct fake *fake = *state;
	char *command = mem_printf("rm -rf %s", fake->dir);
	int status = system(command);

	free(command);
	free(fake);
	return status;
}

static const struct rec_device *find(const struct rec_devices *devices, const char *name)
{
	for (size_t i = 0; i < devices->nr; i++)
		if (!strcmp(devices->list[i].name, name))
			return &devices->list[i];
	return NULL;
}

static void a_partition_becomes_its_disk(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };

	assert_int_equal(devices_add_named(&devices, &fake->root, "sda2", &err), 0);
	assert_int_equal(devices.nr, 1);
	assert_int_equal(devices.list[0].dev, DEVICE(8, 0));
	assert_string_equal(devices.list[0].name, "sda");
	assert_string_equal(devices.list[0].why, "disk of sda2");
	assert_int_equal(devices.list[0].part_dev, DEVICE(259, 3));
	assert_int_equal(devices.list[0].part_start, 5000);
	assert_int_equal(devices.list[0].part_sectors, 100);
	/* The same once more changes nothing; the disk takes its place. */
	assert_int_equal(devices_add_named(&devices, &fake->root, "sda2", &err), 0);
	assert_int_equal(devices.nr, 1);
	assert_int_equal(devices_add_named(&devices, &fake->root, "sda1", &err), 0);
	assert_int_equal(devices.nr, 2);
	assert_int_equal(devices_add_named(&devices, &fake->root, "sda", &err), 0);
	assert_int_equal(devices.nr, 1);
	assert_int_equal(devices.list[0].part_dev, 0);
	assert_int_equal(devices_add_named(&devices, &fake->root, "sda1", &err), 0);
	assert_int_equal(devices.nr, 1);
	devices_release(&devices);
}

static void a_stack_is_followed_to_its_leaves(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };

	assert_int_equal(devices_add_named(&devices, &fake->root, "dm-1", &err), 0);
	assert_int_equal(devices.nr, 4);
	assert_string_equal(devices.list[0].name, "dm-1");
	assert_string_equal(devices.list[1].name, "dm-0");
	assert_string_equal(find(&devices, "dm-0")->why, "slave of dm-1");
	assert_string_equal(find(&devices, "sdb")->why, "slave of dm-0");
	assert_int_equal(find(&devices, "sdb")->part_dev, 0);
	assert_int_equal(find(&devices, "sda")->part_dev, DEVICE(259, 3));
	assert_string_equal(device_kind(&fake->root, DEVICE(253, 0)), "bio");
	assert_string_equal(device_kind(&fake->root, DEVICE(8, 0)), "request");
	assert_string_equal(device_kind(&fake->root, DEVICE(9, 9)), "unknown");
	devices_release(&devices);
}

static void check_filter(enum event_place place, const struct rec_devices *devices,
			 const char *expected)
{
	char *filter = event_filter(place, devices);

	if (expected)
		assert_string_equal(filter, expected);
	else
		assert_null(filter);
	free(filter);
}

static void filters_are_those_of_the_model(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };

	assert_int_equal(devices_add_named(&devices, &fake->root, "sda1", &err), 0);
	check_filter(PLACE_RANGE, &devices,
		     "(dev == 8388608 && (nr_sector == 0 || (sector >= 2048 && sector < 3048)))");
	check_filter(PLACE_START, &devices, "(dev == 8388608 && sector >= 2048 && sector < 3048)");
	check_filter(PLACE_DEVICE, &devices, "dev == 8388608");
	check_filter(PLACE_REMAP, &devices, "old_dev == 8388609");
	check_filter(PLACE_PLUG, &devices, NULL);
	check_filter(PLACE_NONE, &devices, NULL);
	assert_int_equal(devices_add_named(&devices, &fake->root, "sdb", &err), 0);
	check_filter(PLACE_REMAP, &devices,
		     "old_dev == 8388609 || dev == 8388624 || old_dev == 8388624");
	devices_release(&devices);
}

/* Their numbers are not told: all of their major but those that are told. */
static void hidden_paths_of_an_nvme_head(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 }, other = { 0 };
	struct error err = { 0 };
	char *filter;

	put_device(fake, "/sys/devices/nvme0n1", "nvme0n1", "259:7");
	put(fake, "/sys/block/nvme0c0n1/hidden", "1\n");
	put(fake, "/sys/block/nvme1c0n1/hidden", "1\n"); /* of another head */
	assert_int_equal(devices_add_named(&other, &fake->root, "sdb", &err), 0);
	assert_false(other.hidden_paths);
	assert_int_equal(devices_add_named(&devices, &fake->root, "nvme0n1", &err), 0);
	assert_true(devices.hidden_paths);
	filter = event_filter(PLACE_RANGE, &devices);
	assert_non_null(strstr(filter, "dev == 271581191 || (dev >= 271581184 && dev < 272629760"));
	assert_non_null(strstr(filter, " && dev != 271581191"));
	assert_non_null(strstr(filter, " && dev != 271581187")); /* sda's partition 259:3 */
	free(filter);
	check_filter(PLACE_REMAP, &devices, "dev == 271581191 || old_dev == 271581191");
	devices_release(&devices);
	devices_release(&other);
}

static void what_is_no_device_is_refused(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };
	uint32_t dev;

	assert_int_equal(devices_add_named(&devices, &fake->root, "sdx", &err), -1);
	assert_string_equal(err.text, "sdx: no such device");
	assert_int_equal(devices_add_named(&devices, &fake->root, "", &err), -1);
	assert_int_equal(devices_add_named(&devices, &fake->root, "..", &err), -1);
	assert_int_equal(devices_add(&devices, &fake->root, DEVICE(9, 9), "asked", &err), -1);
	assert_string_equal(err.text, "no such device: 9:9");
	assert_int_equal(devices.nr, 0);
	assert_false(device_parse(NULL, &dev));
	assert_false(device_parse("8", &dev));
	assert_false(device_parse("x:1", &dev));
	assert_false(device_parse("4096:1", &dev));
	assert_false(device_parse("8:1048576", &dev));
	assert_true(device_parse("8:1\n", &dev));
	assert_int_equal(dev, DEVICE(8, 1));
	devices_release(&devices);
}

/* A loop device's backing file and whether its I/O goes past the page cache. */
static void meta_tells_of_loop_devices(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };
	json_t *json, *loop;

	put_device(fake, "/sys/devices/loop0", "loop0", "7:0");
	put(fake, "/sys/devices/loop0/loop/backing_file", "/var/tmp/disk\n");
	put(fake, "/sys/devices/loop0/loop/dio", "0\n");
	put_device(fake, "/sys/devices/loop1", "loop1", "7:1");
	put(fake, "/sys/devices/loop1/loop/backing_file", "/var/tmp/other\n");
	put(fake, "/sys/devices/loop1/loop/dio", "1\n");
	assert_int_equal(devices_add_named(&devices, &fake->root, "loop0", &err), 0);
	assert_int_equal(devices_add_named(&devices, &fake->root, "loop1", &err), 0);
	assert_int_equal(devices_add_named(&devices, &fake->root, "sdb", &err), 0);
	json = devices_json(&devices, &fake->root);
	loop = json_object_get(json_array_get(json, 0), "loop");
	assert_string_equal(json_string_value(json_object_get(loop, "backing_file")),
			    "/var/tmp/disk");
	assert_true(json_is_false(json_object_get(loop, "direct_io")));
	loop = json_object_get(json_array_get(json, 1), "loop");
	assert_true(json_is_true(json_object_get(loop, "direct_io")));
	assert_true(json_is_null(json_object_get(json_array_get(json, 2), "loop")));
	json_decref(json);
	devices_release(&devices);
}

static void meta_tells_what_they_are(void **state)
{
	struct fake *fake = *state;
	struct rec_devices devices = { 0 };
	struct error err = { 0 };
	json_t *json, *one;

	assert_int_equal(devices_add_named(&devices, &fake->root, "sda", &err), 0);
	json = devices_json(&devices, &fake->root);
	one = json_array_get(json, 0);
	assert_string_equal(json_string_value(json_object_get(one, "device")), "8,0");
	assert_string_equal(json_string_value(json_object_get(one, "write_cache")), "write back");
	assert_true(json_is_true(json_object_get(one, "fua")));
	assert_true(json_is_null(json_object_get(one, "partition")));
	/* The mount of its partition is one of the disk's. */
	one = json_array_get(json_object_get(one, "mounts"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "dir")), "/");
	assert_string_equal(json_string_value(json_object_get(one, "fstype")), "ext4");
	assert_string_equal(json_string_value(json_object_get(one, "device")), "8,1");
	json_decref(json);
	json = snapshot_json(&fake->root, &devices);
	assert_string_equal(json_string_value(json_object_get(json, "/proc/sys/vm/dirty_ratio")),
			    "20");
	assert_string_equal(json_string_value(json_object_get(json, "/sys/block/sda/sda2/start")),
			    "5000");
	assert_string_equal(json_string_value(
				    json_object_get(json, "/sys/block/sda/queue/write_cache")),
			    "write back");
	assert_string_equal(json_string_value(json_object_get(json, "/sys/block/sdb/dev")), "8:16");
	json_decref(json);
	devices_release(&devices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_partition_becomes_its_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stack_is_followed_to_its_leaves, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(filters_are_those_of_the_model, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hidden_paths_of_an_nvme_head, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_device_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(meta_tells_of_loop_devices, set_up, tear_down),
		cmocka_unit_test_setup_teardown(meta_tells_what_they_are, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
