# SPDX-License-Identifier: MIT
"""What the plot files of btt are to hold, by the kind of file (FILES) and its name, as lines."""
from btt_expect import NS, since, spans
from btt_read import Bio, Request
from trace_build import C, D, DISCARD, F, FS, G, M, Q, R, U, WRITE, X


def letter(ev):
    return "w" if ev.bits & WRITE else "r"


def seconds(ns, digits=9):
    return "%.*f" % (digits, ns / NS)


def fingerprints(trace):
    """Per second: completions and MiB."""
    found = {}

    def put(name, events):
        of = {}
        for ev in events:
            at = of.setdefault(ev.time // NS, [0, 0])
            at[0] += 1
            at[1] += 0 if ev.bits & DISCARD else ev.bytes
        found[f"{name}_iops_fp.dat"] = [f"{second} {n}" for second, (n, _) in of.items()] or ["-1 0"]
        found[f"{name}_mbps_fp.dat"] = ["%d %.6f" % (second, size / 2**20) for second, (_, size) in of.items()] or ["-1 0.000000"]

    for dev in trace.devices.values():
        put(dev.name, dev.of[C])
    put("sys", [ev for ev in trace.events if ev.action == C])
    return found


def size_histograms(trace):
    found = {}
    for name, action, head in (("qhist", Q, ["# BTT histogram data", "# Q buckets"]), ("dhist", D, ["# D buckets"])):
        of, more = [0] * 1025, 0
        for ev in trace.events:
            if ev.action == action and not trace.devices[ev.device].remapper() and not ev.again:
                sectors = (ev.bytes + 511) // 512
                if sectors > 1024:
                    more += 1
                else:
                    of[sectors] += 1
        found[f"o_{name}.dat"] = head + ["%4d %d" % (size, of[size]) for size in range(1, 1025)] + [
            "", f"# {name[0].upper()} bucket for > 1024", f"1024 {more}"]
    return found


def by_direction(base, name, rows):
    """rows: (line, "r" or "w"): a file of each and one of all."""
    found = {f"{base}_{name}_{which}.dat": [line for line, kind in rows if which in (kind, "c")] for which in "rwc"}
    return {file: lines for file, lines in found.items() if lines}


def block_numbers(trace):
    found = {}
    for dev in trace.devices.values():
        rows = [("%15s %d %d" % (seconds(ev.time), ev.sector, ev.sector + ev.sectors), letter(ev)) for ev in dev.of[D]
                if not ev.again]
        found |= by_direction("blk", dev.name, rows)
    return found


def seek_files(trace):
    found = {}
    for dev in trace.devices.values():
        for what, of in (("q2q", dev.queued), ("d2d", dev.issued)):
            rows = [("%15s %13d %s" % (seconds(time), distance, kind), kind) for time, distance, kind in of.found]
            found |= by_direction("seek", f"{dev.name}_{what}", rows)
    return found


def samples_of(dev):
    return {"d2c": [(bio.data, since(bio.reissued, bio.data)) for bio in dev.bios if bio.issued is not None and not bio.unsure],
            "q2c": [(bio.queued, since(bio.queued, bio.ended)) for bio in dev.bios if not bio.unsure],
            "q2d": [(bio.issued, since(bio.queued, bio.issued)) for bio in dev.began]}


def latencies(trace):
    found = {}
    for dev in trace.devices.values():
        for name, samples in samples_of(dev).items():
            if samples:
                found[f"{name}_{dev.name}_{name}.dat"] = [f"{seconds(time, 6)} {seconds(ns, 6)}" for time, ns in samples]
    return found


def depth(trace):
    """+1 at each D, -1 at an R and at the C of a request's end."""
    found = {}
    for dev in trace.devices.values():
        lines, now = [], 0
        for ev in trace.events:
            if ev.device == dev.number and (ev.action == D or now and (ev.action == R and ev.bytes or ev.action == C and ev.left)):
                time, new = seconds(ev.time, 6), now + (1 if ev.action == D else -1)
                lines += [f"{time} {now}", f"{time} {new}"]
                now = new
        if lines:
            found[f"aqd_{dev.name}_aqd.dat"] = lines
    return found


def unplugs(trace):
    found = {}
    for dev in trace.devices.values():
        of = [0] * 21
        for ev in dev.of[U]:
            of[min(int.from_bytes(ev.pdu[:8], "big") // 5, 20)] += 1
        found[f"unp_{dev.name}.dat"] = [f"{bucket} {n}" for bucket, n in enumerate(of)]
    return found


def live(trace):
    found = {}

    def put(name, base, of):
        lines, before = [], trace.first
        for start, end in of:
            for time, up in ((before, 0), (start, 0), (start, 0.9), (end, 0.9), (end, 0)):
                lines.append("%s %.1f" % (seconds(time), base + up))
            before = end
        if lines:
            found[f"{name}_live.dat"] = lines

    put("sys", 0, spans(trace.bios))
    of_devices = [(dev.name, spans(dev.bios)) for dev in trace.devices.values()]
    for turn, (name, of) in enumerate(((name, of) for name, of in of_devices if of), 1):
        put(name, turn, of)
    return found


def ranges(trace):
    """The .dat file: when Qs and Cs came with gaps of less than delta."""
    lines, base = ["# Total System"], 0

    def points(events, level):
        found = []
        for ev in events:
            if found and ev.time - found[-1][1] < trace.delta:
                found[-1][1] = ev.time
            else:
                found.append([ev.time, ev.time])
        return ["%13s %5.1f" % (seconds(time), value) for start, end in found
                for time, value in ((start, level), (start, level + .4), (end, level + .4), (end, level))]

    def group(name, of):
        nonlocal base
        q, c = ([ev for ev in of if ev.action == action] for action in (Q, C))
        if q or c:
            lines.extend(["# %16s : q activity" % name, *points(q, base), "", "# %16s : c activity" % name, *points(c, base + .5), ""])
        base += 1

    events = [ev for ev in trace.events if ev.action in (Q, C)]
    group("Total System", events)
    if len(trace.devices) > 1:
        lines.append("# Per device")
        for dev in trace.devices.values():
            group(dev.name, [ev for ev in events if ev.device == dev.number])
    lines.append("# Per process")
    of = {}
    for ev in trace.events:
        of.setdefault(trace.process(ev.pid, ev.time), []).append(ev)
    for name in sorted(of, key=lambda name: name.encode("latin-1")):
        group(name, of[name])
    return {"o.dat": lines}


def periodic(trace):
    """The mean of the samples of a period: it begins with a sample, and its time is the middle of the first and the last."""
    found = {}
    for dev in trace.devices.values():
        for name, samples in samples_of(dev).items():
            lines, of = [], []
            for time, ns in [*samples, (None, None)]:
                if of and (time is None or time - of[0][0] >= trace.period):
                    lines.append("%s %s" % ("%.6f" % ((of[0][0] / NS + of[-1][0] / NS) / 2), "%.6f" % (sum(ns / NS for _, ns in of) / len(of))))
                    of = []
                of.append((time, ns))
            if samples:
                found[f"{dev.name}_{name}_plat.dat"] = lines
    return found


def per_io(trace):
    """The bios that ended at one event, with the moments that they went through."""
    lines, before = [], None
    for bio in trace.bios:
        if bio.at_end is not before:
            if before:
                lines.append("-" * 41)
            before = bio.at_end
        own, end = (bio.sector, bio.sectors), bio.at_end
        of = [(bio.queued, "Q", *own), (bio.got, "G", bio.sector, bio.got_sectors),
              (bio.inserted, "I", bio.sector, bio.got_sectors), (bio.merged, "M", *own)]
        if bio.at_issue:
            of.append((bio.reissued, "D", bio.at_issue.sector, bio.at_issue.sectors))
        of.append((bio.ended, "C", *((end.sector, end.sectors) if end.bytes else own)))
        label = "%3d,%-3d: " % (bio.device >> 20, bio.device & 0xfffff)
        for time, name, sector, sectors in of:
            if time is not None:
                lines.append("%9s%5d.%09d %s %10d+%-4d" % (label, time // NS, time % NS, name, sector, sectors))
                label = ""
        lines.append("")
    return {"pio": lines + (["-" * 41] if before else [])}


def trees(trace):
    found = {}
    for dev in trace.devices.values():
        of = {}
        for bio in dev.bios:
            of.setdefault(id(bio.at_end), []).append(bio)
        for bios in of.values():
            issued = seconds(bios[-1].reissued) if bios[-1].issued is not None else ""
            found.setdefault(f"{dev.name}_pit.dat", []).append(
                "".join(seconds(bio.queued) + " " for bio in bios) + f"| {issued} | {seconds(bios[0].ended)}")
    return found


def seeks_per_second(trace):
    """Periods of a second at least, from a Q (D) to the last one before that which begins the next."""
    found = {}
    for dev in trace.devices.values():
        for suffix, times in (("", [ev.time for ev in dev.of[Q]]), ("_d2d", [ev.time for ev in dev.of[D] if not ev.again])):
            lines, of = [], []
            for time in [*times, None]:
                if of and (time is None or time - of[0] >= NS):
                    lines.append("%15s %.2f" % (seconds(of[0]), len(of) * NS / (of[-1] - of[0]) if of[-1] > of[0] else 1))
                    of = []
                of.append(time)
            if lines:
                found[f"mseek_{dev.name}{suffix}.dat"] = lines
    return found


class Io:
    """Of iostat: of one device, in one block or in all."""

    def __init__(self):
        self.merges, self.ios, self.sectors, self.ended, self.waited, self.busy, self.area = [0, 0], [0, 0], [0, 0], 0, 0, 0, 0

    def add(self, other):
        for mine, others in ((self.merges, other.merges), (self.ios, other.ios), (self.sectors, other.sectors)):
            mine[:] = [a + b for a, b in zip(mine, others)]
        self.ended, self.waited = self.ended + other.ended, self.waited + other.waited
        self.busy, self.area = self.busy + other.busy, self.area + other.area

    def row(self, label, dt, stamp, devices=1):
        ios, rates = sum(self.ios), [*self.merges, *self.ios, *self.sectors, *(n / 2 for n in self.sectors)]
        of = [n * NS / dt if dt else 0 for n in rates]
        of += [sum(self.sectors) / ios if ios else 0, self.area / dt if dt else 0]
        of += [ns / 1e6 / self.ended if self.ended else 0 for ns in (self.waited, self.busy)]
        of.append(100 * self.busy / dt / devices if dt else 0)
        return "%-11s %8.2f %8.2f %7.2f %7.2f %9.2f %9.2f %9.2f %9.2f %8.2f %8.2f %7.2f %7.2f %6.2f" % (label, *of) + "%8s" % stamp


IOSTAT_HEAD = ("Device:       rrqm/s   wrqm/s     r/s     w/s    rsec/s    wsec/s     rkB/s     wkB/s avgrq-sz avgqu-sz   await   svctm"
               "  %util   Stamp")


class Level:
    """The requests of a device, or its bios."""

    def __init__(self):
        self.block, self.whole, self.open = Io(), Io(), 0

    def count(self, ev):
        write = bool(ev.bits & WRITE)
        self.block.ios[write] += 1
        self.block.sectors[write] += 0 if ev.bits & DISCARD else ev.sectors

    def end(self, begin, end, unsure):
        self.open -= 1
        if not unsure:
            self.block.ended += 1
            self.block.waited += since(begin, end)

    def fold(self):
        self.whole.add(self.block)
        self.block = Io()


class IoDevice:
    def __init__(self):
        self.bios, self.requests, self.at_device, self.seen, self.has_requests = Level(), Level(), 0, 0, False

    def advance(self, now):
        ns, self.seen = now - self.seen, now
        for level, busy in ((self.bios, self.bios.open), (self.requests, self.at_device)):
            level.block.area += ns * level.open
            level.block.busy += ns if busy else 0

    def level(self):
        return self.requests if self.has_requests else self.bios

    def event(self, ev):
        if isinstance(ev, Bio):
            self.bios.end(ev.queued, ev.ended, ev.unsure)
        elif isinstance(ev, Request):
            self.requests.end(ev.issued if ev.got is None else ev.got, ev.ended, ev.unsure)
            self.requests.open += ev.got is None
        elif ev.action == Q:
            self.bios.open += 1
            self.bios.count(ev)
        elif ev.action in (M, F):
            self.requests.open -= bool(ev.bits & FS)
            self.requests.block.merges[bool(ev.bits & WRITE)] += 1
        elif ev.action == G:
            self.requests.open += 1
            self.has_requests = True
        elif ev.action == D:
            self.has_requests, self.at_device = True, self.at_device + 1
            if not ev.again:
                self.requests.count(ev)
        elif ev.action == R or ev.action == C and ev.left:
            self.at_device = max(0, self.at_device - 1)


def iostat(trace):
    """A device with requests has those, from G to their end; one without has bios. TOTAL is of the former, if there are any."""
    lines, began, devices = [IOSTAT_HEAD], trace.begin, {number: IoDevice() for number in trace.devices}

    def put(now, dt, stamp):
        shown = [dev for dev in trace.devices.values() if dev.first <= now]
        requests, total, nr = any(devices[dev.number].has_requests for dev in shown), Io(), 0
        for dev in shown:
            one = devices[dev.number]
            of = one.level().whole if stamp == "TOTAL" else one.level().block
            lines.append(of.row(dev.title, dt, stamp))
            if one.has_requests == requests:
                total.add(of)
                nr += 1
        if len(shown) > 1:
            lines.append(total.row("TOTAL", dt, stamp, nr))

    for ev in trace.life_events:
        now = ev.ended if isinstance(ev, (Bio, Request)) else ev.time
        if now >= began + trace.interval and not isinstance(ev, (Bio, Request)):
            for one in devices.values():
                one.advance(now)
            put(now, now - began, "%.2f" % (now / NS))
            lines.append("")
            for one in devices.values():
                one.bios.fold()
                one.requests.fold()
            began = now
        devices[ev.device].advance(now)
        devices[ev.device].event(ev)
    last = max(trace.last, trace.last_end)
    for one in devices.values():
        one.advance(last)
        one.bios.fold()
        one.requests.fold()
    lines += ["", IOSTAT_HEAD]
    put(last, last - trace.begin, "TOTAL")
    return {"iostat": lines}


def messages(trace):
    return {"o.msg": ["(%3d,%3d) %5d.%09d %s" % (ev.device >> 20, ev.device & 0xfffff, ev.time // NS, ev.time % NS,
                                                  ev.pdu.rstrip(b"\0").decode("latin-1")) for ev in trace.messages]}


def plots(trace):
    """{file: lines}."""
    found = {}
    for make in (fingerprints, size_histograms, block_numbers, seek_files, latencies, depth, unplugs, live, ranges, periodic, per_io,
                 trees, seeks_per_second, iostat, messages):
        found |= make(trace)
    return found
