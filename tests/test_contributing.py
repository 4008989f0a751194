"""CONTRIBUTING names files, functions and classes that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())

# `name` (`path`), `name` of `path`, and `path`, `name`
NAMED_BEFORE = r"`(\w+)` (?:\(|of |in )`([\w/.]+\.py)`"
NAMED_AFTER = r"`([\w/.]+\.py)`, `(\w+)`(?! of)"


def _file(path):
    """The file that a path means, from the root or from numbad/; None where there is none."""
    for folder in (ROOT, ROOT / "numbad"):
        if (folder / path).is_file():
            return folder / path
    found = [] if "/" in path else list((ROOT / "numbad").rglob(path))
    return found[0] if len(found) == 1 else None


def _has(path, name):
    """Whether a file defines or assigns a name."""
    source = _file(path).read_text(encoding="utf-8")
    return bool(re.search(rf"^\s*(?:def|class) {name}\b|^{name}\b.* = ", source, re.MULTILINE))


def _names(text):
    pairs = [(path, name) for name, path in re.findall(NAMED_BEFORE, text)]
    return pairs + re.findall(NAMED_AFTER, text)


# The recipe for an ODE method names the file that it makes.
MADE_BY_A_RECIPE = {"numbad/ode/methods/ralston.py"}


def test_its_files_exist():
    named = set(re.findall(r"`([\w/.]+\.py)`", TEXT)) - MADE_BY_A_RECIPE
    assert len(named) > 30
    assert sorted(path for path in named if _file(path) is None) == []


def test_its_functions_and_classes_are_where_it_says():
    found = _names(TEXT)
    assert len(found) > 10
    assert [f"{path}: {name}" for path, name in found if _file(path) and not _has(path, name)] == []


def test_a_stale_name_is_found():
    assert _names("`grad` of `cli.py`, `main`") == [("cli.py", "grad"), ("cli.py", "main")]
    assert _has("cli.py", "main")
    assert not _has("cli.py", "grad")
    assert _file("nowhere.py") is None
