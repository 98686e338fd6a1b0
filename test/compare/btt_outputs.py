# SPDX-License-Identifier: MIT
"""Everything that a run of btt writes, by kind: {(kind, file or section): lines}."""
import re

SECTIONS = ("Per Process", "Per Device", "All Devices", "Device Overhead", "Device Merge Information",
            "Device Q2Q Seek Information", "Device D2D Seek Information", "Plug Information",
            "Active Requests At Q Information", "I/O Active Period Information", "Q2D Histogram")
RECORDS = ("Q2Q", "Q2A", "Q2G", "S2G", "G2I", "Q2M", "I2D", "M2D", "D2C", "Q2C", "DMI", "QSK", "DSK", "PLG", "UPG", "ARQ")
# Options give the files these names (btt_uses.py).
FILES = {
    "iops_fp": r".*_iops_fp\.dat", "mbps_fp": r".*_mbps_fp\.dat", "qhist": r"o_qhist\.dat", "dhist": r"o_dhist\.dat",
    "blocks": r"blk_.*_[rwc]\.dat", "d2c": r"d2c_.*_d2c\.dat", "q2c": r"q2c_.*_q2c\.dat", "q2d": r"q2d_.*_q2d\.dat",
    "q2d_plat": r".*_q2d_plat\.dat", "q2c_plat": r".*_q2c_plat\.dat", "d2c_plat": r".*_d2c_plat\.dat",
    "q2q seeks": r"seek_.*_q2q_[rwc]\.dat", "d2d seeks": r"seek_.*_d2d_[rwc]\.dat", "seeks/s": r"mseek_.*\.dat",
    "depth": r"aqd_.*_aqd\.dat", "unplugs": r"unp_.*\.dat", "per I/O": r"pio", "pit": r".*_pit\.dat",
    "live": r".*_live\.dat", "iostat": r"iostat", "messages": r"o\.msg", "ranges": r"o\.dat",
}
KINDS = (*SECTIONS, *(f"xvg {record}" for record in RECORDS), *FILES)


def kind_of(file):
    for kind, pattern in FILES.items():
        if re.fullmatch(pattern, file):
            return kind
    return None


def sections(lines):
    """[(section, lines)] of tables; what precedes them is messages, what follows ranges (of standard output)."""
    found, name = [], "messages"
    for line in lines:
        heading = re.fullmatch("={20} (.*) ={20}", line)
        if heading:
            name = heading[1]
        elif line == "# Total System":
            name = "ranges"
        if not found or found[-1][0] != name:
            found.append((name, []))
        found[-1][1].append(line)
    return found


def lines_of(data):
    text = data.decode("latin-1")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + " (no newline)"]


def outputs(files):
    """files: {name: bytes} of one run, standard output as "stdout"."""
    found = {}
    for name, data in files.items():
        lines = lines_of(data)
        if name in ("o.avg", "stdout"):
            for section, of in sections(lines):
                found[section if section in SECTIONS or section in FILES else f"unknown section {section}", name] = of
        elif name == "o.xvg":
            for line in lines:
                found.setdefault(("xvg " + line.split()[0], name), []).append(line)
        else:
            found[kind_of(name) or f"unknown file {name}", name] = lines
    return found
