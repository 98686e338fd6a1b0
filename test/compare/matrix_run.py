# SPDX-License-Identifier: MIT
"""Runs one use of the matrix on one trace with both programs, and compares everything that they write."""
import os
import re
import subprocess
import threading

from matrix_uses import masked

# Two runs of the classic under these tell what it prints without ever having written it.
PERTURBED = [f"glibc.malloc.tcache_count=0:glibc.malloc.perturb={byte}" for byte in (1, 254)]
NAMES = {".out": "standard output", ".err": "standard error"}


class Programs:
    def __init__(self, classic, ours, locales):
        """ours: its command words. locales: folders for LOCPATH, without and with en_US."""
        self.classic, self.ours, self.locales = classic, ours, locales
        self.env = {name: value for name, value in os.environ.items()
                    if name not in ("LOCPATH", "POSIXLY_CORRECT", "GLIBC_TUNABLES") and not name.startswith("LC_")}
        self.env.update(LANG="C", TZ="UTC0")


def feeder(path, data):
    try:
        with open(path, "wb") as fifo:
            fifo.write(data)
    except BrokenPipeError:
        pass


class Input:
    """Standard input of one run, or the FIFO that takes its place."""

    def __init__(self, trace, use, cwd):
        self.fd, self.fifo = subprocess.DEVNULL, None
        if not trace.stdin:
            return
        data = trace.files[trace.stdin]
        if use.feed == "file":
            self.fd = os.open(cwd / trace.stdin, os.O_RDONLY)
        elif use.feed == "pipe":
            self.fd, write = os.pipe()
            if os.write(write, data) != len(data):
                raise ValueError("the stream is larger than a pipe")
            os.close(write)
        else:
            self.fifo = cwd / "fifo"
            os.mkfifo(self.fifo)
            self.thread = threading.Thread(target=feeder, args=(self.fifo, data))
            self.thread.start()

    def close(self):
        if self.fifo:
            # If nobody opened it the feeder waits.
            release = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
            self.thread.join(1)
            os.close(release)
            self.thread.join()
            self.fifo.unlink()
        elif self.fd != subprocess.DEVNULL:
            os.close(self.fd)


def run(program, words, cwd, trace, use, env):
    """Runs in the folder of the trace: (status, {stream or file that it made: bytes}). Those are taken away."""
    stdin = Input(trace, use, cwd)
    with open(cwd / ".out", "wb") as out, open(cwd / ".err", "wb") as err:
        try:
            status = subprocess.run(words, executable=program, cwd=cwd, stdin=stdin.fd, stdout=out, stderr=err, env=env,
                                    close_fds=False, timeout=60, check=False).returncode
        except subprocess.TimeoutExpired:
            status = "still running after 60 s"
    stdin.close()
    streams = {}
    for name in os.listdir(cwd):
        if name not in trace.top:
            streams[NAMES.get(name, name)] = (cwd / name).read_bytes()
            (cwd / name).unlink()
    return status, streams


def quoted(word):
    return word if re.fullmatch("[-./:%@,=+0-9A-Za-z]+", word) else repr(word)


class Case:
    def __init__(self, trace, use):
        self.trace, self.use = trace, use
        self.masked = {}  # mask -> how many lines
        self.difference = None  # the first one, as text

    def command(self):
        env = [f"{name}={value}" for name, value in self.use.env.items()]
        return " ".join([*env, "blkparse", *(quoted(word) for word in self.use.words(self.trace))])

    def run(self, programs, folder):
        use, trace = self.use, self.trace
        cwd = folder / trace.name
        theirs = ["blkparse", *use.words(trace, classic=True)]
        env = {**programs.env, **use.env, "LOCPATH": programs.locales[use.commas[0]]}
        results = [run(programs.classic, theirs, cwd, trace, use, {**env, "GLIBC_TUNABLES": tunables})
                   for tunables in (PERTURBED if use.masks else [""])]
        env["LOCPATH"] = programs.locales[use.commas[1]]
        if programs.ours[0] == programs.classic:
            own = run(programs.classic, theirs, cwd, trace, use, env)
        else:
            own = run(programs.ours[0], [*programs.ours, *use.words(trace)], cwd, trace, use, env)
        self.compare(results[0], results[-1], own)

    def differs(self, what, classic, ours):
        self.difference = f"{what}\n      classic {classic!r}\n      ours    {ours!r}"

    def compare(self, classic, again, ours):
        if classic[0] != ours[0] or again[0] != classic[0]:
            error = ours[1]["standard error"][:200]
            self.differs("status", (classic[0], again[0]), (ours[0], error))
        elif isinstance(classic[0], int) and classic[0] < 0:
            self.difference = f"the classic ends by signal {-classic[0]}"
        elif self.use.compare == "status":
            return
        elif self.use.compare == "error":
            # The classic has printed a part: what is wrong it finds when it needs it.
            last = [one[1]["standard error"].replace(b"\0", b"").strip().split(b"\n")[-1] for one in (classic, again, ours)]
            self.compare_stream("standard error", *last)
        elif classic[1].keys() != ours[1].keys():
            self.differs("files", sorted(classic[1]), sorted(ours[1]))
        else:
            for name in sorted(classic[1], key=lambda name: (name not in NAMES.values(), name == "standard error", name)):
                if not self.difference:
                    self.compare_stream(name, classic[1][name], again[1][name], ours[1][name])

    def compare_stream(self, name, classic, again, ours):
        if name == "standard error":
            # What the options do each program says in its own words.
            classic, again, ours = (re.sub(rb"\n\t-[\s\S]*", b"\n", text) if b"Usage: " in text else text
                                    for text in (classic, again, ours))
        change = {"blocks": in_blocks, "shape": in_shape}.get(self.use.compare)
        if change:
            classic, again, ours = map(change, (classic, again, ours))
        if classic != again:
            self.compare_masked(name, classic, again, ours)
        elif classic != ours and b"\0" in classic:
            at = next((i for i, pair in enumerate(zip(classic, ours)) if pair[0] != pair[1]), min(len(classic), len(ours)))
            near = slice(max(at - 8, 0), at + 40)
            self.differs(f"{name}, byte {at} of {len(classic)} and {len(ours)}", classic[near], ours[near])
        elif classic != ours:
            self.first_line(name, classic.split(b"\n"), ours.split(b"\n"))

    def first_line(self, name, classic, ours):
        end = [b"(the end)"]
        nr = next((nr for nr, pair in enumerate(zip(classic + end, ours + end)) if pair[0] != pair[1]))
        self.differs(f"{name}, line {nr + 1} of {len(classic)} and {len(ours)}", (classic + end)[nr][:200],
                     (ours + end)[nr][:200])

    def compare_masked(self, name, classic, again, ours):
        """Lines in which the two runs of the classic differ are compared under the first mask that covers that."""
        classic, again, ours = (text.split(b"\n") for text in (classic, again, ours))
        if len(classic) != len(ours) or len(classic) != len(again):
            self.first_line(name, classic, ours)
            return
        for nr, (one, two, own) in enumerate(zip(classic, again, ours), 1):
            if one != two:
                for mask in self.use.masks:
                    lines = masked(mask, one, two, own)
                    if lines:
                        self.masked[mask] = self.masked.get(mask, 0) + 1
                        one, own = lines
                        break
                else:
                    self.differs(f"{name}, line {nr}: the classic against itself, which no mask covers", one, two)
                    return
            if one != own:
                self.differs(f"{name}, line {nr}", one[:200], own[:200])
                return


def in_blocks(text):
    """A block is a line that does not start with a blank, and those behind it that do; without what 1.3 adds."""
    text = re.sub(rb"Trace started at [^\n]*\n\n", b"", text)
    return b"\n".join(sorted(re.split(rb"\n(?=[^ ])", text)))


def in_shape(text):
    return re.sub(rb"[#, ]+", b" ", re.sub(rb"\d+", b"#", text))
