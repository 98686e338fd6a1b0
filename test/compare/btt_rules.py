# SPDX-License-Identifier: MIT
"""The differences of doc/btt-differences.md, each as narrow as it can be told: in which kinds of output, in which traces.

A rule with `mask` explains lines that are the same after it; one without explains lines of I/O that the classic joins
wrongly: ours are then to be those of btt_expect.py and btt_plots.py, which every rule asks for where they know the kind."""
import bisect
import re

from trace_build import C, D, DISCARD, F, FS, M, P, PC, Q, R, U, UT, X

OF_BIOS = ("Per Process", "Per Device", "All Devices", "Device Overhead", "I/O Active Period Information", "Q2D Histogram",
           "d2c", "q2c", "q2d", "q2d_plat", "q2c_plat", "d2c_plat", "per I/O", "pit", "live", "iostat",
           *(f"xvg {name}" for name in ("Q2A", "Q2G", "S2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C")))
SEEKS = ("Device Q2Q Seek Information", "Device D2D Seek Information", "xvg QSK", "xvg DSK")
BY_PROCESS = ("Per Process", "ranges")


class Facts:
    """What there is in a trace that the classic is known to get wrong."""

    def __init__(self, trace, events, names):
        actions = {ev.action for ev in events if not ev.bits & PC}
        self.splits, self.requeues = X in actions, R in actions
        self.fronts = F in actions
        self.merges = bool(actions & {M, F})
        self.request_merges = any(ev.action in (M, F) and ev.bits & FS for ev in events)
        self.overlaps = self.find_overlaps(trace)
        self.flushes = any(bio.data != bio.ended for bio in trace.life.all)
        self.open = any(bio.ended is None for bio in trace.life.all)
        self.part_ends = trace.life.part_ends
        self.partial = any(bio.cut for bio in trace.life.all)
        self.joined = any(len(bio.done) > 1 for bio in trace.life.all)
        told = [[name for _, name in notes] for notes in names.told.values()]
        self.slashes = any("/" in name for of in told for name in of)
        self.renamed = any(len(set(of)) > 1 for of in told)
        self.majors = any((dev.number >> 20 in (9, 253, 254)) != dev.remapper() for dev in trace.devices.values())
        self.remappers = any(dev.remapper() for dev in trace.devices.values())
        self.left_plugged = any(self.is_left_plugged(trace, dev) for dev in trace.devices.values())
        self.tiny = any(ev.bytes < 512 and ev.action in (Q, D) for ev in trace.events if ev.bytes)
        self.many = len(trace.devices) > 1
        self.discards = any(ev.bits & DISCARD for ev in trace.events if ev.action == C)
        self.no_name = any(ev.pid not in names.told for ev in trace.events)
        self.unissued = any(bio.ended is not None and bio.issued is None for bio in trace.life.all)
        self.mapped_disks = any(bio.ended is not None and bio.issued is None and not trace.devices[bio.device].remapper()
                                for bio in trace.life.all if bio.device in trace.devices)
        self.ends_with_plug = any(ev.time == trace.devices[ev.device].last and ev.action in (P, U, UT) for ev in trace.events)
        self.plugs_of_others = self.find_plugs_of_others(trace)

    @staticmethod
    def find_overlaps(trace):
        """Were two bios that touch each other's sectors on their way at once?"""
        moments = []
        for nr, bio in enumerate(trace.life.all):
            moments.append((bio.queued, 1, nr, bio))
            moments.append((float("inf") if bio.data is None else bio.data, 0, nr, bio))
        open_by_start = {}
        for _, begins, nr, bio in sorted(moments, key=lambda moment: moment[:3]):
            of = open_by_start.setdefault(bio.device, [])
            key = (bio.sector, bio.sector + bio.sectors, nr)
            if not begins:
                if key in of:
                    of.remove(key)
                continue
            at = bisect.bisect(of, key)
            if any(start < key[1] and end > key[0] for start, end, _ in of[max(0, at - 40):at + 1]):
                return True
            of.insert(at, key)
        return False

    @staticmethod
    def find_plugs_of_others(trace):
        """Did a thread plug a device while another one's plug was open, or end another one's?"""
        open_plug = {}
        for ev in trace.events:
            if ev.action in (P, U, UT) and open_plug.get(ev.device, ev.pid) != ev.pid:
                return True
            if ev.action == P:
                open_plug[ev.device] = ev.pid
            elif ev.action in (U, UT):
                open_plug.pop(ev.device, None)
        return False

    @staticmethod
    def is_left_plugged(trace, dev):
        plugged = False
        for ev in trace.events:
            if ev.device == dev.number and ev.action in (P, U, UT):
                if ev.action == P and plugged:
                    return True
                plugged = ev.action == P
        return plugged


class Rule:
    def __init__(self, name, kinds, when=lambda facts, use: True, mask=None, in_document=False):
        """in_document: it is shown right there only, the independent reading does not know it."""
        self.name, self.kinds, self.when, self.mask, self.in_document = name, kinds, when, mask, in_document


def has(*names):
    return lambda facts, use: any(getattr(facts, name) for name in names)


def replaced(*pairs, lines_with=""):
    """Lines in which the groups of these patterns are hidden (only in lines with that text)."""
    compiled = [re.compile(pattern) for pattern in pairs]

    def hide(match):
        text, begin = match[0], match.start()
        for nr in range(match.re.groups, 0, -1):
            if match[nr] is not None:
                text = text[:match.start(nr) - begin] + "*" + text[match.end(nr) - begin:]
        return text

    def mask(lines):
        found = []
        for line in lines:
            for pattern in compiled if lines_with in line else ():
                line = pattern.sub(hide, line)
            found.append(line)
        return found
    return mask


def modes_in_any_order(lines):
    """One of several modes is shown, or two in any order."""
    found = []
    for nr, line in enumerate(lines):
        two = re.fullmatch(r"(.*\| )(\d+)(\(\d+\)) (\d+)", line)
        words = line.split()
        if two:
            line = two[1] + two[3] + " ".join(sorted((two[2], two[4]), key=int))
        elif words and words[0] in ("QSK", "DSK"):
            line = " ".join(words[:5] + [words[6]] + sorted([words[5], *words[7:]], key=int))
        elif nr + 1 < len(lines) and lines[nr + 1].endswith(" more)"):
            line = re.sub(r"\| \d+\(", "| *(", line)
        found.append(line)
    return found


def sorted_blocks(lines):
    """Of -p: the bios of one C in any order."""
    found, block, group = [], [], []
    for line in lines:
        if line.startswith("-----"):
            found += sorted(group) + [[line]]
            group = []
        else:
            block.append(line)
            if not line:
                group.append(block)
                block = []
    return [line for of in found + sorted(group) for line in of]


def sorted_queues(lines):
    return [" ".join(sorted(parts[0].split())) + " |" + "|".join(parts[1:]) for parts in (line.split("|") for line in lines)]


ACTIVE, MERGES, PLUGS = "I/O Active Period Information", "Device Merge Information", "Plug Information"
JOINED = has("splits", "overlaps", "partial", "request_merges")
ROW = r"\| +\d+ +[\d.]+( +\d+) \|"  # of seeks, its median

RULES = [
    # ---- what is joined wrongly ----
    Rule("split", OF_BIOS, has("splits")),
    Rule("overlap", OF_BIOS, has("overlaps")),
    Rule("parts", (*OF_BIOS, MERGES, "xvg DMI"), has("partial")),
    Rule("parts", ("depth",), has("part_ends")),
    Rule("fua", ("Per Process", "Per Device", "All Devices", "Device Overhead", "xvg Q2C", "q2c", "q2c_plat", "d2c", "d2c_plat", "per I/O", "pit"), has("flushes")),
    Rule("requeue", (*OF_BIOS, *SEEKS, MERGES, "xvg DMI", "Active Requests At Q Information", "xvg ARQ", "depth", "blocks",
                     "d2d seeks", "dhist"), has("requeues")),
    Rule("front", OF_BIOS, has("fronts")),
    Rule("request-merge", OF_BIOS, has("request_merges")),
    Rule("unended", OF_BIOS, lambda facts, use: facts.open or "-T" in use.text),
    Rule("no-issue", ("pit",), has("unissued"), mask=replaced(r"\|( 1266874889\.709551615 | *)\|")),
    Rule("discards", ("mbps_fp", "iostat"), has("discards")),
    Rule("iostat", ("iostat",)),
    Rule("order", ("q2c", "q2d"), has("merges"), mask=sorted),
    Rule("order", ("q2c_plat",), has("merges")),
    Rule("order", ("per I/O",), has("merges"), mask=sorted_blocks),
    Rule("order", ("pit",), has("merges"), mask=sorted_queues),
    Rule("majors", (*OF_BIOS, "xvg Q2Q", "Active Requests At Q Information", "xvg ARQ", "qhist", "dhist"), has("majors")),
    # ---- what is counted otherwise ----
    Rule("names", BY_PROCESS, has("slashes", "renamed", "no_name")),
    Rule("split-waits", ("Active Requests At Q Information", "xvg ARQ"), has("splits")),
    Rule("sizes", (MERGES, "xvg DMI"), lambda facts, use: facts.discards or facts.part_ends
         or facts.open or facts.mapped_disks or "-T" in use.text, mask=replaced(
        r"(?<=\|)( +\d+ +\d+ +\d+ +\d+)$", r"^DMI \S+ \d+ \d+ \S+ (.*)$")),
    Rule("median", SEEKS, mask=replaced(ROW, r"^[QD]SK \S+ \d+ \S+ (\d+)")),
    Rule("modes", SEEKS, mask=modes_in_any_order),
    Rule("overall", (*SEEKS, PLUGS), has("many"), mask=replaced(r"(\|.*)$", lines_with="   Average |")),
    Rule("plugs", (PLUGS, "xvg PLG", "xvg UPG"), has("left_plugged", "plugs_of_others")),
    Rule("gaps", (ACTIVE,), mask=replaced(r"\| +1( .*)$", r"\| +\d+ +[\d.]+( +[\d.]+)")),
    Rule("plug-span", (PLUGS, "xvg PLG"), has("ends_with_plug"), mask=replaced(r"( +[\d.]+)%$", r"^PLG .* (\S+)$")),
    Rule("tiny", ("qhist", "dhist"), has("tiny"), mask=replaced(r"^ +1 (\d+)$")),
    Rule("tiny", (*OF_BIOS, "mbps_fp"), has("tiny"), in_document=True),
    Rule("waits-of-mapped", ("Active Requests At Q Information", "xvg ARQ", "depth"), has("mapped_disks")),
    Rule("window", (ACTIVE, PLUGS, "xvg PLG", "xvg UPG", "live", "iostat", "depth", "Active Requests At Q Information", "xvg ARQ"),
         lambda facts, use: "-t" in use.text),
]
