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
