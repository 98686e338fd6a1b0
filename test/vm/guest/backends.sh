# SPDX-License-Identifier: MIT
#
# One workload on many kinds of disks, each recorded by every backend at once.
. ./lib.sh
BACKENDS="relay tracefs"

workload() { # DEV: buffered, direct and synchronous writes, reads, a file system, discards
	dd if=/dev/zero of="$1" bs=4k count=64 oflag=direct 2>&1 | tail -n 1
	dd if=/dev/zero of="$1" bs=1M count=8 seek=4 conv=fsync 2>&1 | tail -n 1
	dd if="$1" of=/dev/null bs=128k count=32 iflag=direct 2>&1 | tail -n 1
	mkfs.ext4 -q -F "$1" && mount -t ext4 -o discard "$1" /mnt || return
	for i in $(seq 40); do
		dd if=/dev/zero of=/mnt/file$i bs=10k count=$i conv=fsync 2>/dev/null
	done
	rm -f /mnt/file1?
	sync
	umount /mnt
}

for module in dm_mod dm_crypt xts ecb aesni-intel raid1 sd_mod; do
	modprobe $module
done
recorders virtio "$(disk disk0)" workload "$(disk disk0)"
recorders nvme "$(disk disk1)" workload "$(disk disk1)"

recorders multipath "$(disk disk5)" workload "$(disk disk5)"

mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --assume-clean --metadata=1.2 "$(disk disk2)" "$(disk disk3)" 2>&1
recorders raid1 md0 workload /dev/md0
mdadm --stop /dev/md0 2>&1

sectors=$(cat "/sys/block/$(basename "$(disk disk4)")/size")
dmsetup create secret --table "0 $sectors crypt aes-xts-plain64 \
000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 0 $(disk disk4) 0 1 allow_discards"
dmsetup mknodes
recorders crypt /dev/mapper/secret workload /dev/mapper/secret
dmsetup remove secret

# A disk with bad sectors, and one that loses every 200th command: the kernel gives up after a second.
modprobe scsi_debug dev_size_mb=64 opts=2 lbpu=1
sleep 1
scsi=$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/*)")
mdev -s
failing() {
	workload "/dev/$1"
	dd if="/dev/$1" of=/dev/null bs=4k skip=580 count=8 iflag=direct 2>&1
	return 0
}
recorders errors "$scsi" failing "$scsi"
echo 1000 >"/sys/block/$scsi/queue/io_timeout"
echo 1 >"/sys/block/$scsi/device/eh_timeout" 2>/dev/null
lose() {
	echo 4 >/sys/bus/pseudo/drivers/scsi_debug/opts
	echo -40 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
	dd if=/dev/zero of="/dev/$1" bs=4k count=60 oflag=direct 2>&1 | tail -n 1
	echo 0 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
	echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
}
recorders lost "$scsi" lose "$scsi"
ls /out
