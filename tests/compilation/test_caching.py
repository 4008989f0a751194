"""Code on disk: what other processes have written, at once, or damaged; and where there is no folder."""

import math

import pytest

from .processes import finish, run, start

TWO_OF_ONE_NAME = """
import sys
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

square = nd.grad(lambda x: x * x, mode="reverse")
cube = nd.grad(lambda x: x * x * x, mode="reverse")

@njit
def both(x):
    return square(x) + 100.0 * cube(x)

calls = {{"square": square, "cube": cube, "both": both}}
for name in {names!r}:
    record(name, calls[name], 3.0)
report()
"""


SIGNATURES = """
import numpy as np
import numbad as nd
from numba import njit
from tests.compilation.counting import record, report

@njit
def cubes(a):
    total = 0.0
    for x in a.flat:
        total += x * x * x
    return total

gradient = nd.grad(cubes, mode="reverse")
for dtype, order in (("f8", "C"), ("f4", "F")):
    a = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=dtype, order=order)
    record(dtype + order, gradient, a)
report()
"""
EXPECTED = [[3.0, 12.0], [27.0, 48.0]]


@pytest.mark.deep
def test_processes_that_write_the_same_entries_at_once(tmp_path):
    program, cache = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(SIGNATURES)
    for results in [finish(process) for process in [start(program, cache) for _ in range(4)]]:
        assert all(value == EXPECTED for value, *_ in results.values())
    names = [path.name for path in cache.iterdir()]
    assert all(name.endswith(".nbc") and not name.startswith(".") for name in names)
    for value, lowered, _ in run(program, cache).values():
        assert value == EXPECTED
        assert lowered == []


def garble(data):
    return bytes(255 - byte for byte in data)


def flip_a_bit(data):
    """Of the machine code, in the middle: LLVM ends the process that it is no code for."""
    data = bytearray(data)
    data[len(data) // 2] ^= 16
    return bytes(data)


@pytest.mark.dear
@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit,
        pytest.param(garble, marks=pytest.mark.deep),
        pytest.param(lambda data: b"", marks=pytest.mark.deep),
        pytest.param(lambda data: data[: len(data) // 2], marks=pytest.mark.deep),
        pytest.param(lambda data: data[:9], marks=pytest.mark.deep),
    ],
    ids=["bit", "garbled", "empty", "half", "head"],
)
def test_damaged_files_are_made_anew(tmp_path, damage):
    program, cache = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(TWO_OF_ONE_NAME.format(names=["square"]))
    run(program, cache)
    for path in cache.iterdir():
        path.write_bytes(damage(path.read_bytes()))
    value, lowered, _ = run(program, cache)["square"]
    assert value == 6.0
    assert lowered
    assert run(program, cache)["square"][1] == []


@pytest.mark.dear
def test_a_folder_that_cannot_be_made_stops_nobody(tmp_path):
    program, cache = tmp_path / "program.py", tmp_path / "file" / "cache"
    (tmp_path / "file").write_text("no folder")
    program.write_text(TWO_OF_ONE_NAME.format(names=["square"]))
    assert run(program, cache)["square"][0] == 6.0


@pytest.mark.dear
def test_no_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(TWO_OF_ONE_NAME.format(names=["square"]))
    for _ in range(2):
        value, lowered, _ = run(program, "off")["square"]
        assert value == 6.0
        assert lowered


NUMBAS_CACHE = """
import numpy as np
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

many = np.arange(200_000.0)

@njit
def weighted(x):
    total = 0.0
    for i in range(many.size):
        total += many[i] * x * x
    return total

gradient = nd.grad(weighted, mode="reverse")

@njit(cache=True)
def caller(x):
    return gradient(x)

record("caller", caller, 0.5)
report()
"""


SHARED = """
import numpy as np
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

many = np.arange(200_000.0)
every_other = many[::2]  # at the same address

@njit
def of_all(x):
    return x * many[3]

@njit
def of_every_other(x):
    return x * every_other[3]

calls = {{
    "all": lambda: nd.grad(of_all, mode="reverse")(1.0),
    "other": lambda: nd.grad(of_every_other, mode="reverse")(1.0),
}}
for name in {names!r}:
    record(name, calls[name])
if {change}:
    gradient = nd.grad(of_all, mode="reverse")
    many[3] = 5.0  # constants are to stay as they are, but nobody keeps them from being changed
    record("other", calls["other"])
    record("changed", gradient, np.float32(1.0))
report()
"""


@pytest.mark.deep
def test_arrays_that_share_memory(tmp_path):
    """What a process finds does not hang on which of two views another process met first."""
    program = tmp_path / "program.py"

    def found(*names, change=False):
        program.write_text(SHARED.format(names=names, change=change))
        return run(program, tmp_path / "cache")

    both = found("all", "other")
    assert [both[name][0] for name in ("all", "other")] == [3.0, 6.0]
    assert found("other")["other"][:2] == [6.0, []]
    assert found("all")["all"][:2] == [3.0, []]
    assert found("all", change=True)["changed"][0] == 5.0
    assert found("all", change=True)["changed"][0] == 5.0
    assert found("other", "all")["all"][:2] == [3.0, []]


@pytest.mark.dear
def test_numbas_own_cache_around_large_constants(tmp_path):
    """Numba keeps no code that refers to arrays by address; what it kept could not be loaded."""
    program = tmp_path / "program.py"
    program.write_text(NUMBAS_CACHE)
    for _ in range(2):
        settings = {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
        value, lowered, _ = run(program, tmp_path / "cache", **settings)["caller"]
        assert value == 200_000 * 199_999 / 2
        assert "caller" in lowered


IN_TURN = """
import json
import numbad as nd
from numba import njit

@njit
def a(x, n):
    return x if n == 0 else b(x, n - 1) * 1.5

@njit
def b(x, n):
    return x if n == 0 else a(x, n - 1) * 2.0

print(json.dumps(nd.grad(lambda x: a(x, 4) * x, mode="forward")(1.5)))
"""


@pytest.mark.dear
def test_functions_that_call_each_other_are_compiled_in_each_process(tmp_path):
    """They call each other by addresses, which are those of a process."""
    program, cache = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(IN_TURN)
    assert [run(program, cache) for _ in range(2)] == [27.0, 27.0]


KEPT_BY_NUMBA = """
import json
import numpy as np
import numbad as nd
from numba import njit
from helpers import h, twice

@njit
def squared(x):
    return x * x

solve = nd.ode.solver(lambda t, y, k: (-h(k) * y[0],))
nd.scalar_rule(squared, lambda ans, x: (0.5 * twice(h(x)),))
decay = nd.value_and_grad(lambda k: solve((1.0,), np.array([0.0, 1.0]), (k,))[1, 0], mode="reverse")
print(json.dumps([*decay(0.5), nd.grad(lambda x: squared(x))(1.0)]))
"""


@pytest.mark.dear
def test_what_numba_keeps_of_a_callee_is_not_taken_where_its_constants_have_changed(tmp_path):
    """Numba's cache sees the file that a function stands in, and not what it imports."""
    program, cache = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(KEPT_BY_NUMBA)
    (tmp_path / "helpers.py").write_text(
        "from numba import njit\nfrom constants_ import K\n"
        "@njit(cache=True)\ndef h(x):\n    return K * x\n"
        "@njit('f8(f8)', cache=True)\ndef twice(x):\n    return 2.0 * x\n"
    )
    for k in (2.0, 3.0):
        (tmp_path / "constants_.py").write_text(f"K = {k}\n")
        value, slope, ruled = run(program, cache, NUMBA_CACHE_DIR=str(tmp_path / "numba"))
        assert value == pytest.approx(math.exp(-0.5 * k), rel=1e-5)
        assert slope == pytest.approx(-k * value, rel=1e-5)
        assert ruled == k
