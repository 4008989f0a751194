"""A dispatcher's options hold for the code of every reverse-mode operator, and in callees of every kind."""

import math
import re
import threading

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.source import define

from .processes import run

# Operators as functions `(f) -> (x -> something that hangs on f's code)`.
OPERATORS = {
    "grad": lambda f: nd.grad(f, mode="reverse"),
    "value_and_grad": lambda f: nd.value_and_grad(f, mode="reverse"),
    "jacobian": lambda f: nd.jacobian(lambda x: np.array([f(x)]), mode="reverse"),
    "hessian": lambda f: nd.hessian(f, mode="reverse"),
    "hvp": lambda f: lambda x: nd.hvp(f)((x,), (1.0,)),
    "vjp": lambda f: lambda x: nd.vjp(f)((x,), 1.0),
    "grad of grad": lambda f: nd.grad(nd.grad(f, mode="reverse"), mode="reverse"),
    "njit": lambda f: _called(nd.grad(f, mode="reverse")),
}
operators = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)


def _called(gradient):
    return njit(lambda x: gradient(x))


# -- error_model -----------------------------------------------------------------------------


def reciprocal(x):
    return 1.0 / (x * x)


@operators
def test_division_by_zero_raises(operator):
    differentiated = operator(njit(error_model="python")(reciprocal))
    with pytest.raises(ZeroDivisionError):
        differentiated(0.0)


@operators
def test_division_by_zero_is_infinite(operator):
    f = njit(error_model="numpy")(reciprocal)
    found = operator(f)(0.0)
    numbers = np.ravel(np.array([np.ravel(part) for part in _parts(found)]))
    assert not np.isfinite(numbers).any()


def _parts(found):
    return [p for part in found for p in _parts(part)] if isinstance(found, tuple) else [found]


# -- boundscheck -----------------------------------------------------------------------------


@njit(boundscheck=True)
def reads_beyond(x):
    a = np.ones(2)
    return a[int(x)] * x * x


@operators
def test_indices_are_checked(operator):
    differentiated = operator(reads_beyond)
    differentiated(1.0)
    with pytest.raises(IndexError):
        differentiated(2.0)


# -- callees of every kind -------------------------------------------------------------------


def element(a, i):
    return a[i] / a[0]


def _checkpointed(f):
    g = nd.checkpoint(f)
    return njit(lambda a, i: g(a, i) * 2.0)


def _recursive(f):
    options = {k: v for k, v in f.targetoptions.items() if k != "nopython"}

    @njit(**options)
    def down(a, i, n):
        return f(a, i) if n == 0 else down(a, i, n - 1) * 1.0

    return njit(lambda a, i: down(a, i, 2))


def _ruled(f):
    @njit
    def g(a, i):
        return f(a, i)

    nd.rule(g, vjp=(lambda a, i: (f(a, i), a.size), lambda size, c: (np.ones(size) * c, None)))
    return njit(lambda a, i: g(a, i) * 2.0)


def _argument(f):
    applied = njit(lambda g, a, i: g(a, i) * 2.0)
    return njit(lambda a, i: applied(f, a, i))


CALLEES = {
    "itself": lambda f: f,
    "called": lambda f: njit(lambda a, i: f(a, i) * 2.0),
    "checkpoint": _checkpointed,
    "recursion": _recursive,
    "rule": _ruled,
    "argument": _argument,
}
callees = pytest.mark.parametrize("around", CALLEES.values(), ids=CALLEES)


@callees
def test_callees_check_their_indices(around):
    gradient = nd.grad(around(njit(boundscheck=True)(element)), mode="reverse")
    assert gradient(np.array([2.0, 3.0]), 1).shape == (2,)
    with pytest.raises(IndexError):
        gradient(np.array([2.0, 3.0]), 2)


@callees
@pytest.mark.parametrize("error_model", ["python", "numpy"])
def test_callees_divide_as_they_are_told(around, error_model):
    f = around(njit(error_model=error_model)(element))
    value = nd.value_and_grad(f, mode="reverse")
    if error_model == "python":
        with pytest.raises(ZeroDivisionError):
            value(np.array([0.0, 3.0]), 1)
    else:
        assert value(np.array([0.0, 3.0]), 1)[0] == np.inf


# -- fastmath --------------------------------------------------------------------------------


def in_order(x, n):
    """The adjoint of x, added up backwards: it loses the ones in 1e16, unless reassociated."""
    s = 1.0
    for _ in range(n):
        s = s * x + x
    return s


def flags(dispatcher, *args):
    """The floating-point instructions of what was compiled, with the fast-math flags of each."""
    dispatcher(*args)
    (code,) = dispatcher.inspect_llvm().values()
    found = re.findall(r"= (f(?:add|mul|sub|div)|call)((?: \w+)*) (?:double|<\d+ x double>)", code)
    known = {"fast", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"}
    return [(instruction, set(flags.split()) & known) for instruction, flags in found]


@pytest.mark.parametrize(
    ("fastmath", "expected"),
    [
        (False, set()),
        (True, {"reassoc", "nsz", "arcp", "contract", "afn"}),
        ({"contract"}, {"contract"}),
        ({"nnan", "ninf"}, set()),
        ({"nnan", "arcp"}, {"arcp"}),
    ],
)
def test_instructions_of_the_adjoint_have_the_flags(fastmath, expected, monkeypatch):
    """All that is given but for the promise that nothing is infinite or nan: slopes may be."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")  # code from the cache cannot be looked at
    f = njit(fastmath=fastmath)(in_order)
    found = flags(nd.grad(f, mode="reverse"), 1.5, 3)
    assert len(found) >= 4, "both sweeps multiply and add"
    kinds = {"product": expected | {"contract"}, "sum": expected | {"contract", "nsz", "reassoc"}}
    assert all(given in (expected, *kinds.values(), set()) for _, given in found)
    assert all(given != kinds["sum"] for name, given in found if name != "fadd") or fastmath is True
    assert ("fmul", expected) in found
    assert ("fadd", kinds["sum"]) in found, "adjoints may be contracted, and added in any order"


def cancelling(x, c):
    return (x * c + x) - x * c


def test_the_reverse_sweep_reassociates():
    """d/dx = c + 1 - c: 1 for c = 1e16, in whatever order begins with c - c; so LLVM begins where it may."""
    fast = nd.value_and_grad(njit(fastmath=True)(cancelling), mode="reverse")
    assert fast(1.0, 1e16) == (1.0, 1.0)
    strict = nd.value_and_grad(njit(cancelling), mode="reverse")
    value, _ = strict(1.0, 1e16)
    assert value == 0.0, "the sums of values keep their order"


# -- nogil -----------------------------------------------------------------------------------


@njit(nogil=True)
def waits(x, box):
    """Two calls that wait for one another: the first gives up where the GIL is held."""
    k = int(x)
    box[k] = 1.0
    for i in range(500_000_000):
        box[2 + k] = i  # so that the others are read anew
        if box[0] + box[1] == 2.0:
            return x * x
    return -1.0


def test_two_threads_are_inside_at_once():
    gradient = nd.value_and_grad(waits, mode="reverse")
    gradient(0.0, np.ones(4))
    box, found = np.zeros(4), {}

    def run(k):
        found[k] = gradient(float(k), box)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: (0.0, 0.0), 1: (1.0, 2.0)}


# -- inline ----------------------------------------------------------------------------------


@njit(inline="always")
def squared(x):
    return x * x


@njit(inline="always")
def twice_inlined(x):
    y = squared(x)
    return squared(y) + y


@operators
def test_inlined_callees(operator):
    """x**4 + x**2 at 2."""
    found = _parts(operator(twice_inlined)(2.0))
    expected = {
        "grad": [36.0],
        "value_and_grad": [20.0, 36.0],
        "hessian": [50.0],
        "hvp": [50.0],
        "vjp": [20.0, 36.0],
        "grad of grad": [50.0],
    }
    name = next(name for name, own in OPERATORS.items() if own is operator)
    assert np.ravel(found).tolist() == expected.get(name, [36.0])


FAST_CALLER = """
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

@njit
def absorbed(x):
    return (x + 1e16) - 1e16

value = nd.value_and_grad(absorbed, mode="reverse")

@njit(fastmath=True)
def fast(x):
    return value(x)[0]

calls = {{"value": lambda x: value(x)[0], "fast": fast}}
record({name!r}, calls[{name!r}], 1.0)
report()
"""


@pytest.mark.deep
def test_options_taken_from_a_caller_stay_with_it(tmp_path):
    """A function without options of its own has those of the function that it is compiled for."""
    program = tmp_path / "program.py"

    def found(name):
        program.write_text(FAST_CALLER.format(name=name))
        return run(program, tmp_path / "cache")[name][0]

    assert found("fast") == 1.0
    assert found("value") == 0.0
    assert found("fast") == 1.0


def test_a_derivative_that_a_search_calls_from_many_places_is_one_function(monkeypatch):
    """`nd.minimize` is put in the place of its call; the gradient that it calls a dozen times is not."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")  # code from the cache cannot be looked at
    terms = " + ".join(f"math.sin({k} * x * a) * math.exp(-{k} * a * x * x)" for k in range(1, 25))
    cost = njit(define(f"def cost(x, a):\n    return {terms}\n", {"math": math}))
    gradient, search = (
        njit(lambda x, a: nd.derivative(cost)(x, a)),
        njit(lambda x, a: nd.minimize(cost, x, (a,))),
    )
    sizes = []
    for function in (gradient, search):
        function(0.3, 0.7)
        (code,) = function.inspect_llvm().values()
        sizes.append(code.count("@llvm.exp.") + code.count("@exp("))
    assert sizes[1] <= 4 * sizes[0]
