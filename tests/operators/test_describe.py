"""Arguments that hold no float to differentiate by, in the words of who passed them."""

import re

import numpy as np
import pytest
from numba import float64, int64, njit, types
from numba.experimental import jitclass
from numba.typed import Dict, List

import numbad as nd
from tests.operators.test_wrong_use import f


@pytest.mark.parametrize("operator", [nd.grad, nd.value_and_grad, nd.jacobian])
def test_an_int_where_a_float_is_meant(operator):
    with pytest.raises(
        nd.ArgumentError, match=r"argument 'x', which is an int.*pass a float \(2.0"
    ):
        operator(f)(2, 3)
    with pytest.raises(nd.ArgumentError, match="argument 'count', which is an int"):
        operator(f, argnums=1)(2.0, 3)


def test_an_int_array_where_floats_are_meant():
    with pytest.raises(nd.ArgumentError, match=r"'a', which is an array of int64.*astype"):
        nd.grad(lambda a: a.sum())(np.arange(3))


def test_memory_of_others():
    with pytest.raises(nd.ArgumentError, match=r"'a', which is a buffer of float64.*np\.asarray"):
        nd.grad(lambda a: a[0])(memoryview(np.ones(3)))


def test_derivative_by_an_array_or_an_int():
    with pytest.raises(nd.ArgumentError, match=r"argument 'a' is an array.*nd.grad or nd.jacobian"):
        nd.derivative(lambda a: a.sum())(np.ones(3))
    with pytest.raises(nd.ArgumentError, match=r"argument 'x' is an int.*pass a float"):
        nd.derivative(f)(2, 3)


Observation = np.dtype([("x", np.float64), ("y", np.float64)])
WITHOUT_DERIVATIVE = {
    "a list of float64": lambda: List([2.0, 3.0]),
    "a dict": lambda: Dict.empty(int64, float64),
    "a structured array": lambda: np.zeros(2, Observation),
    "a record": lambda: np.zeros(2, Observation)[0],
    "a jitclass object (Spring)": lambda: Spring(List([2.0])),
}


@jitclass([("stiffness", types.ListType(float64))])
class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness


@njit
def ignores(held, s):
    return s * s


@pytest.mark.parametrize("kind", WITHOUT_DERIVATIVE)
def test_floats_that_are_out_of_reach(kind):
    held, said = WITHOUT_DERIVATIVE[kind](), re.escape(kind)
    for operator in (nd.grad, nd.jacobian, nd.hessian):
        with pytest.raises(nd.ArgumentError, match=f"'held', which is {said}.*: pass "):
            operator(ignores)(held, 2.0)
    for operator in (nd.jvp, nd.hvp):
        with pytest.raises(nd.ArgumentError, match=f"'held' has a tangent.*{said}, is a constant"):
            operator(ignores)((held, 3.0), (1.0, 1.0))
    assert nd.jvp(ignores)((held, 3.0), (None, 1.0)) == (9.0, 6.0)
    assert nd.vjp(ignores)((held, 3.0), 1.0) == (9.0, (None, 6.0))


@pytest.mark.parametrize("operator", [nd.jvp, nd.vjp, nd.hvp, nd.grad_and_hvp])
def test_no_float_at_all(operator):
    with pytest.raises(nd.ArgumentError, match=r"no argument holds floats \('x' is an int.*pass a"):
        operator(f)((2, 3), (1.0, 1.0) if operator is not nd.vjp else 1.0)


def test_half_precision():
    for x in (np.float16(2.0), np.ones(2, np.float16)):
        with pytest.raises(nd.ArgumentError, match=r"float16.*computes with float32 and float64"):
            nd.jacobian(lambda x: x * x)(x)


def test_complex_arguments_of_gradients():
    for operator in (nd.grad, nd.jacobian):
        with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
            operator(lambda z: abs(z), mode="forward")(1.0 + 2.0j)
    with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
        nd.jacobian(lambda z: abs(z))(1.0 + 2.0j)
