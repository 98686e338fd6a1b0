# SPDX-License-Identifier: MIT
"""What btt is to say of a trace: the tables, from its events and from the I/O they belong to (btt_read.py), as lines in
btt's layout. Names of sections and files are those of btt_parts.py."""
from btt_read import Life, dotted
from trace_build import A, C, D, F, FLUSH, G, I, M, MESSAGE, NOTIFY, P, PC, Q, R, S, U, UT, WRITE, X

NEED_BYTES = (Q, G, I, S, M, F, D, C)
COUNTED = (*NEED_BYTES, A, R, P, U, UT)
TIMES = ("Q2Q", "Q2A", "Q2G", "S2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C")
NS = 1_000_000_000


def since(start, end):
    return end - start if end > start else 1


def title(text):
    return ["=" * 20 + f" {text} " + "=" * 20, ""]


class Sum:
    """Minimum, maximum, sum and number."""

    def __init__(self):
        self.min, self.max, self.sum, self.n = None, 0, 0, 0

    def add(self, ns):
        self.min = ns if self.min is None else min(self.min, ns)
        self.max = max(self.max, ns)
        self.sum += ns
        self.n += 1

    def row(self):
        return "%13.9f %13.9f %13.9f %11d" % (self.min / NS, self.sum / NS / self.n, self.max / NS, self.n)


class Seeks:
    """Signed distances, of Qs or Ds."""

    def __init__(self, absolute):
        self.absolute, self.start, self.end, self.found = absolute, 0, 0, []

    def add(self, ev):
        start, end = ev.sector, ev.sector + ev.sectors
        if self.absolute:
            distance = start - self.end
        elif self.start <= start <= self.end or self.start <= end <= self.end:
            distance = 0
        else:
            distance = start - (self.end if start > self.start else self.start)
        self.start, self.end = start, end
        self.found.append((ev.time, distance, "w" if ev.bits & WRITE else "r"))


class Device:
    def __init__(self, number, absolute, now):
        self.number, self.first, self.last = number, now, now
        self.name, self.title = dotted(number), "(%3d,%3d)" % (number >> 20, number & 0xfffff)
        self.has_requests = self.mapped = False
        self.of = {action: [] for action in COUNTED}
        self.queued, self.issued = Seeks(absolute), Seeks(absolute)
        self.bios, self.began, self.life = [], [], []
        # Bios by their end, by their first D; events, also X.

    def remapper(self):
        return self.mapped and not self.has_requests


class Trace:
    """The events that count, by device, and the bios."""

    def __init__(self, events, names, absolute=False, no_remaps=False, window=None, delta=NS // 10, interval=NS,
                 period=NS // 10):
        self.names, self.absolute, self.no_remaps = names, absolute, no_remaps
        self.begin = window[0] if window else 0
        self.delta, self.interval, self.period = delta, interval, period  # of -d, -S and -L
        self.devices, self.events, self.messages, self.bios, self.remaps, self.life_events = {}, [], [], [], [], []
        self.last_end = 0
        self.order, self.life = {}, Life(self.told)
        for ev in events:
            if window and not window[0] <= ev.time <= window[1]:
                if not ev.bits & (PC | NOTIFY) and ev.action in (Q, A) and (ev.bytes or ev.action == A):
                    self.order.setdefault(ev.device)
            else:
                self.event(ev)
        # Rows are in the order of the first Q or A, in the window or not.
        self.devices = {number: self.devices[number] for number in self.order if number in self.devices}
        self.first, self.last = (self.events[0].time, self.events[-1].time) if self.events else (0, 0)

    def counts(self, ev):
        if ev.bits & PC or ev.action not in COUNTED or ev.action == A and self.no_remaps:
            return False
        if not ev.bytes and ev.action in NEED_BYTES:
            return False
        if ev.device not in self.devices and ev.action in (Q, A):
            self.devices[ev.device] = Device(ev.device, self.absolute, ev.time)
            self.order.setdefault(ev.device)
        return ev.device in self.devices

    def event(self, ev):
        if ev.bits & NOTIFY:
            if ev.action == MESSAGE:
                self.messages.append(ev)
            return
        counts = self.counts(ev)
        if counts:
            device = self.devices[ev.device]
            device.last = ev.time
            device.of[ev.action].append(ev)
            device.has_requests |= ev.action in (G, I, D)
            self.events.append(ev)
            if ev.action == Q:
                device.queued.add(ev)
        if ev.device in self.devices and not ev.bits & PC and (counts or ev.action == X):
            self.devices[ev.device].life.append(ev)
            self.life_events.append(ev)
        if not (ev.action == A and self.no_remaps):
            self.life.event(ev)
        if counts and ev.action == D and not ev.again:
            device.issued.add(ev)

    def told(self, what, bio, ev):
        device = self.devices.get(bio.device)
        if not device:
            return
        if what == "issued":
            device.began.append(bio)
        elif what == "remapped":
            device.mapped = True
            self.remaps.append((bio, ev))
        elif what == "ended":
            self.bios.append(bio)
            device.bios.append(bio)
            self.life_events.append(bio)
        elif what == "left":
            ev.left = True
        elif what == "request":
            self.life_events.append(bio)
            self.last_end = ev.time

    def process(self, pid, time):
        return self.names.at(pid, time)


# ---- tables of times ----

def steps(bio):
    """(name, ns) of each step of a bio, the last two if it has ended."""
    found = []
    if bio.got is not None:
        found.append(("Q2G", since(bio.queued, bio.got)))
        if bio.slept is not None:
            found.append(("S2G", since(bio.slept, bio.got)))
        if bio.inserted is not None:
            found.append(("G2I", since(bio.got, bio.inserted)))
    if bio.merged is not None:
        found.append(("Q2M", since(bio.queued, bio.merged)))
    if bio.issued is not None:
        if bio.inserted is not None:
            found.append(("I2D", since(bio.inserted, bio.issued)))
        elif bio.merged is not None:
            found.append(("M2D", since(bio.merged, bio.issued)))
        if bio.ended is not None:
            found.append(("D2C", since(bio.reissued, bio.data)))
    return found + ([("Q2C", since(bio.queued, bio.ended))] if bio.ended is not None else [])


class Times:
    """Sums by who: None (all), a device, the name of a process."""

    def __init__(self, trace):
        self.of, last = {}, {}
        for ev in (ev for ev in trace.events if ev.action == Q):
            device, name = trace.devices[ev.device], trace.process(ev.pid, ev.time)
            for who in (None, device, name):
                if who in last:
                    # Of all and of a process it is a remapper's if this Q is.
                    self.add(who, device, "Q2Q", since(last[who], ev.time))
                last[who] = ev.time
        for bio, ev in trace.remaps:
            self.charge(trace, bio, "Q2A", since(bio.queued, ev.time))
        for dev in trace.devices.values():
            ended = [bio for bio in dev.bios if not bio.unsure]
            for bio in ended or dev.began:
                for name, ns in steps(bio) if ended else [step for step in steps(bio) if step[0] not in ("D2C", "Q2C")]:
                    self.charge(trace, bio, name, ns)

    def add(self, who, device, name, ns):
        name += "dm" if device.remapper() and name in ("Q2Q", "Q2A", "Q2C") else ""
        self.of.setdefault(name, {}).setdefault(who, Sum()).add(ns)

    def charge(self, trace, bio, name, ns):
        device = trace.devices[bio.device]
        for who in (None, device, trace.process(bio.pid, bio.queued)):
            self.add(who, device, name, ns)


TABLE = ["MIN", "AVG", "MAX", "N"]
RULE = "--------------- ------------- ------------- ------------- -----------"


def table_head(name):
    return ["%15s %13s %13s %13s %11s" % (name, *TABLE), RULE]


def tables(times, rows):
    """rows: (label, key)."""
    lines = []
    for name in ("Q2Qdm", "Q2Adm", "Q2Cdm", None, *(name for name in TIMES if name != "M2D")):
        if not name:
            lines.append("")
            continue
        of = times.of.get(name, {})
        lines += table_head(name) + ["%-15s %s" % (label[:14], of[key].row()) for label, key in rows if key in of] + [""]
    return lines


def per_process(trace, times):
    names = sorted({who for of in times.of.values() for who in of if isinstance(who, str)}, key=lambda n: n.encode("latin-1"))
    return title("Per Process") + tables(times, [(name, name) for name in names])


def per_device(trace, times):
    return title("Per Device") + tables(times, [(dev.title, dev) for dev in trace.devices.values()])


def all_devices(trace, times):
    lines = title("All Devices") + table_head("ALL")
    for name in ("Q2Qdm", "Q2Adm", "Q2Cdm", None, *TIMES):
        if not name:
            lines.append("")
        elif None in times.of.get(name, {}):
            lines.append("%-15s %s" % (name, times.of[name][None].row()))
    return lines + [""]


def xvg_times(times):
    found = []
    for name in TIMES:
        one = times.of.get(name, {}).get(None)
        if one:
            found.append("%s %.9f %.9f %.9f %d" % (name, one.min / NS, one.sum / NS / one.n, one.max / NS, one.n))
    return found


# ---- the sections about devices ----

def overhead(trace, times):
    head = "%10s | %9s %9s %9s %9s %9s" % ("DEV", "Q2G", "G2I", "Q2M", "I2D", "D2C")
    rule = "---------- | --------- --------- --------- --------- ---------"
    lines, total, sums = title("Device Overhead") + [head, rule], 0, [0] * 5

    def row(label, of, whole):
        return "%10s | " % label + " ".join("%8.4f%%" % (100 * part / whole) for part in of)

    for dev in trace.devices.values():
        whole = times.of.get("Q2C", {}).get(dev)
        if whole and not dev.remapper():
            of = [times.of[name][dev].sum if dev in times.of.get(name, {}) else 0 for name in ("Q2G", "G2I", "Q2M", "I2D", "D2C")]
            lines.append(row(dev.title, of, whole.sum))
            total, sums = total + whole.sum, [a + b for a, b in zip(sums, of)]
    if total:
        lines += [rule, row("Overall", sums, total)]
    return lines + [""]


def merge_numbers(trace, dev):
    """Bios, requests, and the sizes of those that ended and moved something."""
    issued = [ev for ev in dev.of[D] if not ev.again]
    sizes = [one.end - one.start for one in trace.life.requests if one.device == dev.number and one.kind != "d"]
    return len(dev.of[Q]), len(issued), sizes


def merges(trace, _):
    head = "%10s | %8s %8s %7s | %8s %8s %8s %8s" % ("DEV", "#Q", "#D", "Ratio", "BLKmin", "BLKavg", "BLKmax", "Total")
    rule = "---------- | -------- -------- ------- | -------- -------- -------- --------"
    lines, all_q, all_d, all_sizes, xvg = title("Device Merge Information") + [head, rule], 0, 0, [], []

    def of_sizes(sizes):
        return (min(sizes), sum(sizes) // len(sizes), max(sizes), sum(sizes)) if sizes else (0, 0, 0, 0)

    def row(label, q, d, sizes):
        return "%10s | %8d %8d %7.1f | %8d %8d %8d %8d" % (label, q, d, q / d, *of_sizes(sizes))

    shown = 0
    for dev in trace.devices.values():
        q, d, sizes = merge_numbers(trace, dev)
        if q and d:
            shown += 1
            lines.append(row(dev.title, q, d, sizes))
            xvg.append("DMI %s %d %d %.9f %d %d %d %d" % (dev.name, q, d, q / d, *of_sizes(sizes)))
            all_q, all_d, all_sizes = all_q + q, all_d + d, all_sizes + sizes
    if shown > 1:
        lines += [rule, head, row("TOTAL", all_q, all_d, all_sizes)]
    return lines + [""], xvg


def median(values):
    """The lower one of two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def modes(values):
    """(how often, the values that are found so often, ascending)."""
    found = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    most = max(found.values())
    return most, sorted(value for value, n in found.items() if n == most)


def mode_text(most, of):
    text = f"{of[0]}({most})"
    if len(of) == 2:
        return [f"{text} {of[1]}"]
    return [text] if len(of) == 1 else [text, " " * 63 + f"...({len(of) - 1} more)"]


def seeks(trace, which):
    """which: "Q2Q" or "D2D"."""
    head = "%10s | %15s %15s %15s | %-15s" % ("DEV", "NSEEKS", "MEAN", "MEDIAN", "MODE")
    rule = "---------- | --------------- --------------- --------------- | ---------------"
    lines, xvg, every, per_device = title(f"Device {which} Seek Information") + [head, rule], [], [], []

    def row(label, values, middle):
        most, of = modes(values)
        text = mode_text(most, of)
        mean = sum(values) / len(values)
        return ["%10s | %15d %15.1f %15d | %s" % (label, len(values), mean, middle, text[0]), *text[1:]], mean, most, of

    for dev in trace.devices.values():
        values = [abs(distance) for _, distance, _ in (dev.queued if which == "Q2Q" else dev.issued).found]
        if not values:
            continue
        middle = median(values)
        shown, mean, most, of = row(dev.title, values, middle)
        lines += shown
        xvg.append(" ".join(["QSK" if which == "Q2Q" else "DSK", dev.name, str(len(values)), "%.9f" % mean, str(middle), str(of[0]),
                             str(most), *map(str, of[1:])]))
        every += values
        per_device.append(middle)
    if every:
        lines += [rule, head.replace("       DEV", "   Overall")]
        lines += average(every)
    return lines + [""], xvg


def average(values):
    """Of all devices: one mode, and if there are more an empty line behind their number."""
    most, of = modes(values)
    lines = ["%10s | %15d %15.1f %15d | %d(%d)" % ("Average", len(values), sum(values) / len(values), median(values), of[0], most)]
    return lines + ([" " * 63 + f"...({len(of) - 1} more)", ""] if len(of) > 1 else [])


def plugged(trace, dev):
    """(ns in which some thread had a plug, how many ended by U, by UT). A plug ends at the thread's U or UT. Where none comes
    before its next Q or P, it ended when the thread first inserted or issued a request, or one that it got but did not insert
    was issued; else at an unknown time."""
    steps = [(bio.issued, 1, bio.pid) for bio in dev.began if bio.inserted is None and not bio.preflush]
    steps += [(ev.time, 0, ev) for ev in trace.events if ev.action == Q or ev.device == dev.number and ev.action in (P, U, UT, I, D)]
    open_plugs, found, ends = {}, [], {U: 0, UT: 0}

    def end(pid, how=U, now=None):
        if pid in open_plugs:
            begin, left = open_plugs.pop(pid)
            ends[how] += 1
            if now is not None or left is not None:
                found.append((begin, left if now is None else now))

    for now, _, what in sorted(steps, key=lambda step: step[:2]):
        pid = what if isinstance(what, int) else what.pid
        if isinstance(what, int) or what.action in (I, D) and not what.bits & FLUSH:
            if pid in open_plugs and open_plugs[pid][1] is None:
                open_plugs[pid] = open_plugs[pid][0], now
        elif what.action == P:
            end(pid)
            open_plugs[pid] = now, None
        elif what.action == Q and open_plugs.get(pid, (0, None))[1] is not None:
            end(pid)
        elif what.action in (U, UT):
            end(pid, what.action, now)
    for pid in list(open_plugs):
        end(pid)
    return sum(to - fro for fro, to in union(found)), ends[U], ends[UT]


def count_of(ev):
    return int.from_bytes(ev.pdu[:8], "big")


def plugs(trace, _):
    head = "%10s | %10s %10s  | %16s" % ("DEV", "# Plugs", "# Timer Us", "% Time Q Plugged")
    rule = "---------- | ---------- ----------  | ----------------"
    second, under = "%10s | %10s   %10s" % ("DEV", "IOs/Unp", "IOs/Unp(to)"), "---------- | ----------   ----------"
    first_rows, second_rows, xvg_first, xvg_second, of, sums = [], [], [], [], [], [0, 0, 0, 0]
    for dev in trace.devices.values():
        total, u, ut = plugged(trace, dev)
        counts = [[count_of(ev) for ev in dev.of[kind]] for kind in (U, UT)]
        if u + ut:
            share = 100 * total / (dev.last - dev.first)
            of.append((u, ut, total, dev.last - dev.first))
            first_rows.append("%10s | %10d(%10d) | %13.9f%%" % (dev.title, u, ut, share))
            xvg_first.append("PLG %s %d %d %.9f" % (dev.name, u, ut, share))
        per = [sum(one) / len(one) if one else 0 for one in counts]
        second_rows.append("%10s | %10.1f   %10.1f" % (dev.title, *per))
        xvg_second.append("UPG %s %.9f %.9f" % (dev.name, *per))
        sums = [a + b for a, b in zip(sums, (sum(counts[0]), len(counts[0]), sum(counts[1]), len(counts[1])))]
    lines = title("Plug Information") + [head, rule, *first_rows]
    if len(of) > 1:
        lines += [rule, head.replace("       DEV", "   Overall"),
                  "%10s | %10d(%10d) | %13.9f%%" % ("Average", *(sum(one[i] for one in of) // len(of) for i in (0, 1)),
                                                    100 * sum(one[2] for one in of) / sum(one[3] for one in of))]
    lines += ["", second, under, *second_rows]
    if sums[1] + sums[3]:
        lines += [under, second.replace("       DEV", "   Overall"), "%10s | %10.1f   %10.1f" % (
            "Average", sums[0] / sums[1] if sums[1] else 0, sums[2] / sums[3] if sums[3] else 0)]
    return lines + [""], xvg_first + xvg_second


def active(trace, _):
    head = "%10s | %13s" % ("DEV", "Avg Reqs @ Q")
    lines, xvg, n, total, shown = title("Active Requests At Q Information") + [head, "---------- | -------------"], [], 0, 0, 0
    for dev in trace.devices.values():
        if dev.remapper() or not dev.of[Q]:
            continue
        # What gets no D by itself: a merge, or the end of a bio that had none.
        steps = [(ev.time, ev.action) for ev in dev.life if ev.action in (Q, R, X, M, F, D)]
        steps += [(bio.ended, D) for bio in dev.bios if bio.issued is None and bio.merged is None and bio.ended is not None]
        depth, found = 0, 0
        for _, action in sorted(steps, key=lambda step: step[0]):
            found += depth if action == Q else 0
            depth = depth + 1 if action in (Q, R, X) else max(0, depth - 1)
        queued = len(dev.of[Q])
        lines.append("%10s | %13.1f" % (dev.title, found / queued))
        xvg.append("ARQ %s %.9f" % (dev.name, found / queued))
        n, total, shown = n + queued, total + found, shown + 1
    if shown > 1:
        lines += ["---------- | -------------", "%10s | %13s" % ("Overall", "Avgs Reqs @ Q"), "%10s | %13.1f" % ("Average", total / n)]
    return lines + [""], xvg


def union(of):
    found = []
    for start, end in sorted(of):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def spans(bios):
    """When any was at the device: [(from, to)], touching ones as one."""
    return union((bio.reissued, bio.data) for bio in bios if bio.issued is not None and not bio.unsure)


def live_periods(trace, _):
    head = "%10s | %10s %13s %13s %6s" % ("DEV", "# Live", "Avg. Act", "Avg. !Act", "% Live")
    rule = "---------- | ---------- ------------- ------------- ------"
    lines = title("I/O Active Period Information") + [head, rule]

    def row(label, of):
        total, n = sum(end - start for start, end in of), len(of)
        gaps = of[-1][1] - of[0][0] - total if of else 0
        whole = of[-1][1] - trace.first if of else 0
        return "%10s | %10d %13.9f %13.9f %6.2f" % (label, n, total / n / NS if n else 0, gaps / (n - 1) / NS if n > 1 else 0,
                                                    100 * total / whole if whole else 0)

    for dev in trace.devices.values():
        lines.append(row(dev.title, spans(dev.bios)))
    return lines + [rule, row("Total Sys", spans(trace.bios)), ""], []


BUCKETS_MS = (5, 10, 25, 50, 75, 100, 250, 500, 1000)
LABELS = ("<.005", "<.010", "<.025", "<.050", "<.075", "<.100", "<.250", "<.500", "< 1.0", ">=1.0")


def histogram(trace, _):
    ruled = " ".join(["====="] * 10) + " "
    lines = title("Q2D Histogram") + ["%10s | " % "DEV" + " ".join(LABELS), " --------- | " + ruled]
    total = [0] * 10

    def row(label, of):
        return "%10s | " % label + "".join("%5.1f " % (100 * n / sum(of)) for n in of)

    for dev in trace.devices.values():
        of = [0] * 10
        for bio in dev.began:
            ms = max(0, bio.issued - bio.queued) // 1_000_000
            of[next((i for i, limit in enumerate(BUCKETS_MS) if ms < limit), 9)] += 1
        if sum(of):
            lines.append(row(dev.title, of))
            total = [a + b for a, b in zip(total, of)]
    if sum(total):
        lines += ["========== | " + ruled, row("AVG", total)]
    return lines + [""], []


def sections(trace):
    """{section: lines} of -A, and the lines of .xvg by record."""
    times, xvg = Times(trace), {}
    found = {"Per Process": per_process(trace, times), "Per Device": per_device(trace, times),
             "All Devices": all_devices(trace, times), "Device Overhead": overhead(trace, times)}
    lines = xvg_times(times)
    for name, make, how in (("Device Merge Information", merges, None), ("Device Q2Q Seek Information", seeks, "Q2Q"),
                            ("Device D2D Seek Information", seeks, "D2D"), ("Plug Information", plugs, None),
                            ("Active Requests At Q Information", active, None),
                            ("I/O Active Period Information", live_periods, None), ("Q2D Histogram", histogram, None)):
        found[name], more = make(trace, how)
        lines += more
    for line in lines:
        xvg.setdefault(line.split()[0], []).append(line)
    return found, xvg
