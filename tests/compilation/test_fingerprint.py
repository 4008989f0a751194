"""Digests differ where code differs, though name, place and bytecode agree."""

import shutil
import types
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import numbad
import numbad as nd
from numbad.compilation.fingerprint import fingerprint
from numbad.fit import evaluate

from .processes import run

Given = namedtuple("Given", "a b")


def with_globals(function, **names):
    return types.FunctionType(function.__code__, {**function.__globals__, **names}, "made")


def generated(value):
    """A function made as `exec` does without a module's name: it counts as one of `builtins`."""
    scope = {"value": value}
    exec("def made(x):\n    return value * x\n", scope)
    return scope["made"]


def with_default(value):
    return lambda x, y=value: x * y


def with_keyword(value):
    def function(x, *, y=value):
        return x * y

    return function


def trying(inside):
    """The same instructions but for what the `try` covers."""
    if inside:

        def function(x):
            try:
                y = 1.0 / x
            except Exception:
                y = 0.0
            return y
    else:

        def function(x):
            y = 1.0 / x
            return y

    return function


class Metres(float):
    def __repr__(self):
        return f"{float(self):.2f} m"


class Name(str):
    def __repr__(self):
        return "a name"


DIFFERENT = {
    "numbers that tell little of themselves": (generated(Metres(2.001)), generated(Metres(2.003))),
    "texts that tell little of themselves": (generated(Name("a")), generated(Name("b"))),
    "classes of numbers": (generated(Metres(2.0)), generated(2.0)),
    "a constant with names for its members": (
        generated(Given(1.0, 2.0)),
        generated(namedtuple("Given", "b a")(1.0, 2.0)),
    ),
    "globals of a generated function": (generated(1.0), generated(2.0)),
    "globals in a library's place": (
        with_globals(evaluate._evaluate, curve=njit(lambda x: x)),
        with_globals(evaluate._evaluate, curve=njit(lambda x: -x)),
    ),
    "defaults": (with_default(1.0), with_default(2.0)),
    "keywords": (with_keyword(1.0), with_keyword(2.0)),
    "exceptions": (trying(True), trying(False)),
    "zeros": (generated(0.0), generated(-0.0)),
    "types": (generated(1), generated(1.0)),
    "truth": (generated(1), generated(True)),
    "precision": (generated(np.float32(1)), generated(np.float64(1))),
    "dtypes": (generated(np.dtype("f4")), generated(np.dtype("f8"))),
    "arrays": (generated(np.zeros(2000)), generated(np.r_[np.zeros(1999), 1.0])),
    "shapes": (generated(np.zeros((2, 3))), generated(np.zeros((3, 2)))),
    "nesting": (generated(((1, 2), 3)), generated((1, (2, 3)))),
    "options": (njit(generated(1.0)), njit(fastmath=True)(generated(1.0))),
    "sets of options": (
        njit(fastmath={"nnan"})(generated(1.0)),
        njit(fastmath={"contract"})(generated(1.0)),
    ),
    "checkpoints": (nd.checkpoint(njit(generated(1.0))), nd.checkpoint(njit(generated(2.0)))),
    "operators": (nd.grad(generated(1.0)), nd.grad(generated(2.0))),
    "modes": (nd.grad(generated(1.0), mode="reverse"), nd.grad(generated(1.0), mode="forward")),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_code_has_different_digests(name):
    first, second = map(fingerprint, DIFFERENT[name])
    assert first is not None
    assert second is not None
    assert first != second


class Configuration:
    factor = 1.0


def test_attributes_of_classes(monkeypatch):
    """The code of overloads, which runs in Python, may read them."""

    def function(x):
        return Configuration.factor * x

    first = fingerprint(function)
    assert first is not None
    monkeypatch.setattr(Configuration, "other", 2.0, raising=False)
    assert fingerprint(function) == first
    monkeypatch.setattr(Configuration, "factor", 2.0)
    assert fingerprint(function) not in (first, None)


@pytest.mark.parametrize("closure", [False, True], ids=["global", "closure"])
def test_modules_and_classes_that_lead_to_each_other(monkeypatch, closure):
    """A module that a function around has imported is as one that the file has."""
    module = types.ModuleType("somebodys")
    module.module, module.Configuration = module, Configuration
    monkeypatch.setattr(Configuration, "itself", Configuration, raising=False)
    if closure:

        def function(x):
            return module.module.Configuration.itself.factor * x + module.shift

    else:
        scope = {"module": module}
        exec("def f(x): return module.module.Configuration.itself.factor * x + module.shift", scope)
        function = scope["f"]
    found = []
    for factor, shift in ((1.0, 1.0), (2.0, 1.0), (2.0, 3.0), (1.0, 1.0)):
        monkeypatch.setattr(Configuration, "factor", factor)
        module.shift = shift
        found.append(fingerprint(function))
    assert None not in found
    assert found[0] == found[3]
    assert len(set(found)) == 3


def test_equal_code_has_equal_digests():
    for value in (1.0, (1.0, "a"), np.arange(3), Given, Given(1, 2), np.float32(2), {1, 2}):
        assert fingerprint(generated(value)) == fingerprint(generated(value)) is not None


def test_whether_equal_constants_are_one_object_does_not_matter():
    one, other = (1000.0, "long" * 10), (float("1000"), "".join(["long"] * 10))
    assert fingerprint((one, one)) == fingerprint((one, other))


def test_what_has_no_content_has_no_digest():
    assert fingerprint(generated(object())) is None
    assert fingerprint(generated(np.array([object()]))) is None
    assert fingerprint(generated(open)) is not None  # it has a name that others know


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


RULE_FIRST = """
import math
import os
import numbad as nd
from tests.compilation.counting import record, report

slope = float(os.environ["SETTING"])
nd.scalar_rule(math.erf, lambda ans, x: slope)
for mode in "forward", "reverse":
    record(mode, nd.grad(lambda x: math.erf(x), mode=mode), 0.3)
report()
"""


@pytest.mark.dear
def test_rules_given_before_anything_is_compiled_are_seen(tmp_path):
    """What tells programs apart is loaded with the first one that is compiled."""
    program = tmp_path / "program.py"
    program.write_text(RULE_FIRST)
    for slope in 3.0, 4.0, 3.0:
        found = run(program, tmp_path / "cache", SETTING=repr(slope))
        assert [found[mode][0] for mode in ("forward", "reverse")] == [slope, slope]


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
