"""The table of `docs/supported.md`, made of what the probes show."""

import re
from pathlib import Path

import numba

PATH = Path(__file__).parents[2] / "docs" / "supported.md"
BEGIN, END = "<!-- begin of what the probes show -->\n", "<!-- end of what the probes show -->\n"
MODES = ("forward", "reverse")
_ROW = re.compile(r"^\| (.+?) \| (\w+) \| (\w+) \| `(\S+)` \|$")


def programs(sections):
    """`(name, section, probes)` of everything that is compiled at once: one probe, or a group."""
    for section in sections:
        grouped = [p for p in section.probes if p.grouped]
        for start in range(0, len(grouped), _GROUP):
            yield f"{key(section)}-{start // _GROUP}", section, grouped[start : start + _GROUP]
        for p in section.probes:
            if not p.grouped:
                yield f"{key(section)}-{slug(p.feature)}", section, [p]


_GROUP = 25


def key(section):
    """A section's name in the names of tests."""
    return slug(section.title)


def slug(text):
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower()


def markdown(sections, found):
    """The table; `found` has the statuses of each probe, by section title and feature as shown."""
    lines = [version()]
    names = {
        (section.title, p.feature): name
        for name, section, probes in programs(sections)
        for p in probes
    }
    for section in sections:
        lines += ["", f"### {section.title}", ""]
        lines += ["| feature | forward | reverse | test |", "| --- | --- | --- | --- |"]
        for p in section.probes:
            if (row := found.get((section.title, shown(p.feature)))) is None:
                continue
            name = names[section.title, p.feature]
            lines.append(f"| {shown(p.feature)} | {' | '.join(row)} | `{name}` |")
    return "\n".join(lines) + "\n"


def version():
    """What the table is shown with; the line that it opens with."""
    import numpy as np

    return f"Shown with Numba {numba.__version__} and NumPy {np.__version__}."


def age():
    """Negative where the installed Numba is older than the table's, positive where it is newer."""
    stated = re.search(r"^Shown with Numba (\d+)\.(\d+)", PATH.read_text(), re.MULTILINE)
    of_table = tuple(map(int, stated.groups())) if stated else (0, 0)
    installed = tuple(map(int, numba.__version__.split(".")[:2]))
    return (installed > of_table) - (installed < of_table)


def shown(feature):
    return feature.replace("|", r"\|")


def committed():
    """The rows of the committed table: (section, feature) -> statuses."""
    rows, title = {}, None
    for line in PATH.read_text().splitlines():
        if line.startswith("### "):
            title = line[4:]
        elif (match := _ROW.match(line)) and title:
            rows[title, match[1]] = (match[2], match[3])
    return rows


def write(text):
    """Put the table between the markers of the page."""
    before, _, rest = PATH.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PATH.write_text(before + BEGIN + "\n" + text + "\n" + END + after)
