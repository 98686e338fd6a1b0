#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# blkparse_pipe.py CLASSIC BLKLAB WORK [SEEDS]: compares `CLASSIC -i -` and `BLKLAB blkparse -i -` on streams
# generated here and on the traces below WORK. Output, standard error and status have to be the same.
#
# The classic's output depends on what it reads together. A regular file as standard input is read in full
# batches; a writer that pauses between chunks smaller than a batch makes the rounds.
import array
import collections
import concurrent.futures
import fcntl
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

READ, WRITE, QUEUE, REQUEUE, ISSUE, COMPLETE = 1, 2, 0x10, 0x20, 0x40, 0x80
FS, PC, NOTIFY, SYNC, META, DISCARD, DRV = 0x100, 0x200, 0x400, 8, 0x1000, 0x2000, 0x4000
NUMBERS = {'Q': (1, QUEUE), 'M': (2, QUEUE), 'F': (3, QUEUE), 'G': (4, QUEUE), 'S': (5, QUEUE), 'R': (6, REQUEUE),
           'D': (7, ISSUE), 'C': (8, COMPLETE), 'P': (9, QUEUE), 'U': (10, QUEUE), 'UT': (11, QUEUE),
           'I': (12, QUEUE), 'X': (13, 0), 'B': (14, 0), 'A': (15, QUEUE)}
SDA = 8 << 20
S = 10**9


def record(sequence, t, cpu=0, device=SDA, number=1, categories=FS | READ | QUEUE, sector=None, length=4096, pid=10,
           error=0, payload=b'', version=7, order='<'):
    return struct.pack(order + 'IIQQIIIIIHH', 0x65617400 | version, sequence & 0xffffffff, t & (1 << 64) - 1,
                       sequence * 8 if sector is None else sector, length, number | categories << 16, pid, device,
                       cpu, error, len(payload)) + payload


def event(letter, sequence, t, direction=READ, **more):
    number, category = NUMBERS[letter]
    return record(sequence, t, number=number, categories=more.pop('kind', FS) | category | direction, **more)


def message(t, text, sequence=0, **more):
    return record(sequence, t, number=2, categories=NOTIFY, sector=0, length=0, pid=0, payload=text, **more)


def process(pid, name, **more):
    return record(0, 0, number=0, categories=NOTIFY, sector=0, length=0, pid=pid, payload=name.ljust(16, b'\0'),
                  **more)


def timestamp(t, seconds, nanoseconds=0, order='<', **more):
    return record(0, t, number=1, categories=NOTIFY, sector=0, length=0, pid=0, order=order,
                  payload=struct.pack(order + 'II', seconds, nanoseconds), **more)


def split(data):
    """The records of a trace."""
    at, records = 0, []
    while at + 48 <= len(data):
        end = at + 48 + int.from_bytes(data[at + 46:at + 48], 'little')
        records.append(data[at:end])
        at = end
    return records


class Runner:
    def __init__(self, classic, blklab, work):
        self.programs = [classic], [blklab, 'blkparse']
        self.work = work

    def run_file(self, program, data, args):
        with tempfile.TemporaryFile(dir=self.work) as f:
            f.write(data)
            f.seek(0)
            p = subprocess.run([*program, '-i', '-', *args], stdin=f, capture_output=True, check=False)
        return p.stdout, p.stderr, p.returncode

    def run_cat(self, program, data, args):
        p = subprocess.run([*program, '-i', '-', *args], input=data, capture_output=True, check=False)
        return p.stdout, p.stderr, p.returncode

    def run_slowly(self, program, chunks, args, pause):
        p = subprocess.Popen([*program, '-i', '-', *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)

        def write():
            try:
                for i, chunk in enumerate(chunks):
                    left = array.array('i', [1])
                    while left[0] and p.poll() is None:
                        time.sleep(pause)
                        fcntl.ioctl(p.stdin, termios.FIONREAD, left)
                    time.sleep(pause if i else 0)
                    os.write(p.stdin.fileno(), chunk)
                time.sleep(pause)
            except BrokenPipeError:
                pass
            p.stdin.close()

        writer = threading.Thread(target=write)
        writer.start()
        out, err = p.stdout.read(), p.stderr.read()
        writer.join()
        return out, err, p.wait()

    def compare(self, kind, name, data, args=(), how='file'):
        for pause in 0.01, 0.03, 0.06:
            if how == 'file':
                results = [self.run_file(program, data, args) for program in self.programs]
            elif how == 'cat':
                results = [self.run_cat(program, data, args) for program in self.programs]
            else:
                results = [self.run_slowly(program, data, args, pause) for program in self.programs]
            if results[0] == results[1] or how != 'slow':
                break  # else a busy machine, perhaps: chunks were read together
        if results[0] != results[1]:
            self.differ(kind, name, data, args, results)
        return kind

    def differ(self, kind, name, data, args, results):
        stream = os.path.join(self.work, 'stream')
        with open(stream, 'wb') as f:
            f.write(data if isinstance(data, bytes) else b''.join(data))
        print(f'{kind}, {name}: with {" ".join(args)} < {stream} the classic (<) and ours (>) differ')
        for what, classic, ours in zip(('output', 'standard error', 'status'), *results):
            if classic == ours:
                continue
            files = []
            for side, text in ('classic', classic), ('ours', ours):
                files.append(os.path.join(self.work, side))
                with open(files[-1], 'wb') as f:
                    f.write(text if isinstance(text, bytes) else str(text).encode())
            print(what + ':', flush=True)
            subprocess.run(['sh', '-c', 'diff -a "$0" "$1" | head -n 20', *files], check=False)
        sys.exit(1)


# ---- generated streams ----

def payload_of(letter, rng):
    if letter in ('U', 'UT', 'X'):
        return struct.pack('>Q', rng.randint(0, 5000))
    if letter == 'A':
        return struct.pack('>IIQ', SDA | 1, rng.choice([SDA, SDA | 1]), rng.randint(0, 10**6))
    return b''


def any_event(rng, sequence, t, cpu, device, order):
    more = {'cpu': cpu, 'device': device, 'order': order, 'pid': rng.choice([0, 10, 11, 12]),
            'length': rng.choice([0, 512, 4096, 4096, 1 << 20]), 'error': rng.choice([0, 0, 0, 65531])}
    direction = rng.choice([READ, WRITE, WRITE | SYNC, READ | META, WRITE | DISCARD, 0])
    dice = rng.random()
    if dice < .02:
        return record(sequence, t, number=17, categories=DRV | FS, payload=b'driver data', **more)
    if dice < .04:
        return record(sequence, t, number=30, categories=FS | direction, **more)
    if dice < .14:
        letter = rng.choice('QGDCIR')
        cdb = bytes([0x12, 0, 0, 0, 36, 0]) if letter in 'DCI' and rng.random() < .7 else b''
        return event(letter, sequence, t, direction, kind=PC, payload=cdb, **more)
    letter = rng.choice(list(NUMBERS) + list('QGIDC') * 3)
    return event(letter, sequence, t, direction, payload=payload_of(letter, rng), **more)


def any_note(rng, t, cpu, device, order):
    dice = rng.random()
    more = {'cpu': cpu, 'device': device, 'order': order}
    if dice < .4:
        return process(rng.choice([0, 10, 11, 12]), rng.choice([b'fio', b'kworker/0:1', b'a b]', b'x' * 15]), **more)
    if dice < .5:
        return timestamp(t, rng.randint(0, 10**9), **more)
    if dice < .55:
        return record(0, t, number=rng.choice([3, 9]), categories=NOTIFY, **more)
    return message(t, rng.choice([b'', b'hello world', b'long ' * 25]), rng.choice([0, 0, 5]), **more)


def any_stream(rng):
    """In disorder, with gaps and repeated numbers now and then."""
    order = rng.choice('<<<>')
    devices = [rng.choice([SDA, 9 << 20, 253 << 20, 259 << 20]) | rng.randint(0, 300) for _ in range(rng.randint(1, 3))]
    gaps, backwards = rng.choice([0, 0, .02, .2]), rng.choice([0, 0, .05])
    t, sequences, records = rng.choice([0, 1, 1000, 10**15]), {}, []
    for _ in range(rng.choice([1, 5, 60, 60, 300, 1500])):
        cpu, device = rng.choice([0, 0, 1, 3, 40]), rng.choice(devices)
        if rng.random() < .1:
            records.append(any_note(rng, t, cpu, device, order))
            continue
        key = cpu, device
        sequence = sequences.get(key, rng.choice([0, 0, 0, 0, -1, 1, 6, 2**32 - 4])) + 1
        if rng.random() < gaps:
            sequence += rng.choice([1, 2, 3, -1])
        sequences[key] = sequence = sequence & 0xffffffff
        records.append(any_event(rng, sequence, t, cpu, device, order))
        t += rng.choice([0, 0, 1, 10, 1000, S // 7])
        if rng.random() < backwards:
            t = max(0, t - rng.choice([1, 20, S]))
    for _ in range(rng.choice([0, 0, 0, 1, 4, 30])):
        i, j = rng.randrange(len(records)), rng.randint(-8, 8)
        j = min(len(records) - 1, max(0, i + j))
        records[i], records[j] = records[j], records[i]
    return records


def any_options(rng):
    args = ['-b', str(rng.choice([1, 2, 3, 7, 20, 512, 512, 100000]))]
    if rng.random() < .25:
        start = rng.randint(0, 5)
        args += ['-w', rng.choice([f'{start}:{start + rng.randint(1, 8)}', str(start + .5)])]
    if rng.random() < .2:
        args += ['-a', rng.choice(['complete', 'write', 'notify', 'fs', 'pc'])]
    if rng.random() < .2:
        args += ['-s'] + rng.choice([[], ['-h']])
    args += rng.choice([[], [], [], ['-q'], ['-f', '%D %c %s %T.%t %a %d %S %n %p %C %e\\n'], ['-O', '-d', '-'],
                        ['-q', '-d', '-', '-o', '/dev/null'], ['-M', '-O', '-d', '-']])
    return args


def generated(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        yield 'generated', f'seed {seed}', b''.join(any_stream(rng)), any_options(rng)


def slow_writers():
    for seed in range(12):
        rng = random.Random(1000 + seed)
        records, chunks = any_stream(rng)[:120], []
        while records:
            n = rng.choice([1, 5, 20, 40])
            chunks.append(b''.join(records[:n]))
            records = records[n:]
        # A record cut in two, with a pause between: it is waited for.
        if len(chunks) > 2:
            chunks[1:2] = [chunks[1][:-20], chunks[1][-20:]]
        yield 'slow', f'seed {1000 + seed}', chunks, [], 'slow'


# ---- streams made for one question each ----

def timed():
    """-t, with the remappers that it knows by their major number."""
    for device in SDA, 9 << 20 | 127, 253 << 20, 254 << 20:
        records, t = [process(10, b'fio', device=device)], 1000
        for i in range(40):
            for letter in ('Q', 'G', 'I', 'D', 'C') if i % 3 or device == SDA else ('Q', 'C'):
                t += 777 * (i + 1)
                records.append(event(letter, len(records), t, device=device, sector=i * 8, cpu=0))
        for args in ['-t'], ['-t', '-s', '-b', '3']:
            yield 'timed', f'device {device:x}', b''.join(records), args


def damaged():
    q = [event('Q', i, i * 1000) for i in range(10)]
    bad = q[3][:1] + b'\x33' + q[3][2:]
    v8 = struct.pack('<IIQQIIQIIHH12x', 0x65617408, 3, 3000, 24, 4096, 10, 1 | 0x111 << 16, SDA, 0, 0, 0)
    long = event('Q', 3, 3000, payload=bytes(range(256)) * 255)
    streams = {
        'empty': b'', 'only a note': process(10, b'x'), 'text': b'hello world\n' * 20, 'short text': b'hello',
        'bad magic': q[1] + q[2] + bad + q[4] + q[5], 'two of them': q[1] + q[2] + bad + bad + q[4],
        'with a payload': q[1] + q[2] + bad[:46] + b'\x10\0' + b'y' * 16 + q[4], 'bad at first': bad + q[1] + q[2],
        'bad behind a note': process(10, b'x') + bad + q[1], 'zeros behind': q[1] + q[2] + bytes(5000),
        'cut header': q[1] + q[2] + q[3][:40], 'cut payload': q[1] + q[2] + long[:2000], 'cut at 4': q[1] + q[2][:4],
        'long payload': q[1] + q[2] + long + q[4], 'version 8': v8 * 3, 'version 8 inside': q[1] + q[2] + v8 + q[4],
        'version 6': q[1] + event('Q', 2, 2000, version=6) + q[3] + q[4],
        'version 6 at first': event('Q', 1, 1000, version=6) + q[2] + q[3],
        'version 8, short': q[1] + event('Q', 2, 2000, version=8, payload=b'abcd') + q[2],
        'big-endian': b''.join(event('Q', i, i * 1000, order='>') for i in range(1, 5)),
        'both orders': q[1] + event('Q', 2, 2000, order='>') + q[3],
        'flagged event': q[1] + record(2, 2000, number=0x101, payload=bytes(8)) + q[3],
        'flagged message': q[1] + record(0, 1500, number=0x102, categories=NOTIFY, payload=b'12345678text') + q[2],
        'note of two kinds': q[1] + record(0, 1500, number=2, categories=NOTIFY | READ, payload=b'text') + q[2],
        'CPU 5000': event('Q', 2, 1000, cpu=5000) + event('Q', 3, 2000, cpu=5000) + q[4],
        'late seconds': q[1] + event('Q', 2, (2**31 + 5) * S) + event('Q', 3, (2**32 + 7) * S),
    }
    for name, data in streams.items():
        for args in [], ['-b', '2'], ['-O', '-d', '-']:
            yield 'damaged', name, data, args


def numbered():
    """Sequence numbers in the order of time, on one CPU: gaps, late ones, repeated ones, a second run."""
    rows = ([1, 2, 4, 3, 5], [1, 2, 5, 6, 9], [5, 1, 2, 3, 4, 10, 13, 14, 6, 9], [1, 2, 3, 10, 6, 11], [3, 4, 2, 5, 1],
            [1, 2, 2, 3], [1, 2, 3, 1, 2, 3, 4], [0, 1, 2], [0, 0, 0], [2**32 - 2, 2**32 - 1, 0, 1],
            [1, 10, 5, 6, 7, 3, 4, 8, 11], [1, 100, 50, 25, 75, 51, 49, 26, 24, 101, 103])
    for row in rows:
        data = b''.join(event('Q', n, 1000 * i) for i, n in enumerate(row))
        for args in [], ['-v'], ['-v', '-b', '1'], ['-b', '3']:
            yield 'numbered', f'{row}', data, args


# ---- stored traces ----

def chunked(rng, files, most):
    """As blktrace pipes them: each CPU's records in order, in chunks."""
    lists, chunks = [split(f)[:10000] for f in files], []
    while any(lists):
        records = rng.choice([r for r in lists if r])
        n = rng.randint(1, most)
        chunks += records[:n]
        del records[:n]
    return chunks


def stored(classic, work):
    traces = {}
    for path in sorted(glob.glob(os.path.join(work, '*', '**', '*.blktrace.*'), recursive=True)):
        with open(path, 'rb') as f:
            traces.setdefault(path[:path.index('.blktrace.')], []).append(f.read())
    if len(traces) < 9:
        sys.exit(f'only {len(traces)} devices were found')
    rng = random.Random(7)
    for name, files in traces.items():
        chunks = b''.join(chunked(rng, files, 300))
        for args in [], ['-s', '-q'], ['-b', '100', '-w', '0.5:2']:
            yield 'stored', name + ' in chunks', chunks, args
        yield 'stored', name + ' file by file', b''.join(b''.join(split(f)[:10000]) for f in files)
        lossy = [r for r in chunked(rng, files, 50) if rng.random() > .001]
        yield 'stored', name + ' with losses', b''.join(lossy)
        merged = subprocess.run([classic, '-i', os.path.basename(name), '-O', '-d', '-'], check=True,
                                cwd=os.path.dirname(name), capture_output=True).stdout
        merged = merged[merged.index(b'\x07tae'):]
        yield 'stored', name + ' merged, through a pipe', merged, [], 'cat'
    everything = chunked(rng, [f for files in traces.values() for f in files], 500)
    yield 'stored', 'all of them', b''.join(everything), ['-q']


def main():
    classic, blklab, work = sys.argv[1:4]
    seeds = range(int(sys.argv[4]) if len(sys.argv) > 4 else 150)
    runner = Runner(classic, blklab, work)
    kinds = [runner.compare(*job) for job in slow_writers()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for jobs in damaged(), numbered(), timed(), generated(seeds), stored(classic, work):
            kinds += pool.map(lambda job: runner.compare(*job), jobs)
    print(', '.join(f'{n} {kind}' for kind, n in collections.Counter(kinds).items()) + ': the same output')


if __name__ == '__main__':
    main()
