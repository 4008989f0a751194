"""A function is known by what it means now, whenever something is made of it."""

import functools
import math
import subprocess
import sys
from collections import namedtuple
from types import ModuleType

import numpy as np
import pytest
from numba import float32, float64, int64, njit, vectorize
from numba.core.errors import TypingError
from numba.typed import Dict

import numbad as nd
from numbad.compilation.meaning import meaning

from .processes import run

MODES = "forward", "reverse"


@pytest.fixture(autouse=True)
def _compiled_here(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")


def _names(source, **names):
    """The namespace of a program."""
    names = {"njit": njit, "np": np, **names}
    exec(source, names)
    return names


def _slope(f, mode):
    """The derivative at 1 of a linear function, of which all operators must say the same."""
    gradient = nd.grad(f, mode=mode)(1.0)
    assert nd.value_and_grad(f, mode=mode)(1.0) == (gradient, gradient)
    return gradient


@pytest.mark.parametrize("mode", MODES)
def test_globals_and_closure_cells(mode):
    k = 2.0
    names = _names("def f(x):\n    return a * scale.by * x", a=1.0, scale=ModuleType("scale"))
    names["scale"].by = 1.0
    outer = names["f"]

    def cell(x):
        return k * x

    old = nd.grad(outer, mode=mode)
    assert (old(1.0), _slope(outer, mode), _slope(cell, mode)) == (1.0, 1.0, 2.0)
    names["a"], k = 3.0, 5.0
    assert (_slope(outer, mode), _slope(cell, mode)) == (3.0, 5.0)
    names["scale"].by = 2.0
    assert _slope(outer, mode) == 6.0
    assert old(1.0) == 1.0  # as Numba's functions, it keeps what it was compiled with


@pytest.mark.parametrize("mode", MODES)
def test_defaults(mode):
    f = _names("def f(x, a=1.0, b=table):\n    return a * b[0] * x", table=np.ones(2))["f"]
    assert _slope(f, mode) == 1.0
    f.__defaults__[1][0] = 2.0
    assert _slope(f, mode) == 2.0
    f.__defaults__ = 3.0, np.array([5.0])
    assert _slope(f, mode) == 15.0


@pytest.mark.parametrize("mode", MODES)
def test_arrays_changed_in_place(mode):
    table = np.array([1.0, 2.0])
    pair = (np.ones(2), 1.0)

    def f(x):
        return table[0] * x + table[1] * pair[0][1] * x

    assert _slope(f, mode) == 3.0
    table[0] = 5.0
    assert _slope(f, mode) == 7.0
    pair[0][1] = 2.0
    assert _slope(f, mode) == 9.0


@pytest.mark.parametrize("mode", MODES)
def test_helpers_defined_anew(mode):
    program = "@njit\ndef g(x):\n    return h(x)\n@njit\ndef h(x):\n    return 2.0 * x"
    names = _names(program + "\ndef f(x):\n    return g(x)")
    f = names["f"]
    assert _slope(f, mode) == 2.0
    exec("@njit\ndef g(x):\n    return 3.0 * h(x)", names)
    assert _slope(f, mode) == 6.0
    exec("@njit\ndef h(x):\n    return k * x\n@njit\ndef g(x):\n    return h(x)", names)
    names["k"] = 4.0
    assert _slope(f, mode) == 4.0


@pytest.mark.parametrize("mode", MODES)
def test_what_numba_has_frozen_goes_with_its_derivative(mode):
    """The values that a dispatcher returns and its derivatives must not contradict each other."""
    table = np.array([1.0])
    names = _names(
        "@njit\ndef f(x):\n    return k * table[0] * x\n@njit\ndef g(x):\n    return f(x)",
        k=2.0,
        table=table,
    )
    f, g = names["f"], names["g"]
    assert (f(1.0), g(1.0)) == (2.0, 2.0)
    names["k"], table[0] = 3.0, 5.0
    exec("@njit\ndef f(x):\n    return 7.0 * x", names)
    for function in (f, g, lambda x: f(x), lambda x: g(x)):
        assert _slope(function, mode) == function(1.0) == 2.0
    assert f(np.float32(1.0)) == 15.0  # compiled now
    assert nd.grad(f, mode=mode)(np.float32(1.0)) == 15.0
    f.recompile()
    g.recompile()
    assert (_slope(f, mode), f(1.0)) == (15.0, 15.0)
    assert (_slope(g, mode), g(1.0)) == (7.0, 7.0)


def test_second_order_of_what_numba_has_frozen():
    names = _names("@njit\ndef f(x):\n    return k * x * x", k=2.0)
    f = names["f"]
    assert f(3.0) == 18.0
    names["k"] = 5.0
    assert nd.hessian(f)(3.0) == 4.0


def _agree(function, x, value, slope, curvature):
    """All orders and modes say the same of a parabola."""
    assert njit(lambda x: function(x))(x) == value
    for mode in MODES:
        assert nd.value_and_grad(function, mode=mode)(x) == (value, slope)
    assert nd.hvp(lambda x: function(x))((x,), (1.0,)) == (curvature,)
    assert nd.derivative(nd.derivative(function))(x) == curvature


@pytest.mark.dear
@pytest.mark.parametrize("signatures", [[], [[float64(float64)]]], ids=["at a call", "given"])
def test_what_numba_has_frozen_of_a_vectorized_function(signatures):
    """NumPy's value is the measure: that of the names when the loop for these types was compiled."""
    table = np.array([1.0])
    names = _names("def f(x):\n    return k * table[0] * h(x) * x", k=2.0, table=table)
    exec("@njit\ndef h(x):\n    return x", names)
    f = vectorize(*signatures)(names["f"])
    assert f(3.0) == 18.0
    _agree(f, 3.0, 18.0, 12.0, 4.0)
    names["k"], table[0] = 5.0, 7.0
    exec("@njit\ndef h(x):\n    return 3.0 * x", names)
    assert f(3.0) == 18.0
    _agree(f, 3.0, 18.0, 12.0, 4.0)
    for mode in MODES:
        slopes = nd.grad(lambda a: f(a).sum(), mode=mode)(np.array([3.0, 1.0]))
        np.testing.assert_array_equal(slopes, [12.0, 4.0])


@pytest.mark.parametrize("mode", MODES)
def test_loops_of_a_vectorized_function_compiled_at_different_times(mode):
    names = _names("def f(x):\n    return k * x", k=2.0)
    names["f"] = f = vectorize(names["f"])
    assert f(1.0) == 2.0
    names["k"] = 5.0
    exec("@njit\ndef g(x, y):\n    return f(x) + f(y)", names)
    g = names["g"]
    assert g(1.0, np.float32(1.0)) == 7.0
    assert nd.value_and_grad(g, argnums=(0, 1), mode=mode)(1.0, np.float32(1.0)) == (
        7.0,
        (2.0, 5.0),
    )


@pytest.mark.parametrize("mode", MODES)
def test_conversions_of_a_vectorized_function_with_signatures(mode):
    """Numba converts what its loops take and return; so does the derivative."""
    narrow, whole = vectorize([float32(float64)])(_third), vectorize([int64(float64)])(_square)
    numbers = {lambda x: narrow(x) * x: 1.0, lambda x: whole(x) * x: 2.5}
    for f, x in numbers.items():
        value, slope = nd.value_and_grad(f, mode=mode)(x)
        assert value == njit(f)(x)
    assert slope == 6.0  # 2.5 squared is 6 there, a constant


def _third(x):
    return x / 3.0


def _square(x):
    return x * x


EARLIER = """
import numpy as np
from numba import bool, float64, njit, vectorize
{early}

k = 2.0

@njit
def f(x):
    return k * x

@vectorize
def g(x):
    return k * x

@njit
def h(x):
    flags = np.ones(1, dtype=bool)  # another `bool` than that which decides the `if`
    if flags[0]:
        return k * x
    return x

@njit(float64(float64))
def even(x):  # its name has no value yet where it calls itself
    return 2.0 * x if x >= 0.0 else even(-x)

f(1.0), g(1.0), h(1.0)
{late}
k = 5.0
for mode in ("forward", "reverse"):
    assert nd.value_and_grad(f, mode=mode)(1.0) == (2.0, 2.0)
    assert nd.value_and_grad(g, mode=mode)(1.0) == (2.0, 2.0)
    assert nd.value_and_grad(h, mode=mode)(1.0) == (2.0, 2.0)
    assert nd.value_and_grad(even, mode=mode)(-1.0) == (2.0, -2.0)
"""


@pytest.mark.parametrize("where", ["early", pytest.param("late", marks=pytest.mark.deep)])
def test_what_numba_compiled_before_numbad_was_used(where):
    """`import numbad` loads little, and may come after what is differentiated."""
    program = EARLIER.format(**{"early": "", "late": "", where: "import numbad as nd"})
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.deep
def test_solvers():
    names = _names("def decay(t, y, a):\n    return (-rate * a * y[0],)", rate=1.0)
    decay, ts = names["decay"], np.linspace(0.0, 1.0, 5)

    def ends():
        solution = nd.ode.solve_ivp(decay, (0.0, 1.0), (1.0,), args=(1.0,), rtol=1e-8, atol=1e-8)
        fitted = nd.fit.fit_ode(decay, ts, np.exp(-2.0 * ts), [1.0], y0=[1.0])
        return solution.y[0, -1], fitted.params["a"]

    assert ends() == pytest.approx((math.exp(-1.0), 2.0), rel=1e-6)
    names["rate"] = 2.0
    assert ends() == pytest.approx((math.exp(-2.0), 1.0), rel=1e-6)


@pytest.mark.dear
def test_what_is_solved_integrated_and_batched():
    names = _names("def f(x):\n    return k * x * x - 4.0", k=1.0)
    f, half = names["f"], np.array([0.5])
    made = (
        (lambda: nd.root(f, 1.0), lambda k: 2.0 / math.sqrt(k)),
        (lambda: nd.quad(f, 0.0, 3.0), lambda k: 9.0 * k - 12.0),
        (lambda: nd.batch(f)(half)[0], lambda k: 0.25 * k - 4.0),
        (lambda: nd.grad(nd.checkpoint(f), mode="reverse")(1.0), lambda k: 2.0 * k),
    )
    for k in (1.0, 4.0):
        names["k"] = k
        for evaluate, exact in made:
            assert evaluate() == pytest.approx(exact(k), rel=1e-9)


@pytest.mark.dear
def test_the_pattern_of_a_sparse_jacobian():
    names = _names("def f(x):\n    return x * x + np.concatenate((x[k:], x[:k]))", k=0)
    f, x = names["f"], np.arange(1.0, 5.0)
    assert nd.jacobian(f, sparsity="detect")(x).nnz == 4
    names["k"] = 1
    assert nd.jacobian(f, sparsity="detect")(x).nnz == 8


def test_a_wrapper_that_copies_what_a_function_has():
    def f(x):
        return 2.0 * x

    assert nd.grad(f)(1.0) == 2.0

    @functools.wraps(f)
    def g(x):
        return 3.0 * x

    assert nd.grad(g)(1.0) == 3.0


def test_what_means_the_same_is_not_made_again():
    names = _names("def f(x):\n    return k * x + np.sin(t[0])", k=1.0, t=np.ones(1), other=1)
    f = names["f"]
    made, version = nd.grad(f), meaning(f)
    names.update(k=float("1.0"), t=np.ones(1), other=2)  # equal, and a name that is not read
    assert nd.grad(f) is made
    assert meaning(f) == version
    names["k"] = -0.0
    before = nd.grad(f)
    names["k"] = 0.0
    assert nd.grad(f) is not before


RECURSIVE = """
@njit("float64(float64)")
def even(x):
    return x * x * {factor} if x >= 0.0 else even(-x)
"""


def test_a_recursive_function_that_is_compiled_before_it_has_its_name():
    nd.grad(lambda x: x)(1.0)  # from here on, what names mean is noted
    scope = {"njit": njit}
    exec(RECURSIVE.format(factor=1.0), scope)
    even = scope["even"]
    assert [nd.grad(lambda x: even(x), mode=mode)(-1.5) for mode in MODES] == [-3.0, -3.0]
    exec(RECURSIVE.format(factor=3.0), scope)
    assert nd.grad(lambda x: 2.0 * even(x), mode="reverse")(-1.5) == -6.0


REBOUND = """
import numpy as np
from numba import njit
import numbad as nd
from tests.compilation.counting import record, report

scale = 2.0

@njit
def helper(x):
    return scale * x

@njit
def f(x):
    return helper(x) * x

gradients = {{mode: nd.grad(f, mode=mode) for mode in ("forward", "reverse")}}
if {rebind}:
    for gradient in gradients.values():
        gradient(3.0)
    scale = 5.0
for mode, gradient in gradients.items():
    record(mode, gradient, np.float32(3.0))
report()
"""


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_global_that_is_bound_anew_between_two_signatures(tmp_path, mode):
    """Code for the second signature is found by what the global meant then."""
    program = tmp_path / "program.py"

    def found(rebind):
        program.write_text(REBOUND.format(rebind=rebind))
        return run(program, tmp_path / "cache")[mode]

    assert found(rebind=True)[0] == 30.0
    assert found(rebind=False)[0] == 12.0
    assert found(rebind=True)[:2] == [30.0, []]
    assert found(rebind=False)[:2] == [12.0, []]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("read", "around"),
    [
        ("c.a", lambda c: c),
        ("c[0].a", lambda c: (c,)),
        ("c.a[0]", lambda c: type(c)(*map(np.atleast_1d, c))),
    ],
)
def test_the_names_of_the_members_of_a_constant(mode, read, around):
    """A cell of a notebook that defines a namedtuple anew, its fields in another order."""
    names = _names(f"def f(x):\n    return {read} * x")
    for fields, slope in [("a b", 1.0), ("b a", 2.0), ("a b", 1.0)]:
        names["c"] = around(namedtuple("Given", fields)(1.0, 2.0))
        assert _slope(names["f"], mode) == slope


def test_members_without_names_and_with_names_differ():
    names = _names("def f(x):\n    return c[0] * x", c=(1.0, 2.0))
    before = meaning(names["f"])
    assert meaning(names["f"]) == before
    names["c"] = namedtuple("Given", "a b")(1.0, 2.0)
    assert meaning(names["f"]) != before


def test_recompiled_after_an_operator_was_made_of_a_caller():
    names = _names("def h(x):\n    return k * x**3", k=2.0)
    h = njit(names["h"])

    def f(x):
        return h(x)

    assert h(1.0) == 2.0
    for _ in range(2):  # what Numba has frozen
        assert nd.value_and_grad(f, mode="forward")(2.0) == (16.0, 24.0)
        names["k"] = 3.0
    h.recompile()
    assert h(2.0) == 24.0
    for mode in ("forward", "reverse"):
        assert nd.value_and_grad(f, mode=mode)(2.0) == (24.0, 36.0)


class Metres(float):
    def __repr__(self):
        return f"{float(self):.2f} m"


def test_numbers_that_tell_little_of_themselves():
    names = _names("def f(x):\n    return k * x", k=Metres(2.001))
    assert nd.grad(names["f"])(1.0) == 2.001
    names["k"] = Metres(2.003)
    assert nd.grad(names["f"])(1.0) == 2.003


def test_a_typed_dictionary_as_a_global_is_told_of():
    held = Dict.empty(int64, float64)
    names = _names("def f(x):\n    return held[0] * x", held=held)
    with pytest.raises(TypingError, match="not supported as globals"):
        nd.grad(names["f"], mode="forward")(1.5)
