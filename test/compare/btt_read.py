# SPDX-License-Identifier: MIT
"""What happened in a merged dump: its events, and the bios and requests they belong to. An independent and much
smaller take on doc/model.md (2-4, 6, 9), for traces without losses; it knows nothing of src/track."""
import struct

from trace_build import (A, C, CGROUP, D, DISCARD, F, FLUSH, FS, FUA, G, I, M, NOTIFY, PC, PROCESS, Q, R, S, WRITE)


class Event:
    __slots__ = ("time", "action", "bits", "device", "sector", "bytes", "sectors", "pid", "cpu", "pdu", "again", "left")

    def kind(self):
        """A class: what is joined never crosses it."""
        return "d" if self.bits & DISCARD else "w" if self.bits & WRITE else "r"


def records(data):
    """(event, payload) of everything in a file or dump of version 7, in its order."""
    order = "<" if data[1:4] == b"\x74\x61\x65" else ">"
    layout, at, found = struct.Struct(order + "IIQQIIIIIHH"), 0, []
    while at + 48 <= len(data):
        _, _, time, sector, size, action, pid, device, cpu, _, length = layout.unpack_from(data, at)
        ev = Event()
        ev.time, ev.sector, ev.bytes, ev.sectors, ev.pid, ev.device, ev.cpu = time, sector, size, size // 512, pid, device, cpu
        ev.action, ev.bits, ev.pdu, ev.again, ev.left = action & 0xffff, action >> 16, data[at + 48:at + 48 + length], False, False
        found.append(ev)
        at += 48 + length
    return found


def dotted(device):
    return f"{device >> 20},{device & 0xfffff}"


class Names:
    """The name of a pid at a time, from the notes of the files of the CPUs."""

    def __init__(self, files):
        self.told, first = {}, None
        for data in files:
            for ev in records(data):
                if not ev.bits & NOTIFY and (first is None or ev.time < first):
                    first = ev.time
                if ev.bits & NOTIFY and ev.action & ~CGROUP == PROCESS:
                    name = ev.pdu[8 if ev.action & CGROUP else 0:].split(b"\0")[0].decode("latin-1")
                    self.told.setdefault(ev.pid, []).append((ev.time, name))
        self.first = first or 0
        for notes in self.told.values():
            notes.sort(key=lambda note: note[0])

    def at(self, pid, time):
        if not pid:
            return "kernel"
        notes = self.told.get(pid)
        if not notes:
            return f"pid{pid:09}"
        before = [name for when, name in notes if when <= time + self.first]
        return before[-1] if before else notes[0][1]


class Bio:
    __slots__ = ("device", "kind", "sector", "sectors", "pid", "queued", "slept", "got", "merged", "front", "inserted",
                 "issued", "reissued", "data", "ended", "rest", "left", "done", "at_issue", "at_end",
                 "preflush", "cut", "unsure", "got_sectors")

    def __init__(self, ev):
        self.device, self.kind, self.sector, self.sectors, self.pid = ev.device, ev.kind(), ev.sector, ev.sectors, ev.pid
        self.queued, self.preflush, self.cut, self.unsure = ev.time, bool(ev.bits & FLUSH), False, False
        self.slept = self.got = self.merged = self.inserted = self.issued = self.reissued = self.data = self.ended = None
        self.rest, self.left, self.done, self.front = ev.sector, ev.sectors, [], False
        self.got_sectors = ev.sectors  # of its first piece
        self.at_issue = self.at_end = None  # the events of its (first) D and of its end


class Request:
    __slots__ = ("device", "kind", "start", "end", "at", "pieces", "inserted", "flags", "held", "attempts",
                 "got", "issued", "ended", "unsure")

    def __init__(self, ev):
        self.device, self.kind, self.start, self.end = ev.device, ev.kind(), ev.sector, ev.sector + ev.sectors
        self.at, self.pieces, self.inserted, self.flags, self.held, self.attempts = ev.sector, [], None, ev.bits, False, 0
        self.got, self.issued, self.ended, self.unsure = ev.time, None, None, False


class Pile:
    """Things by a key, first in, first out."""

    def __init__(self):
        self.of = {}

    def put(self, key, thing):
        self.of.setdefault(key, []).append(thing)

    def take(self, key, fits=lambda thing: True):
        for thing in self.of.get(key, ()):
            if fits(thing):
                self.drop(key, thing)
                return thing
        return None

    def drop(self, key, thing):
        self.of[key].remove(thing)
        if not self.of[key]:
            del self.of[key]


class Life:
    """Follows the I/O. `told` is called with (what, bio, event): "remapped" (a piece of it, at the A), "issued" (first D
    of its first piece), "data" (its last sector completed), "ended" (the flush after that included), "left" with
    a request that is no longer at the device and "request" with one that has ended."""

    def __init__(self, told):
        self.told, self.all, self.requests = told, [], []  # bios; requests that have ended
        self.bios, self.waiting, self.ends, self.issued, self.flushes = Pile(), Pile(), Pile(), Pile(), Pile()
        self.part_ends = False  # did a C end a part of a request?
        self.open = {}  # device -> bios that have not ended: where an A or the C of a bio looks

    def event(self, ev):
        do = {Q: self.queue, G: self.get, M: self.merge, F: self.merge, S: self.sleep, I: self.insert, D: self.issue,
              R: self.requeue, C: self.complete, A: self.remap}.get(ev.action)
        if do and not ev.bits & PC:
            do(ev)

    def queue(self, ev):
        if ev.bytes:
            bio = Bio(ev)
            self.all.append(bio)
            self.bios.put((ev.device, bio.kind, bio.rest), bio)
            self.open.setdefault(ev.device, {})[id(bio)] = bio

    def sleep(self, ev):
        for bio in self.bios.of.get((ev.device, ev.kind(), ev.sector), ()):
            bio.slept = ev.time
            return

    def remap(self, ev):
        source, = struct.unpack_from(">I", ev.pdu)
        sector, = struct.unpack_from(">Q", ev.pdu, 8)
        for bio in self.open.get(source, {}).values():
            if bio.sector <= sector < bio.sector + bio.sectors:
                self.told("remapped", bio, ev)
                return

    def take_piece(self, ev):
        """The bio whose next sectors these are; they leave it."""
        key = (ev.device, ev.kind(), ev.sector)
        bio = self.bios.take(key, lambda bio: bio.sector + bio.sectors >= ev.sector + ev.sectors)
        if bio:
            bio.rest = ev.sector + ev.sectors
            if bio.rest < bio.sector + bio.sectors:
                self.bios.put((ev.device, bio.kind, bio.rest), bio)
        return bio

    def put_waiting(self, request):
        # Several requests at one place: which of them an event is of is not known.
        key = (request.device, request.kind, request.at)
        for other in (*self.waiting.of.get(key, ()), *self.issued.of.get(key, ())):
            other.unsure = request.unsure = True
        self.waiting.put((request.device, request.kind, request.at), request)
        self.ends.put((request.device, request.kind, request.end), request)

    def take_waiting(self, key, fits=lambda thing: True):
        request = self.waiting.take(key, fits)
        if request:
            self.ends.drop((request.device, request.kind, request.end), request)
        return request

    def get(self, ev):
        if not ev.bytes:
            return
        request, bio = Request(ev), self.take_piece(ev)
        if bio:
            if bio.got is None and bio.merged is None:
                bio.got, bio.got_sectors = ev.time, ev.sectors
            request.pieces.append((bio, ev.sector, ev.sector + ev.sectors))
        self.put_waiting(request)

    def merge(self, ev):
        key = (ev.device, ev.kind())
        if ev.bits & FS:  # of requests
            other = self.take_waiting((*key, ev.sector), lambda r: r.end == ev.sector + ev.sectors)
            pieces = other.pieces if other else []
        else:
            bio = self.take_piece(ev)
            pieces = [(bio, ev.sector, ev.sector + ev.sectors)] if bio else []
            if bio and bio.merged is None and bio.got is None:
                bio.merged, bio.front = ev.time, ev.action == F
        if ev.action == M:
            request = self.ends.take((*key, ev.sector))
            if not request:
                return
            self.waiting.drop((*key, request.at), request)
            request.end, request.pieces = ev.sector + ev.sectors, request.pieces + pieces
        else:
            request = self.take_waiting((*key, ev.sector + ev.sectors))
            if not request:
                return
            request.start = request.at = ev.sector
            request.pieces = pieces + request.pieces
        self.put_waiting(request)

    def insert(self, ev):
        for request in self.waiting.of.get((ev.device, ev.kind(), ev.sector), ()):
            if request.end == ev.sector + ev.sectors and request.inserted is None:
                request.inserted = ev.time
                for bio, start, _ in request.pieces:
                    if start == bio.sector and bio.merged is None:
                        bio.inserted = ev.time
                return

    def issue(self, ev):
        if not ev.bytes:
            return
        request = self.take_waiting((ev.device, ev.kind(), ev.sector), lambda r: r.end == ev.sector + ev.sectors)
        if not request:  # its G was not seen
            request = Request(ev)
            request.got = None
        request.attempts += 1
        request.issued = ev.time if request.issued is None else request.issued
        ev.again = request.attempts > 1
        request.held = bool(request.flags & FLUSH or request.flags & FUA and not ev.bits & FUA)
        self.issued.put((ev.device, request.kind, request.at), request)
        for bio, start, _ in sorted(request.pieces, key=lambda piece: piece[1]):
            if start == bio.sector:
                bio.reissued = ev.time
                if bio.issued is None:
                    bio.issued, bio.at_issue = ev.time, ev
                    self.told("issued", bio, ev)

    def requeue(self, ev):
        request = self.issued.take((ev.device, ev.kind(), ev.sector))
        if request:
            self.put_waiting(request)

    def complete(self, ev):
        if not ev.bytes:
            if ev.bits & WRITE:
                held = self.flushes.take((ev.device, ev.sector))
                if held:
                    self.end_request(held[0], ev)
                    for bio in held[1]:
                        self.end(bio, ev)
            return
        request = self.issued.take((ev.device, ev.kind(), ev.sector))
        if request:
            self.complete_request(request, ev)
        elif not ev.bits & FS:
            self.complete_bio(ev)

    def complete_request(self, request, ev):
        done_from, request.at = request.at, ev.sector + ev.sectors
        for bio, start, end in sorted(request.pieces, key=lambda piece: piece[1]):
            bio.left -= max(0, min(end, request.at) - max(start, done_from))
            bio.unsure |= request.unsure
            if done_from < end <= request.at and not bio.left:
                self.data(bio, ev)
                if not request.held:
                    self.end(bio, ev)
        if request.at < request.end:
            self.part_ends = True
            self.issued.put((request.device, request.kind, request.at), request)
            return
        self.told("left", request, ev)
        if not request.held:
            self.end_request(request, ev)
            return
        self.flushes.put((request.device, request.start), (request, [
            bio for bio, _, end in request.pieces if bio.data is not None and end == bio.sector + bio.sectors]))

    def end_request(self, request, ev):
        request.ended = ev.time
        self.requests.append(request)
        self.told("request", request, ev)

    def complete_bio(self, ev):
        """On a device without requests: the union of what completed is to cover it."""
        start, end = ev.sector, ev.sector + ev.sectors
        for bio in self.open.get(ev.device, {}).values():
            inside = bio.kind == ev.kind() and bio.sector <= start and end <= bio.sector + bio.sectors
            if not inside or any(start < to and end > fro for fro, to in bio.done):
                continue
            bio.done.append((start, end))
            bio.left -= end - start
            if not bio.left:
                self.bios.drop((ev.device, bio.kind, bio.rest), bio)
                self.data(bio, ev)
                self.end(bio, ev)
            return

    def data(self, bio, ev):
        bio.data = ev.time
        bio.cut = bio.sectors > ev.sectors and not bio.done  # completed in more parts than one
        del self.open[bio.device][id(bio)]
        self.told("data", bio, ev)

    def end(self, bio, ev):
        bio.ended, bio.at_end = ev.time, ev
        self.told("ended", bio, ev)
