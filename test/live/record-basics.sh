#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Buffered writes and a sync on a real ext4, recorded: the directory has what doc/formats/trace_dir.md
# promises, the numbers agree with what was done, and nobody else's tracing was touched.
set -eu
. "$(dirname "$(realpath "$0")")/lib.bash"
needs losetup mkfs.ext4 python3 dd
make_fs 256

state() { (cd $tracing && cat tracing_on current_tracer trace_clock set_event buffer_size_kb tracing_thresh saved_cmdlines_size options/* && ls instances); }
before=$(state)
expect 0 "$BLKLAB" record -d "$loop" -o trace -- sh -c "dd if=/dev/zero of=$mnt/file bs=1M count=64 status=none && sync -f $mnt/file"
[ "$before" = "$(state)" ] || fail "the tracing of others was changed: $(diff <(echo "$before") <(state))"
says "the trace is in trace"
[[ $out == *VERDICT* ]] || fail "prints no report: $out"

number=$(cat "/sys/block/${loop#/dev/}/dev")
meta trace "m['trace_version'] == 1 and m['complete'] is True and m['backend'] == 'tracefs'"
meta trace "m['kernel'] == '$(uname -r)' and m['machine'] == '$(uname -m)' and m['clock'] == 'mono'"
meta trace "[d['device'] for d in m['devices']] == ['${number/:/,}'] and m['devices'][0]['name'] == '${loop#/dev/}'"
meta trace "m['devices'][0]['kind'] == 'request' and m['devices'][0]['partition'] is None and m['devices'][0]['why'] == 'asked'"
meta trace "[(x['dir'], x['fstype']) for x in m['devices'][0]['mounts']] == [('$mnt', 'ext4')]"
meta trace "m['command']['argv'][0] == 'sh' and m['command']['exit_status'] == 0 and m['command']['signal'] is None"
meta trace "m['start_ns'] <= m['command']['start_ns'] < m['command']['end_ns'] <= m['end_ns']"
meta trace "m['command']['wall_ns'] == m['command']['end_ns'] - m['command']['start_ns'] and m['command']['system_ns'] > 0"
meta trace "abs(m['wall_clock']['wall_ns'] / 1e9 - $(date +%s)) < 60"
meta trace "m['stopped_by'] == 'command' and m['write_errors'] == [] and m['devices_gone'] == []"
meta trace "len(m['events']) + len(m['events_absent']) == 24"
meta trace "m['command']['user_ns'] + m['command']['system_ns'] > 0"
meta trace "m['devices'][0]['loop']['backing_file'] == '$WORK/disk0' and m['devices'][0]['loop']['direct_io'] in (True, False)"
meta trace "all(r['overrun'] == r['dropped_events'] == r['commit_overrun'] == r['lost_bytes'] == 0 for r in m['ring'])"
meta trace "[r['cpu'] for r in m['ring']] == m['cpus'] and sum(r['read_events'] for r in m['ring']) > 100"
meta trace "m['threads'] and all(t['kernel'] and t['cpu_ns'] > 0 for t in m['threads'])"
meta trace "m['threads'] == sorted(m['threads'], key=lambda t: -t['cpu_ns'])"
# What the workers did is sampled, by work; and said so.
meta trace "any(t.get('work') for t in m['threads']) and all(t.get('sampled') for t in m['threads'] if t.get('work'))"
meta trace "all(not set(t['comm']) & set('+-') for t in m['threads'] if t['comm'].startswith('kworker/'))"
# Field 7: sectors written.
meta trace "m['after']['diskstats']['${loop#/dev/}'][6] - m['before']['diskstats']['${loop#/dev/}'][6] >= 64 * 2048"
meta trace "m['after']['vmstat']['nr_written'] - m['before']['vmstat']['nr_written'] >= 64 * 256 and 'Dirty_bytes' in m['before']['meminfo']"

python3 - <<'END' || fail "the files do not agree with meta.json"
import json, os
m = json.load(open("trace/meta.json"))
for ring in m["ring"]:
    size = os.path.getsize("trace/" + ring["file"])
    assert size == ring["bytes_written"] and size % m["page_size"] == 0, ring
for event in m["events"]:
    assert "field:" in open("trace/formats/" + event["name"]).read(), event
assert "commit" in open("trace/formats/header_page").read()
samples = [json.loads(line) for line in open("trace/samples.jsonl")]
assert len(samples) == m["samples"]["count"] >= 1
assert all(m["start_ns"] <= s["time_ns"] for s in samples)
assert all(len(s["diskstats"][m["devices"][0]["name"]]) >= 11 for s in samples)
for name in "start", "end":
    facts = json.load(open(f"trace/facts/{name}.json"))
    for path in "/proc/sys/vm/dirty_ratio", "/proc/self/mountinfo", f"/sys/block/{m['devices'][0]['name']}/queue/scheduler":
        assert facts[path], path
names = dict(line.rstrip("\n").split(" ", 1) for line in open("trace/saved_cmdlines", newline="\n", errors="replace") if " " in line)
assert names["2"] == "kthreadd"
assert sorted(os.listdir("trace")) == sorted(
    ["meta.json", "samples.jsonl", "saved_cmdlines", "saved_tgids", "kmsg", "facts", "formats"] + [r["file"] for r in m["ring"]])
END

# An existing directory is refused, and stays as it is.
sum=$(cat trace/meta.json | cksum)
expect 1 "$BLKLAB" record -d "$loop" -o trace -- true
says "trace exists already"
[ "$sum" = "$(cat trace/meta.json | cksum)" ] || fail "the existing trace was changed"

# Neither -d nor --mount: the device under the current directory, said in one line; the default name.
mkdir "$mnt/sub"
(cd "$mnt/sub" && expect 0 "$BLKLAB" record --no-report -- true && says "recording ${loop#/dev/}, the device under the current directory" &&
	says "is on the recorded device" && ls -d blklab-????????-??????/meta.json >/dev/null) || fail "no trace of the default name"

# --mount gives the same device.
expect 0 "$BLKLAB" record --mount "$mnt/sub" -o by-mount --no-report --no-plug -- true
meta by-mount "m['devices'][0]['device'] == '${number/:/,}' and m['devices'][0]['why'] == 'asked'"
meta by-mount "not any('plug' in e['name'] for e in m['events'] if 'zone' not in e['name'] and 'zplug' not in e['name'] and 'wplug' not in e['name'])"

# CMD's status is stored, and returned when asked for.
expect 0 "$BLKLAB" record -d "$loop" -o status7 --no-report -- sh -c 'exit 7'
says "the command ended with status 7"
meta status7 "m['command']['exit_status'] == 7 and m['command']['signal'] is None"
expect 7 "$BLKLAB" record -d "$loop" -o status7b --no-report --exit-with-cmd -- sh -c 'exit 7'
expect 137 "$BLKLAB" record -d "$loop" -o killed --no-report --exit-with-cmd -- sh -c 'kill -KILL $$'
meta killed "m['command']['exit_status'] is None and m['command']['signal'] == 9"

# A command of one thread has no more CPU time than time; a larger buffer by its letter.
expect 0 "$BLKLAB" record -d "$loop" -o short --no-report --buffer 0.001G -- true
meta short "m['command']['user_ns'] + m['command']['system_ns'] <= m['command']['wall_ns'] and m['buffer_bytes'] == 1073741"

# A CPU's pages that got lost, all or the last of them, are damage.
expect 0 "$BLKLAB" report trace
largest=$(ls -S trace/cpu*.pages | head -n 1)
cp -r trace part
truncate -s -4096 "part/${largest##*/}"
expect 3 "$BLKLAB" report --json part
grep -q '"damaged_bytes": 4096' stdout || fail "a cut off page is not counted"
rm "part/${largest##*/}"
if ls part/cpu*.pages >/dev/null 2>&1; then
	expect 3 "$BLKLAB" report --json part
	grep -q "${largest##*/} is missing" stdout || fail "a missing file is not told"
	grep -q "\"damaged_bytes\": $(stat -c %s "$largest")" stdout || fail "a missing file is not counted"
fi

# The time limit.
expect 0 "$BLKLAB" record -d "$loop" -o timed --no-report --for 0.3
meta timed "m['stopped_by'] == 'time' and m['command'] is None and 250e6 < m['end_ns'] - m['start_ns'] < 2000e6"
expect 0 "$BLKLAB" record -d "$loop" -o timed2 --no-report --for 0.3 -- sleep 60
says "is asked to end (SIGTERM)"
meta timed2 "m['stopped_by'] == 'time' and m['command']['signal'] == 15"

# Several in the same second, without a name.
mkdir same
(cd same && for _ in 1 2 3; do "$BLKLAB" record -d "$loop" --no-report -- true 2>>errors & done; wait)
[ "$(ls -d same/blklab-2*/meta.json | wc -l)" = 3 ] || fail "3 recordings at a time: $(ls same) $(cat same/errors)"
echo "recorded, looked at and compared $(ls -d ./*/meta.json | wc -l) traces"
