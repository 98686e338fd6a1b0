# SPDX-License-Identifier: MIT
"""The traces that btt is compared on, and with which options."""
import os
import shlex
import struct
import tarfile
from pathlib import Path

import btt_gen
import btt_cases
from trace_build import files


class Use:
    def __init__(self, name, text, reading=None):
        """reading: how the independent reading is told of it; None: it does not know these options."""
        self.name, self.text, self.reading = name, text, reading

    def words(self, work):
        return [word.replace("@work", str(work)) for word in shlex.split(self.text)]


EVERYTHING = "-B blk -l d2c -q q2c -z q2d -s seek -m mseek -Q aqd -u unp -p pio -P x -Z -I iostat -L 0.1"
ALL = Use("all", f"-o o -A -X {EVERYTHING}", {})
STDOUT = Use("stdout", "-A", {})
SOME = [ALL, STDOUT]
MORE = [
    Use("absolute", f"-o o -a -A -X {EVERYTHING}", {"absolute": True}),
    Use("no-remaps", f"-o o -r -A -X {EVERYTHING}", {"no_remaps": True}),
    Use("window", f"-o o -t 0.5 -T 2.5 -A -X {EVERYTHING}", {"window": (500_000_000, 2_500_000_000)}),
    Use("end", f"-o o -T 1 {EVERYTHING}", {"window": (0, 1_000_000_000)}),
    Use("tables", "-o o"),
    Use("one-device", f"-o o -A -X -D 8,0 {EVERYTHING}".replace("-I iostat", "")),
    Use("one-process", "-A -e fio"),
    Use("two-processes", "-A -e sync,dd"),
    Use("no-process", "-A -e ''"),
    Use("intervals", "-o o -A -d 0.01 -S 2 -I iostat -L 0.5", {"delta": 10_000_000, "interval": 2_000_000_000,
                                                                "period": 500_000_000}),
    Use("map", f"-o o -A -X -M @work/map {EVERYTHING}".replace("-I iostat", "")),
    Use("long", "--all-data --output-file=o --easy-parse-avgs --seek-absolute --range-delta=0.5 --dump-blocknos=blk "
        "--iostat=iostat --iostat-interval=3 --d2c-latencies=d2c --q2c-latencies=q2c --q2d-latencies=q2d "
        "--periodic-latencies=0.2 --per-io-dump=pio --per-io-trees=x --active-queue-depth=aqd --seeks=seek "
        "--seeks-per-second=mseek --unplug-hist=unp --no-remaps --time-end=100",
        {"absolute": True, "no_remaps": True, "window": (0, 100_000_000_000), "delta": 500_000_000, "interval": 3_000_000_000,
         "period": 200_000_000}),
]


class Stored:
    def __init__(self, name, content, bases, uses):
        self.name, self.files, self.bases, self.uses = name, {path: bytes(data) for path, data in content.items()}, bases, uses


def patched(data, majors, to=8):
    """With other major numbers, also in the payload of remaps."""
    data, at = bytearray(data), 0
    while at + 48 <= len(data):
        dev, = struct.unpack_from("<I", data, at + 36)
        action, length = *struct.unpack_from("<I", data, at + 28), *struct.unpack_from("<H", data, at + 46)
        if dev >> 20 in majors:
            struct.pack_into("<I", data, at + 36, to << 20 | dev & 0xfffff)
        if action & 0xffff == 15 and length == 16:
            for where in (at + 48, at + 52):  # from and to
                one, = struct.unpack_from(">I", data, where)
                if one >> 20 in majors:
                    struct.pack_into(">I", data, where, to << 20 | one & 0xfffff)
        at += 48 + length
    return bytes(data)


def recording(archive):
    """{base: {file: bytes}}"""
    found = {}
    with tarfile.open(Path("test/data") / f"{archive}.tar.xz") as tar:
        for member in tar:
            name = os.path.basename(member.name)
            if ".blktrace." in name:
                found.setdefault(name.split(".")[0], {})[name] = tar.extractfile(member).read()
    return found


def head(data, nr):
    at = 0
    while at < len(data) and nr:
        at += 48 + struct.unpack_from("<H", data, at + 46)[0]
        nr -= 1
    return data[:at]


def recordings(everything):
    found = []

    def add(name, content, bases, uses):
        found.append(Stored(name, content, bases, uses))

    scsi = recording("scsi")
    add("scsi", scsi["sda"], ["sda"], SOME + MORE[:3] if everything else [ALL])
    raid = {file: patched(data, (253, 254)) for of in recording("raid").values() for file, data in of.items()}
    add("raid", raid, ["md0", "vdd", "vde"], SOME + MORE[:3] if everything else [ALL])
    for archive in ("ddsync", "sample", "pair"):
        for base, content in recording(archive).items():
            name = archive if archive != "pair" else f"pair-{base}"
            content = {file: patched(data, (253, 254)) for file, data in content.items()}
            if not everything and archive != "ddsync":
                content = {file: head(data, 6000) for file, data in content.items()}
            add(name, content, [base], SOME + MORE[:3] if everything else [ALL])
    content = recording("ddsync")["vda"]
    add("majors-unpatched", {file: head(data, 1500) for file, data in content.items()}, ["vda"], [ALL])
    return found


def generated():
    found = []
    for name, history in btt_gen.HISTORIES.items():
        found.append(Stored(name, files(history()), ["sda"], SOME + MORE if name in ("plain", "mapped") else SOME))
    return found


def everything(whole):
    # The independent reading does not know of I/O of less than a sector.
    cases = [Stored(f"case-{name}", make(), ["sda"], [Use("all", ALL.text)] if name == "tiny" else SOME) for name, make in btt_cases.CASES.items()]
    return generated() + recordings(whole) + cases
