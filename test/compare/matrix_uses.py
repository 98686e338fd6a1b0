# SPDX-License-Identifier: MIT
"""The option sets of the blkparse matrix: which uses run on which traces, and what of their output is masked."""
import re
import shlex
from dataclasses import dataclass, field

# On which traces a use runs: all small ones; those with a choice of options; those with all options.
FEW, SOME, FULL = "few", "some", "full"


@dataclass
class Use:
    """One command line. In `args` @in is the inputs of the trace (-i sda), @base its first device, @folder where
    it is. `args` is what ours gets, `classic` what the classic gets (None: the same)."""
    args: str
    on: object = FULL  # or a tuple of names of traces
    classic: str = None
    masks: tuple = ()  # names in MASKS: allowed where two runs of the classic differ
    env: dict = field(default_factory=dict)
    commas: tuple = (False, False)  # is there a locale en_US, for the classic and for ours
    feed: str = "file"  # how standard input comes: file, pipe; fifo: as a FIFO of the name "fifo"
    compare: str = "bytes"  # or shape: but for numbers; blocks: in any order; status; error: that and the last line on standard error
    option: str = None  # the letter of the option table that this is a row of

    def words(self, trace, classic=False):
        found = []
        args = self.classic if classic and self.classic is not None else self.args
        for word in shlex.split(args):
            if word == "@in":
                found += trace.inputs
            else:
                found.append(word.replace("@base", trace.base).replace("@folder", trace.folder))
        return found


# What is masked where the classic prints memory that it never wrote: name -> what may differ, by what it is
# replaced, and whether only the values that differ are (else all of the line: ours may print none at all).
MASKS = {
    "elapsed": (re.compile(rb"\( *\d+\) (?=\[)"), b"", False),
    "waits": (re.compile(rb" wait: +[\d,]+"), b" wait: #", True),
}


def masked(mask, classic, again, ours):
    """Lines of two runs of the classic and of ours, the first and the last masked; None: the mask does not cover
    what differs between the first two."""
    what, by, single = MASKS[mask]
    if not single:
        return (what.sub(by, classic), what.sub(by, ours)) if what.sub(by, classic) == what.sub(by, again) else None
    one, two, own = (what.findall(line) for line in (classic, again, ours))
    if len(one) != len(two) or len(one) != len(own) or what.sub(by, classic) != what.sub(by, again):
        return None
    differing = iter([first != second for first, second in zip(one, two)] * 2)

    def replace(match):
        return by if next(differing) else match[0]

    return what.sub(replace, classic), what.sub(replace, ours)


# A value for each option that takes one, by its long name: it alone is tried in all four ways to write it.
VALUES = {
    "input": "@base", "act-mask": "write", "set-mask": "c0", "batch": "7", "dump-binary": "dump",
    "input-directory": "@folder", "format": r"%T.%9t %a %d %S %n\n", "format-spec": r"Q,%T.%9t %5p %S + %n\n",
    "output": "text", "stopwatch": "0.0001:0.03",
}
SWITCHES = ("no-text-output", "no-msgs", "hash-by-name", "quiet", "per-program-stats", "track-ios", "verbose", "version")
# Options that the classic does not have; their uses are in OWN.
OWN_OPTIONS = ("fix", "classic", "group", "list-options", "sort-program-stats", "help")
TIMED = ("elapsed", "waits")


def each_option(table):
    """The uses of every option of the table alone: [(letter, long name, takes a value)]; and what has none."""
    uses, missing = [], []
    for letter, name, takes in table:
        if name in VALUES and takes:
            value = shlex.quote(VALUES[name])
            ways = ([f"-{letter} {value}", f"-{letter}{value}", f"--{name} {value}", f"--{name}={value}"])
        elif name in SWITCHES and not takes:
            ways = [f"-{letter}", f"--{name}"]
        else:
            if name not in OWN_OPTIONS:
                missing.append(f"{letter} {name} {'with' if takes else 'without'} a value")
            continue
        inputs = "" if name == "input" else " @in"
        masks = TIMED if name == "track-ios" else ()
        for turn, way in enumerate(ways):
            uses.append(Use(way + inputs, SOME if turn == 0 else ("history", "stream-short"), masks=masks, option=letter))
            if turn == 0:
                uses.append(Use(f"{way}{inputs} -s -q", FULL, masks=masks, option=letter))
    return uses, missing


def of(option, *rows, **more):
    return [row if isinstance(row, Use) else Use(row, option=option, **more) for row in rows]


# Where formats of the user's own are tried.
FORMATTED = ("actions", "history", "sample/vda-head")


def formats():
    """-f with every specifier in every width; odd formats; -F for every letter."""
    for letter in "acCdDeMmnNpPsStTzgyQ%":
        widths = "|".join(f"%{width}{letter}" for width in ("", "1", "3", "12", "-12", "-1", "012", "-012", "0", "40"))
        yield Use(f"@in -q -f '{widths}\\n'", on=FORMATTED, option="f")
    yield Use("@in -q -f '%s|%12s|%-12s|%c|%p\\n'", ("wide",), option="f")
    for letter in "UXA":
        yield Use(f"@in -q -F '{letter},{letter} {{%U}} {{%12U}} {{%-12U}}\\n'", on=FORMATTED, option="f")
    # Without a payload the classic prints what lies behind the record, ours 0.
    yield Use("@in -q -F 'Q,{%U} {%3U} {%-3U}\\n'", classic="@in -q -F 'Q,{0} {  0} {0  }\\n'", on=FORMATTED, option="f")
    for text in (r"\q", "a\\"):
        yield Use(f"@in -q -f {shlex.quote(text)}", on=FORMATTED, option="f", compare="error")
    for text in ("", "no newline ", "%", "%-", "%12", r"%5%%%\n", r"\n\t\r\b|", "%300p\\n", "%-300S\\n", "ü%aé\\n",
                 "%a%a%a%a\\n", "%--3a|\\n", "%3-a|\\n", "%1.2a|\\n", "% a|\\n", "%D %2c %8s %5T.%9t %5p %2a %3d \\n",
                 "%5T.%1t|%3t|%12t|%-12t\\n", "x" * 1000 + "\\n", "%S %C\\n" * 40):
        yield Use(f"@in -q -f {shlex.quote(text)}", on=FORMATTED, option="f")
    yield Use(r"@in -f '%a\n'", on=FORMATTED, option="f")
    for letter in "ABCDEFGIMNPQRSTUWXZaq0":
        good = letter in "ABCDFGIMPQRSTUWX"
        yield Use(f"@in -q -F '{letter},<%a %3d %S>\\n'", ("actions", "history") if good else ("history",), option="F")
    for text in ("Q", "Q,", "QQ,x", "", ",", "Q,%", "Q, %a\\n", "Q;x", "UT,x", "m,x"):
        yield Use(f"@in -q -F {shlex.quote(text)}", on=FORMATTED, option="F")
    yield Use(r"@in -q -F 'Q,\y'", FORMATTED, option="F", compare="error")
    # Elapsed times: only letters that have some.
    timed = " ".join(f"-F '{letter},{letter} %S <%u> <%12u> <%-12u>\\n'" for letter in "IDC")
    yield Use(f"@in -t -q {timed}", ("timed",), option="f")
    yield Use(f"@in -t -s {timed}", ("timed",), option="f")
    # The classic gives up at the first event that has none: ours prints blanks.
    yield Use(r"@in -q -f '%a <%u> <%5u> <%-5u>\n'", classic=r"@in -q -f '%a <> <     > <     >\n'", on=FORMATTED, option="f")


def windows():
    for text in ("0.01", "0.001:0.02", ".001:.02", "1e-3:2e-2", "0:0.005", "+0.001:0.02", "-1", "0.01:0.001", "abc", "0.001x",
                 "0.001x:0.01", "0.001:", ":0.01", "", ":", "1:2:3", "0.001:0.02 ", "' 0.001:0.02'", "0", "0:0", "0x0:0x1",
                 "0.000000001", "100:200", "1,5", "0.00000015", "0.00000015:0.00002085"):
        yield Use(f"@in -w {text or chr(39) * 2}", ("history", "stream-short"), option="w")
    yield Use("@in -w 0.0009:0.01 -t -s", masks=TIMED, option="w")
    yield Use("@in -w 0.0009:0.01 -d dump", option="w")
    yield Use("@in -w 0.0009:0.01 -b 3", option="w")
    yield Use("@in -w 0.000020850 -q", SOME, option="w")
    yield Use("@in -w 0.000002:0.000005", ("times", "stream-devices", "devices"), option="w")


def masks():
    names = ("read", "write", "flush", "sync", "queue", "requeue", "issue", "complete", "fs", "pc", "notify", "ahead", "meta",
             "discard", "drv_data", "fua")
    for name in names:
        yield Use(f"@in -a {name} -q", ("actions", "history"), option="a")
    for text in ("barrier", "READ", "Write", "BLK_TC_READ", "blk_tc_fs", "BLK_TC_", "rea", "read,write", "readx", "zone_append",
                 "''", "none", "all", "1"):
        yield Use(f"@in -a {text} -q", ("history",), option="a")
    yield Use("@in -a issue -a complete -a notify", SOME, option="a")
    yield Use("@in -a drv_data", ("driver_data", "actions"), option="a")
    yield Use("@in -a drv_data -d dump", ("driver_data",), option="a")
    yield Use("@in -a fs -a sync -d dump -s", option="a")
    yield Use("@in -a queue -t", masks=TIMED, option="a")
    for bit in range(16):
        yield Use(f"@in -A {1 << bit:x} -O -d dump", ("actions", "messages"), option="A")
    for text in ("0", "10000", "ffff", "0xc0", "FFFF", "xyz", "1x", "-1", "''", "' 40'", "fffffffff", "1ffff", "0x", "+10"):
        yield Use(f"@in -A {text} -q", ("history",), option="A")
    yield Use("@in -a read -A 2 -q", option="A")
    yield Use("@in -A 2 -a read -q", option="A")
    yield Use("@in -A 410 -w 0.001:0.02 -d dump", option="A")


def plain():
    """The others, alone and with what they interact with."""
    yield from of("i", "@in @in", "-i@base", "-i @base -i @base", on=("history",))
    for args in ("sda", "sda sdb", "-i sda sdb", "sdb -i sda -q", "-i sdb.blktrace.0", "sdb.blktrace.1 sda", "sdb.blktrace.",
                 "-i ./sda", "-i folder/nvme0n1", "-i sda -i folder/nvme0n1", "-i folder/nvme0n1 -i sda", "folder/nvme0n1 nvme0n1",
                 "-D folder -i nvme0n1", "-D folder/ nvme0n1", "-D folder -i ./sda", "-D . sda", "-D '' sda", "-D nowhere sda",
                 "-i folder/nvme0n1.blktrace.2", "-i @folder/sda -i sdb", "-D nowhere -i @folder/sda", "sda -D folder nvme0n1",
                 "-D folder -D . sda", "-i folder/../sda", "-i ''", "-i sda -i nofile", "nofile sda", "sda -i folder",
                 "-i folder", "-i sda.blktrace.9", "--input=sda --input=sdb", "--input-directory=folder --input=nvme0n1", "",
                 "-q", "--", "-- sda", "sda -- -q", "sda -q sdb -s", "-i sda sdb -O -d dump", "sda sdb folder/nvme0n1 -s -h"):
        yield Use(args, ("devices",), option="D" if "-D" in args else "i")
    yield from of("b", *(f"@in -b {n}" for n in (1, 2, 512, 100000)), on=("history", "notes", "times", "wrong-cpu", "stream", "stream-files"))
    yield from of("b", *(f"@in -q -b {text}" for text in ("0", "-3", "x", "''", "7abc", "0x10", "' 9'", "4294967297")),
                  on=("history", "stream-short"))
    yield from of("b", "@in -b 1 -O -d dump", on=SOME)
    yield from of("d", "@in -d dump", "@in -O -d -", "@in -d -", "@in -d dump -M", on=SOME)
    yield from of("d", "@in -o text -d -", "@in -d dump -q -f '%a\\n'", "@in -d dump -F 'A,%D %a\\n'", "@in -d dump -b 1",
                  "@in -d dump -b 3", "@in -d nowhere/dump", "@in -d ''", "@in -d dump -d dump2", "@in -O -s -d dump",
                  "@in -O -t -d dump", "@in -o dump -d dump2")
    yield from of("M", "@in -M", "@in -M -O -d dump", "@in -M -a notify -d dump", "@in -M -O -d -")
    yield from of("o", "@in -o text", on=SOME)
    yield from of("o", "@in -o text -d dump", "@in -o text -s -q", "@in -o nowhere/text", "@in -o ''", "@in -o -", "@in -o text -o text2",
                  "@in -o text -O", "@in -o text -d dump -M -b 7 -A ffef")
    yield from of("O", "@in -O", on=SOME)
    yield from of("O", "@in -O -s", "@in -O -s -h -t", "@in -O -q -v", "@in -O -w 0.001", "@in -O -f '%a\\n'", "@in -O -d dump -a notify")
    yield from of("s", "@in -s", "@in -s -h", "@in -s -q", on=SOME)
    yield from of("h", "@in -h", "@in -s -h -q", "@in -s -h -a complete")
    yield from of("t", "@in -t", "@in -t -s", "@in -t -s -h", on=SOME, masks=TIMED)
    yield from of("t", "@in -t -s -v -q", on=FEW, masks=TIMED)
    yield from of("t", "@in -t -q -v", "@in -t -a issue -a complete -s", "@in -t -a queue -a issue -s", "@in -t -b 1", "@in -t -d dump", masks=TIMED)
    yield from of("d", "@in -O -d dump", on=FEW)
    yield from of("q", "@in -q", on=SOME)
    yield from of("v", "@in -v", on=SOME)
    yield from of("V", "-V", "--version", "-V @in", "-V -i nofile", "-i nofile -V", "-V -y", "-y -V", "-qV", on=("history",))


def wrong():
    """Wrong uses and odd ways to write right ones."""
    for args in ("-y", "--nope", "--quiet=3 @in", "-i", "-a", "-A", "-b", "-d", "-D", "-f", "-F", "-o", "-w", "--input", "--act-mask",
                 "--in sda", "--inp sda", "--input sda", "--q @in", "--qui @in", "--ver", "--v", "--no-t @in", "--no-m @in", "--no @in",
                 "--format '%a' @in -q", "--form '%a' @in -q", "--format-s 'Q,%a' @in -q", "-qs @in", "-qsh @in", "-sqi sda",
                 "-qisda", "-q-s @in", "-q- @in", "@in -", "---", "@in -- --", "-q -q -s -s @in", "-a queue -a nonsense @in",
                 "@in -w 5:1 -a nonsense", "@in -o nowhere/x -d nowhere/y", "-o text", "-d dump", "-o text -i nofile", "-d dump -i nofile"):
        yield Use(args, ("history",))
    yield Use("@in sda -q", ("history",), env={"POSIXLY_CORRECT": "1"})
    yield Use("sda -q", ("history",), env={"POSIXLY_CORRECT": "1"})


def standard_input():
    short = ("stream-short",)
    for args in ("-", "-i -", "--input=-", "- -", "- sda", "sda -", "-i - -i sda", "-i sda -i -", "-D nowhere -", "-i ./-", "-q -",
                 "- folder/x.blktrace.0 ./y", "-D folder - z", "- -s -t -q", "- -O -d dump", "- -O -d -", "- -b 1 -d dump", "- -w 0.001:0.004", "- -w 0.004", "- -a complete -s",
                 "- -M -O -d dump", "- -o text -d dump"):
        yield Use(args, short, masks=TIMED if "-t" in args else (), option="i")
    yield Use("-", short, feed="pipe")
    yield Use("- -s -q", short, feed="pipe")
    yield Use("fifo", short, feed="fifo", classic="fifo")
    yield Use("-i fifo -s", short, feed="fifo")
    yield Use("-D @folder -i fifo", short, feed="fifo")
    for args in ("@in", "@in -b 1", "@in -b 13", "@in -s -h", "@in -O -d dump", "@in -w 0.001:0.003"):
        yield Use(args, ("stream-devices", "stream-gaps", "stream-shuffled", "stream-late-start", "stream-back"))


def clocks():
    formats = r"%z|%20z|%T.%t\n"
    for zone in ("UTC0", "ABC-5:30", "XYZ3", "CET-1CEST,M3.5.0,M10.5.0/3"):
        yield Use(f"@in -q -f '{formats}'", ("history", "notes"), env={"TZ": zone}, option="f")


OWN = [
    Use("@in -q --classic=1.3 -S N", ("history",), classic="@in -q -s", compare="blocks", option="S"),
    *(Use(f"@in -q --classic=1.3 -S {key}", ("history",), classic="@in -q -s", compare="blocks", option="S")
      for key in "QRWCqrwc"),
    Use("@in --classic=1.3 -S x", ("history",), classic="-y", compare="status", option="S"),
    Use("@in -S Q", ("history",)),
    Use("@in --classic=1.2", SOME, classic="@in"),
    Use("@in --classic=9", ("history",), classic="-y", compare="status"),
    Use("@in --group=no", SOME, classic="@in"),
    Use("@in --group=maybe", ("history",), classic="-y", compare="status"),
]


def small_uses(table):
    uses, missing = each_option(table)
    uses = [Use("@in", FEW), Use("@in", ("undefined",), compare="shape"), *uses, *plain(), *formats(), *windows(), *masks(),
            *wrong(), *standard_input(), *clocks(), *OWN]
    seen, unique = set(), []
    for use in uses:
        key = (use.args, use.on, tuple(use.env.items()), use.feed)
        if key not in seen:
            seen.add(key)
            unique.append(use)
    return unique, missing


# On whole recordings: everything that is cheap enough.
BIG = [Use("@in -d dump")]
MIDDLE = [Use("@in -t -s -h -q", masks=TIMED), Use("@in -q -b 3 -f '%D %c %s %T.%t %p %a %d %S %N %e %C %z\\n'"), Use("@in -s -O -d -")]
# Numbers with thousands separators, by the locale en_US or by option.
LOCALE = [Use(args, commas=(True, True)) for args in ("@in -q -s -t", "@in -s -O", "@in -s -f ''", "@in -o text -s -h")]
LOCALE += [Use("@in -s -f '' --group=yes", classic="@in -s -f ''", commas=(True, False)),
           Use("@in -s -f '' --group=no", classic="@in -s -f ''", commas=(False, True))]
for one in LOCALE:
    one.masks = TIMED if "-t" in one.args else ()
