"""Functions of a module that comes as an argument."""

import types

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.forward import known
from numbad.forward.complex_parts import Part
from numbad.ir.fence import readable


@njit
def _cube(x):
    return x**3


_own = types.ModuleType("own")
_own.cube = _cube


@njit
def _by(lib, x):
    return lib.nan_to_num(lib.sqrt(x), nan=0.0) * x


@njit
def _by_own(lib, x):
    return lib.cube(x)


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_of_a_module_that_is_an_argument(mode):
    def f(x):
        return _by(np, x) + _by_own(_own, x)

    assert nd.grad(f, mode=mode)(4.0) == pytest.approx(1.5 * 4.0**0.5 + 3 * 4.0**2)


def test_numba_names_a_stand_in_as_what_it_stands_for():
    def told(stand_in):
        return readable(f"No implementation of function Function({stand_in!r})").split()[-1]

    methods = {fn: name for fn, name in known.STANDS_FOR.items() if isinstance(name, str)}
    assert {told(fn) for fn in methods} == set(methods.values())
    part = Part("real", "z.real", lambda ty: True, None)
    assert told(part.refusal) == "real"
    assert told(part.set_item) == "setitem"


@njit
def _along(func, a):
    out = np.empty(a.shape[0])
    for i in range(len(out)):
        out[i] = func(a[i, :])
    return out


@njit
def _by_mean(a):
    return _along(np.mean, a).sum()


@njit
def _by_norm(a):
    return _along(np.linalg.norm, a).sum()


@njit
def _by_deviation(a):
    return _along(np.std, a.T)[0] * _along(np.sum, a)[1]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_of_arrays_that_are_arguments(mode):
    """As cellrank's `np_apply_along_axis(np.mean, 0, a)`, for which Numba has no `np.apply_along_axis`."""
    a = np.array([[0.3, 0.7], [0.5, 0.2]])
    np.testing.assert_allclose(nd.grad(_by_mean, mode=mode)(a), np.full((2, 2), 0.5), rtol=1e-14)
    unit = a / np.linalg.norm(a, axis=1)[:, None]
    np.testing.assert_allclose(nd.grad(_by_norm, mode=mode)(a), unit, rtol=1e-14)
    exact = [[-0.5 * 0.7, 0.0], [0.5 * 0.7 + 0.1, 0.1]]  # of (a10 - a00) / 2 * (a10 + a11)
    np.testing.assert_allclose(nd.grad(_by_deviation, mode=mode)(a), exact, rtol=1e-13)


def _validated(a, rate):
    if np.any(~np.isfinite(rate)) or not np.all(rate > 0.0) or np.size(rate) != 1:
        raise ValueError("the rate must be a positive number")
    return rate * a.sum() + np.max(rate) * np.mean(rate) + np.std(rate)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_functions_of_arrays_that_are_given_a_number(mode):
    """As qis's `compute_ewm_covar` checks its parameters, which may be arrays."""
    a = np.array([0.3, 0.7])
    value, (by_a, by_rate) = nd.value_and_grad(_validated, argnums=(0, 1), mode=mode)(a, 0.9)
    assert value == njit(_validated)(a, 0.9)
    assert by_a.tolist() == [0.9, 0.9]
    assert by_rate == pytest.approx(1.0 + 2 * 0.9, rel=1e-14)
    with pytest.raises(ValueError, match="positive number"):
        nd.grad(_validated, argnums=1, mode=mode)(a, np.nan)
