# SPDX-License-Identifier: MIT
#
# blkparse_values.py REPORT.json default|elapsed|own|columns: the values that the text of a trace must
# tell as the trace does, one a line.
import json
import sys

report, how = json.load(open(sys.argv[1])), sys.argv[2]
for device in report["devices"]:
    # Columns without a device are of one that is not known.
    name = "" if how == "columns" else device["device"]
    for key in "bios", "requests", "merges", "errors":
        if how == "columns" and key == "errors":
            continue
        print(name, key, json.dumps(device[key], sort_keys=True))
    for key in "d2c", "q2c", "q2g", "q2m", "i2d", "r_q2c":
        table = device["latency_ns"].get(key)
        if isinstance(table, dict):
            print(name, key, [table[x] for x in ("n", "min", "max", "mean")])
