"""Runs every probe: `python -m tests.supported` writes docs/supported.md, `--check` compares with it."""

import sys

from . import table
from .sections import SECTIONS
from .status import checked, statuses


def found_now(sections):
    """(section, feature) -> statuses in forward and reverse mode."""
    found = {}
    for name, section, probes in table.programs(sections):
        print(name, flush=True)
        for probe in probes:
            checked(probe)
        columns = [statuses(probes, mode) for mode in table.MODES]
        for probe, *row in zip(probes, *columns, strict=True):
            found[section.title, probe.feature] = tuple(row)
            for mode, status in zip(table.MODES, row, strict=True):
                if status.startswith("WRONG"):
                    print(f"  {probe.feature}, {mode}: {status}", flush=True)
    return found


def main(arguments):
    found = found_now(SECTIONS)
    rows = {(title, table.shown(feature)): row for (title, feature), row in found.items()}
    wrong = [k for k, row in rows.items() if any(s.startswith("WRONG") for s in row)]
    if "--check" in arguments:
        committed = table.committed()
        differing = sorted({k for k in {*rows, *committed} if rows.get(k) != committed.get(k)})
        for k in differing:
            print(f"{k}: {rows.get(k)}, in docs/supported.md {committed.get(k)}")
        return bool(differing or wrong)
    table.write(table.markdown(SECTIONS, found))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
