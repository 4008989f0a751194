"""The debug mode: it finds one of each, and leaves nothing behind."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.testing import GradientError
from tests.compilation.processes import environment


def ratio(x, y):
    quotient = x / y
    return math.log(quotient)


def first_minus(x, start):
    best = start
    for i in range(x.size):
        best = min(best, x[i])
    return best * best


def rooted(x):
    return math.sqrt(x) * 2.0


def summed(x, n):
    total = 0.0
    for i in range(n):
        total += math.sin(x[i])
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_first_nonfinite_number_is_told(mode):
    with nd.debug():
        gradient = nd.grad(ratio, mode=mode)
        with pytest.raises(
            nd.NonFiniteError, match=r"is -inf, with quotient = 0.0: File"
        ) as caught:
            gradient(0.0, 1.0)
    assert "return math.log(quotient)" in str(caught.value)
    assert isinstance(caught.value, nd.NumbadError)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_an_operator_that_is_called_after_the_block(mode):
    with nd.debug():
        gradient = nd.grad(ratio, mode=mode)
    with pytest.raises(nd.NonFiniteError, match=r"with quotient = 0.0"):
        gradient(0.0, 1.0)
    assert nd.grad(ratio, mode=mode)(2.0, 1.0) == 0.5


def test_batches_of_what_takes_numbers_alone():
    weighted, ones = (lambda a, k: math.exp(k * a) * a), np.ones(3)
    with nd.debug():
        values = nd.batch(weighted, in_axes=(0, None))(ones, 0.7)
        slopes = nd.batch(nd.grad(weighted), in_axes=(0, None))(ones, 0.7)
    np.testing.assert_allclose(values, math.exp(0.7))
    np.testing.assert_allclose(slopes, 1.7 * math.exp(0.7))


@pytest.mark.parametrize(
    ("f", "written"),
    [
        (lambda x: math.log(x * (x - 1.0)), "math.log(x * (x - 1.0))"),
        (lambda x: math.log((x - 1.0) / (x + 1.0)), "math.log((x - 1.0) / (x + 1.0))"),
        (lambda x: math.log(1.0 - (2.0 - x)), "math.log(1.0 - (2.0 - x))"),
        (lambda x: math.log(-(x - 1.0)), "math.log(- (x - 1.0))"),
        (lambda x: math.log((x - 1.0) ** 2), "math.log((x - 1.0) ** 2)"),
        (lambda x: math.log(-x + x * x), "math.log(- x + x * x)"),
    ],
)
def test_parentheses_are_told(f, written):
    with nd.debug(), pytest.raises(nd.NonFiniteError) as caught:
        nd.derivative(f)(1.0)
    assert str(caught.value).startswith(f"{written} is -inf")


@pytest.mark.parametrize(("mode", "what"), [("forward", "partial"), ("reverse", "cotangent")])
def test_an_infinite_derivative_of_a_finite_value_is_told(mode, what):
    with nd.debug():
        gradient = nd.grad(rooted, mode=mode)
        with pytest.raises(nd.NonFiniteError, match=f"{what}.* is inf.*= 0.0.*line"):
            gradient(0.0)
        assert gradient(4.0) == 0.5
    assert nd.grad(rooted, mode=mode)(0.0) == math.inf


@pytest.mark.filterwarnings("error")
def test_an_infinity_to_begin_with_is_none_that_was_made():
    with nd.debug():
        found = nd.grad(first_minus, mode="reverse")(np.array([3.0, 2.0]), math.inf)
    np.testing.assert_array_equal(found, [0.0, 4.0])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_stray_number_of_an_element_is_told(mode):
    def square(a, i):
        return a.flat[i] ** 2

    columns = np.arange(12.0).reshape(3, 4)[:, ::2]
    with nd.debug():
        gradient = nd.grad(square, mode=mode)
        with pytest.raises(
            nd.BoundsError, match="index 6 is out of bounds for an array with size 6"
        ):
            gradient(columns, 6)
        assert gradient(columns, 5)[2, 1] == 20.0
        if mode == "forward":  # as in Numba, which does not count from the end here
            with pytest.raises(nd.BoundsError, match="index -1 "):
                gradient(columns, -1)


@pytest.mark.parametrize(("mode", "index"), [("forward", "i"), ("reverse", "...")])
def test_an_expression_is_called_as_it_is_written(mode, index):
    def likelihood(x):
        total = 0.0
        for i in range(x.size):
            total += math.log(x[i])
        return total

    with nd.debug():
        gradient = nd.grad(likelihood, mode=mode)
        told = f"math.log(x[{index}]) is nan, with x[{index}] = -2.0: File"
        with pytest.raises(nd.NonFiniteError, match=re.escape(told)):
            gradient(np.array([1.0, -2.0]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_stray_index_is_told(mode):
    with nd.debug() as report:
        gradient = nd.grad(summed, mode=mode)
        with pytest.raises(
            nd.BoundsError, match="index [23] is out of bounds for axis 0 with size 2"
        ):
            gradient(np.ones(2), 4)
        np.testing.assert_allclose(gradient(np.ones(2), 2), np.cos(np.ones(2)))
    assert report.calls == {"grad_summed": 2}
    assert report.allocations["grad_summed"] > 0


def test_a_wrong_derivative_is_told():
    def plain(x):
        return wrong(x)

    def wrong_(x):
        return x * x

    wrong = njit(wrong_)
    nd.scalar_rule(wrong, lambda ans, x: (3 * x,))
    with nd.debug(), pytest.raises(GradientError, match="differences of the function give 4"):
        nd.derivative(plain)(2.0)
    assert nd.derivative(plain)(2.0) == 6.0


@pytest.mark.parametrize("at", [2.0, 0.0])
def test_a_wrong_derivative_is_told_where_the_function_is_even(at):
    """At a minimum there is no kink, and no tolerance explains a slope of one."""
    square = njit(lambda x: x * x)
    nd.scalar_rule(square, lambda ans, x: (2 * x + 1.0,))
    with nd.debug(), pytest.raises(GradientError, match="differences of the function give"):
        nd.derivative(lambda x: square(x))(at)


def cube_by_a_wrong_rule(which):
    cube = njit(lambda x: x * x * x)
    rules = {
        "jvp": lambda primals, tangents: (primals[0] ** 3, 2 * primals[0] ** 2 * tangents[0]),
        "vjp": (lambda x: (x**3, x), lambda x, bar: (2 * x * x * bar,)),
    }
    nd.rule(cube, **{which: rules[which]})
    return lambda x: 1.0 * cube(x)


@pytest.mark.parametrize(
    ("which", "call"),
    [
        ("jvp", lambda f: nd.jvp(f)((2.0,), (1.0,))),
        ("vjp", lambda f: nd.grad(f, mode="reverse")(2.0)),
        ("vjp", lambda f: nd.vjp(f)((2.0,), 1.0)),
        ("vjp", lambda f: nd.hvp(f)((2.0,), (1.0,))),
        ("vjp", lambda f: nd.grad_and_hvp(f)((2.0,), (1.0,))),
        ("vjp", lambda f: nd.hessian(f)(2.0)),
    ],
    ids=["jvp", "grad", "vjp", "hvp", "grad_and_hvp", "hessian"],
)
def test_a_wrong_rule_is_told_by_each_operator_that_uses_it(which, call):
    function = cube_by_a_wrong_rule(which)
    with nd.debug(), pytest.raises(GradientError, match="differences of the function give 12"):
        call(function)


def test_what_is_held_constant_is_no_error():
    stopped = njit(lambda x: nd.stop_gradient(x))
    with nd.debug(), pytest.warns(UserWarning, match=r"calls nd\.stop_gradient"):
        assert nd.grad(lambda x: x * stopped(x))(2.0) == 2.0


def test_what_differences_cannot_decide_is_a_warning():
    """The derivatives are right."""
    times = np.linspace(0.0, 20.0, 11)
    solve = nd.ode.solver(
        lambda t, y, a: (a * y[0] - 0.4 * y[0] * y[1], -y[1] + 0.4 * y[0] * y[1]),
        rtol=1e-6, atol=1e-6,
    )  # fmt: skip
    with nd.debug():
        with pytest.warns(UserWarning, match="A tolerance may leave that: of a solver"):
            nd.derivative(lambda a: solve((10.0, 5.0), times, (a,))[-1].sum())(1.1)
        with pytest.warns(UserWarning, match="The function has a kink here"):
            assert nd.derivative(lambda x: max(x, 0.0))(0.0) in (0.0, 1.0)
        with pytest.warns(UserWarning, match="gives another value each time"):
            nd.derivative(lambda x: x * np.random.random())(1.0)


def positive_first(p, t):
    if not (p[0] > 0.0 and t[0] == 1.0):
        raise ValueError("p[0] must be positive, and t[0] 1")
    return math.log(p[0]) + p[1] * 1e-11 * t[0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.filterwarnings("error")
def test_a_function_that_raises_where_differences_look_is_compared_nearer(mode):
    """What is not differentiated by is not moved, and one input not by what another one measures."""
    with nd.debug():
        found = nd.grad(positive_first, mode=mode)(np.array([1e-3, 4e11]), np.ones(1))
    np.testing.assert_allclose(found, [1000.0, 1e-11], rtol=1e-14)


def test_a_function_that_raises_wherever_differences_look_is_a_warning():
    def of_whole_numbers(x):
        if x != math.floor(x):
            raise ValueError(f"{x} is no whole number")
        return x * x

    with nd.debug(), pytest.warns(UserWarning, match="near its arguments it raises ValueError"):
        assert nd.derivative(of_whole_numbers)(3.0) == 6.0


@pytest.mark.parametrize("sparsity", ["detect", np.eye(3)], ids=["detect", "given"])
def test_sparse_jacobians_are_compared(sparsity):
    cube = cube_by_a_wrong_rule("jvp")
    right, wrong = njit(lambda x: x * x * x), njit(cube)

    def cubes(f):
        def cubed(a):
            out = np.empty(3)
            for i in range(3):
                out[i] = f(a[i])
            return out

        return cubed

    x = np.array([1.0, 2.0, 3.0])
    with nd.debug():
        found = nd.jacobian(cubes(right), sparsity=sparsity)(x)
        with pytest.raises(GradientError, match="differences of the function give 3.0"):
            nd.jacobian(cubes(wrong), sparsity=sparsity)(x)
    np.testing.assert_array_equal(found.toarray(), np.diag(3.0 * x**2))


def test_the_variable_switches_it_on(monkeypatch):
    monkeypatch.setenv("NUMBAD_DEBUG", "1")
    with pytest.raises(nd.NonFiniteError):
        nd.grad(lambda x: math.log(x - x), mode="reverse")(1.0)


def _picked(x, i):
    return x[np.array([0, i])].sum()


def _put(x, i):
    a = x * 1.0
    a[np.array([0, i])] = 2.0 * x[0]
    return a.sum()


def _of_columns(x, i):
    return x.reshape(2, 2)[np.array([0, i]), 1].sum()


def _masked(x, i):
    return x[np.ones(i, dtype=np.bool_)].sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "within"), [(_picked, 3), (_put, -1), (_of_columns, 1), (_masked, 4)]
)
def test_arrays_as_indices(f, within, mode):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    with nd.debug():
        gradient = nd.grad(f, mode=mode)
        assert gradient(x, within).shape == (4,)
        with pytest.raises(nd.BoundsError, match="out of bounds for axis 0 with size"):
            gradient(x, 9)


@pytest.mark.parametrize(
    ("f", "spelled"),
    [
        (lambda x: (x[2:5] / x[0:3]).sum(), r"x\[...\] / x\[...\]"),
        (lambda x: np.sum(np.log(x)), r"np.log\(x\)"),
        (lambda x: np.sqrt(x).sum(), r"np.sqrt\(x\)"),
    ],
)
def test_elements_that_are_not_finite(f, spelled):
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    with nd.debug():
        told = f"an element of {spelled}, or a partial derivative of one, is -?inf: File"
        with pytest.raises(nd.NonFiniteError, match=told):
            nd.grad(f, mode="forward")(x)
        with pytest.raises(nd.NonFiniteError, match="inf, with .*: File") as error:
            nd.grad(f, mode="reverse")(x)
        assert "apply" not in str(error.value)
        assert np.isfinite(nd.grad(f, mode="forward")(x + 1.0)).all()


def test_elements_that_come_from_what_is_not_finite():
    """Gaps in data, and what no number of the user's was in, are not told of."""
    gaps = np.array([1.0, np.nan, 3.0])

    def f(x):
        fresh = np.empty_like(x)
        fresh[:] = x * gaps
        return np.nansum(fresh)

    with nd.debug():
        assert nd.grad(f, mode="forward")(np.ones(3))[[0, 2]].tolist() == [1.0, 3.0]


CACHED = """
import warnings
import numbad as nd
from numba import njit

warnings.simplefilter("error")
stopped = njit(lambda x: nd.stop_gradient(x))
with nd.debug():
    try:
        nd.grad(lambda x: x * stopped(x))(2.0)
    except UserWarning as told:
        print(told)
"""


def test_what_is_loaded_from_the_disk_is_compared_as_well(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CACHED)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(program)],
            env=environment(tmp_path / "cache"),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "calls nd.stop_gradient" in done.stdout
