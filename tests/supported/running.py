"""The probes run in a few processes, each of which ends after some: what is compiled stays in memory."""

import os
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
