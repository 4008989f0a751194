"""Whatever code depends on is part of its key in the cache: a change makes a derivative anew."""

import shutil
from pathlib import Path

import pytest

import numbad

from .processes import run

PROGRAM = Path(__file__).with_name("changing.txt")
CONSTANTS = """
import numpy as np
from numba import njit
NUMBER, TUPLE, SINGLE = FACTOR, (FACTOR,), np.float32(FACTOR)

@njit
def deep(x):
    return x * FACTOR
"""
INNER = """
from numba import njit

@njit
def times(x):
    return x * FACTOR
"""
CASES = (
    *("two levels down", "closure", "tuple", "NumPy scalar", "array", "module"),
    *("NumPy scalar in a module", "tuple in a module", "function in a package", "enum"),
    *("jitclass", "jitclass as argument", "overload", "intrinsic", "method", "default"),
    *("function as argument", "rule", "symbolic rule", "checkpoint"),
)


def write(folder, factor):
    """The program and its modules, with this factor."""
    package = folder / "changing_package"
    package.mkdir(exist_ok=True)
    files = {
        folder / "program.py": PROGRAM.read_text(),
        folder / "changing_constants.py": CONSTANTS,
        # A package with a version is the user's all the same.
        package / "__init__.py": "from . import inner\n__version__ = '1.0'\n",
        package / "inner.py": INNER,
    }
    for path, text in files.items():
        path.write_text(text.replace("FACTOR", repr(factor)))
    return folder / "program.py"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What processes find before a change, after none, and after it."""
    folder = tmp_path_factory.mktemp("program")
    cache = folder / "cache"
    found = [run(write(folder, 2.0), cache), run(folder / "program.py", cache)]
    return [*found, run(write(folder, 3.0), cache, SETTING="7.0")]


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen(runs, name):
    before, same, changed = ([result[name][0]] for result in runs)
    assert (before, same, changed) == ([2.0], [2.0], [3.0])


@pytest.mark.parametrize("name", [*CASES, "fields", "options", "rule of a built-in function"])
def test_what_has_not_changed_is_found(runs, name):
    before, same, changed = (result[name][1] for result in runs)
    made = [name for name in same if name.startswith(("sweep", "grad", "pull"))]
    assert before, "the counter counts nothing"
    assert made == []
    assert changed


def test_the_order_of_fields_is_seen(runs):
    assert [result["fields"][0] for result in runs] == [[2.0, 3.0], [2.0, 3.0], [3.0, 2.0]]


def test_options_are_seen(runs):
    """With fastmath the sum is folded, without it 1 is lost in 1e16."""
    assert [result["options"][0] for result in runs] == [0.0, 0.0, 1.0]


def test_rules_of_functions_that_nobody_compiles_are_seen(runs):
    found = [result["rule of a built-in function"][0] for result in runs]
    assert found == [1.0, 1.0, 7.0]


ONE = """
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

@njit
def square(x):
    return x * x

record("square", nd.grad(square, mode="reverse"), 3.0)
report()
"""


@pytest.mark.dear
def test_a_change_of_numbad_is_seen(tmp_path):
    program, copy = tmp_path / "program.py", tmp_path / "copy"
    program.write_text(ONE)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(numbad.__file__).parent, copy / "numbad", ignore=ignored)

    def compiled():
        value, lowered, _ = run(program, tmp_path / "cache", package=copy)["square"]
        assert value == 6.0
        return lowered

    assert compiled()
    assert compiled() == []
    with (copy / "numbad" / "rules" / "scalar.py").open("a") as file:
        file.write("\n# changed\n")
    assert "sweep_square" in compiled()


@pytest.mark.deep
@pytest.mark.parametrize("setting", [{"NUMBA_OPT": "1"}, {"NUMBAD_SOME_SWITCH": "1"}])
def test_a_change_of_settings_is_seen(tmp_path, setting):
    program = tmp_path / "program.py"
    program.write_text(ONE)
    lowered = [
        run(program, tmp_path / "cache", **given)["square"][1] for given in ({}, setting, setting)
    ]
    assert lowered[0]
    assert "sweep_square" in lowered[1]
    assert lowered[2] == []
