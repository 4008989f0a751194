"""The mode that "auto" takes, what it falls back to, and what both refuse."""

import math

import numpy as np
import pytest
from numba import njit
from numpy.lib.stride_tricks import as_strided

import numbad as nd
from numbad.operators.mode import CROSSOVER
from tests.operators.test_first_order import cubes, outer, product

pytestmark = pytest.mark.usefixtures("compiled_anew")


def taken(dispatcher):
    """The mode that an operator's result was last generated in."""
    (tried,) = dispatcher.operator.choice._taken.values()
    return tried[-1]


# What "auto" takes.


def summed(n):
    names = ", ".join(f"x{i}" for i in range(n))
    scope = {}
    exec(f"def f({names}):\n    return " + " + ".join(f"x{i} * x{i}" for i in range(n)), scope)
    return njit(scope["f"])


def test_few_scalars_go_forward_many_and_arrays_in_reverse():
    for n, expected in ((1, "forward"), (CROSSOVER, "forward"), (CROSSOVER + 1, "reverse")):
        gradient = nd.grad(summed(n), tuple(range(n)))
        assert gradient(*map(float, range(n))) == tuple(2.0 * i for i in range(n))
        assert taken(gradient) == expected
    gradient = nd.value_and_grad(njit(cubes.py_func))
    np.testing.assert_array_equal(gradient(np.ones(2))[1], [3.0, 3.0])
    assert taken(gradient) == "reverse"


def test_array_to_array_goes_forward_array_to_scalar_in_reverse():
    jacobian = nd.jacobian(njit(outer.py_func))
    jacobian(np.ones(2), 1.0)
    assert taken(jacobian) == "forward"
    jacobian = nd.jacobian(njit(cubes.py_func))
    np.testing.assert_array_equal(jacobian(np.ones(2)), [3.0, 3.0])
    assert taken(jacobian) == "reverse"


@njit
def root(x):
    total = 0.0
    for y in {x}:
        total += math.sqrt(y)
    return total


@njit
def cube(x):
    return as_strided(np.ones(1) * x, (1,), (8,))[0] ** 3.0


# Forward mode does not take memory apart, nor a function with a vjp alone; reverse mode takes no sets.
nd.rule(cube, vjp=(lambda x: (cube(x), x), lambda x, w: (3.0 * x * x * w,)))


@pytest.mark.dear
def test_auto_takes_the_other_mode_where_one_refuses():
    f = njit(lambda a: root(a[0]) * a[1])  # root makes a set
    a = np.array([4.0, 3.0])
    gradient = nd.grad(f)
    np.testing.assert_array_equal(gradient(a), [0.75, 2.0])
    assert taken(gradient) == "forward"
    with pytest.raises(nd.UnsupportedError):
        nd.grad(f, mode="reverse")(a)
    np.testing.assert_allclose(nd.hessian(f)(a), [[-3.0 / 32.0, 0.25], [0.25, 0.0]])
    np.testing.assert_allclose(nd.hvp(f)((a,), (np.array([1.0, 0.0]),))[0], [-3.0 / 32.0, 0.25])

    slope = nd.grad(njit(lambda x: cube(x) + x))  # cube has no jvp
    assert slope(2.0) == pytest.approx(13.0, rel=1e-14)
    assert taken(slope) == "reverse"
    with pytest.raises(nd.UnsupportedError):
        nd.grad(njit(lambda x: cube(x) + x), mode="forward")(2.0)


@pytest.mark.parametrize("argument", [2.0, np.array([2.0, 3.0])])
def test_what_both_modes_refuse_names_both_reasons(argument):
    def f(x):
        return cube(root(x))

    def g(a):
        return cube(root(a[0]))

    with pytest.raises(nd.UnsupportedError, match="mode refuses it as well") as caught:
        nd.grad(g if isinstance(argument, np.ndarray) else f)(argument)
    assert "root" in str(caught.value)
    assert "cube" in str(caught.value)


def test_wrong_use_is_told_at_once_in_every_mode():
    for mode in ("auto", "forward", "reverse"):
        with pytest.raises(nd.ArgumentError, match=r"argument 'x', which is an int.*pass a float"):
            nd.grad(product, mode=mode)(2, 3.0)
        with pytest.raises(nd.ArgumentError, match=r"'a', which is an array of int64.*astype"):
            nd.grad(cubes, mode=mode)(np.arange(3))
        with pytest.raises(nd.ArgumentError, match="returns a 2-D array. Perhaps you meant nd.jac"):
            nd.grad(outer, mode=mode)(np.ones(2), 1.0)
        with pytest.raises(nd.ArgumentError, match="returns None.*out="):
            nd.grad(lambda a: None, mode=mode)(np.ones(2))
        with pytest.raises(nd.ArgumentError, match="returns a complex number"):
            nd.grad(lambda a: a[0] * 1j, mode=mode)(np.ones(2))
        with pytest.raises(nd.ArgumentError, match="returns numbers"):
            nd.jacobian(lambda a: "text", mode=mode)(np.ones(2))
    with pytest.raises(nd.ArgumentError, match="mode is"):
        nd.grad(product, mode="backward")
    for operator in (nd.grad, nd.value_and_grad, nd.jacobian, nd.value_and_jacobian):
        with pytest.raises(nd.ArgumentError, match="chunk= is the number of partials"):
            operator(product, mode="reverse", chunk=2)
