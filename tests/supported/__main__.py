"""Runs every probe: `python -m tests.supported` writes docs/supported.md, `--check` compares with it.

With patterns of program names (`python -m tests.supported 'lists-*'`) only those rows are made anew.
"""

import fnmatch
import os
import sys
from multiprocessing import get_context

from . import table
from .sections import SECTIONS
from .status import checked, statuses

PROCESSES = min(2, os.cpu_count())
PROGRAMS_OF_A_PROCESS = 40  # what is compiled stays in memory: some 10 MB a program


def shown_by(name):
    """The name of a program, and `(section, feature)` -> statuses of its probes in both modes."""
    section, probes = next((s, p) for n, s, p in table.programs(SECTIONS) if n == name)
    for probe in probes:
        checked(probe)
    columns = [statuses(probes, mode) for mode in table.MODES]
    rows = zip(probes, *columns, strict=True)
    return name, {(section.title, probe.feature): tuple(row) for probe, *row in rows}


def found_now(names):
    """The rows of these programs, each run in one of a few processes."""
    found = {}
    with get_context("spawn").Pool(PROCESSES, maxtasksperchild=PROGRAMS_OF_A_PROCESS) as pool:
        for name, rows in pool.imap(shown_by, names, chunksize=1):
            print(name, flush=True)
            for (_, feature), row in rows.items():
                for mode, status in zip(table.MODES, row, strict=True):
                    if status.startswith("WRONG"):
                        print(f"  {feature}, {mode}: {status}", flush=True)
            found |= rows
    return found


def main(arguments):
    patterns = [a for a in arguments if not a.startswith("-")] or ["*"]
    names = [
        name
        for name, *_ in table.programs(SECTIONS)
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
    found = found_now(names)
    rows = {(title, table.shown(feature)): row for (title, feature), row in found.items()}
    committed = table.committed()
    wrong = any(status.startswith("WRONG") for row in rows.values() for status in row)
    if "--check" in arguments:
        differing = {k for k in rows if rows[k] != committed.get(k)}
        if patterns == ["*"]:
            differing |= committed.keys() - rows.keys()
        for k in sorted(differing):
            print(f"{k}: {rows.get(k)}, in docs/supported.md {committed.get(k)}")
        return bool(differing or wrong)
    table.write(table.markdown(SECTIONS, committed | rows))
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
