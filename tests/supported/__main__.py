"""Runs every probe: `python -m tests.supported` writes docs/supported.md, `--check` compares with it.

With patterns of program names (`python -m tests.supported 'numpy-ufuncs-*'`) only those rows are made anew.
"""

import argparse
import fnmatch
import sys

from . import table
from .running import found_now
from .sections import SECTIONS


def main():
    parser = argparse.ArgumentParser("python -m tests.supported", description=__doc__)
    parser.add_argument("patterns", nargs="*", help="of the programs' names; all by default")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    patterns = options.patterns or ["*"]
    names = [
        name
        for name, *_ in table.programs(SECTIONS)
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
    found = found_now(names)
    rows = {(title, table.shown(feature)): row for (title, feature), row in found.items()}
    committed = table.committed()
    wrong = any(status.startswith("WRONG") for row in rows.values() for status in row)
    if options.check:
        differing = {k for k in rows if rows[k] != committed.get(k)}
        if patterns == ["*"]:
            differing |= committed.keys() - rows.keys()
        for k in sorted(differing):
            print(f"{k}: {rows.get(k)}, in docs/supported.md {committed.get(k)}")
        return bool(differing or wrong)
    table.write(table.markdown(SECTIONS, committed | rows))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
