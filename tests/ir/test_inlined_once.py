"""Functions with `inline="always"`, which numbad's pipelines put in place without copies."""

import numba
import numpy as np
import pytest
from numba.core import ir

import numbad as nd
from numbad.ir import inlined_once
from numbad.ir.unwind import freeing
from tests.forward.test_given_code import MODES


@numba.njit(inline="always")
def clipped(x, most):
    if x > most:
        return most
    return x


@numba.njit(inline="always")
def total(xs, most):
    found = 0.0
    for x in xs:
        found += clipped(x, most)
    return found


def both(xs, ys):
    return total(xs, 2.0) - 10.0 * total(ys, 3.0) + 100.0 * total(xs, 4.0)


EXPECTED = 3.0 - 10.0 * 4.0 + 100.0 * 5.0


def test_each_call_has_its_own_code_with_its_own_names():
    own = freeing(numba.njit(both))
    assert own((1.0, 5.0), (1.0, 3.0, 0.0)) == EXPECTED
    assert numba.njit(both)((1.0, 5.0), (1.0, 3.0, 0.0)) == own((1.0, 5.0), (1.0, 3.0, 0.0))


def test_the_functions_themselves_stay_as_they_were():
    freeing(numba.njit(both))((1.0, 5.0), (1.0, 3.0))
    assert total((1.0, 5.0), 2.0) == 3.0
    assert clipped(7.0, 2.0) == 2.0


def test_no_block_is_copied(monkeypatch):
    copied = []
    fresh = inlined_once._Fresh.__deepcopy__

    def noting(self, memo):
        copied.append(fresh(self, memo) is self)
        return self

    monkeypatch.setattr(inlined_once._Fresh, "__deepcopy__", noting)
    monkeypatch.setattr(ir.Block, "__deepcopy__", lambda *_: pytest.fail("copied"), raising=False)
    freeing(numba.njit(lambda x: clipped(x, 1.0) + clipped(x, 2.0)))(3.0)
    assert copied
    assert all(copied)


@numba.njit(inline="always")
def ruled(x):
    return x * x


nd.scalar_rule(ruled, lambda ans, x: (7.0,))


@numba.njit(inline="always")
def inlined(a, x):
    out = np.zeros(2, a.dtype)
    out[0] = ruled(x)
    out *= 2.0
    return out


@MODES
def test_what_is_inlined_keeps_its_rule(mode):
    def f(x):
        return inlined(np.ones(2), x).sum() + ruled(x)

    assert nd.value_and_grad(f, mode=mode)(1.5) == (6.75, 21.0)
