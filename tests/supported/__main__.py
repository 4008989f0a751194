"""Runs every probe: `python -m tests.supported` writes docs/supported.md, `--check` compares with it.

With patterns of program names (`python -m tests.supported 'numpy-ufuncs-*'`) only those rows are made anew.
"""

import fnmatch
import sys

from . import table
from .running import found_now
from .sections import SECTIONS


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
