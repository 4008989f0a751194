"""Special functions and derivatives, recorded; `test_cython_pointers.py` runs it twice, with one cache."""

import sys

from numba import njit

import numbad as nd
from numbad.compilation.caching import jit
from tests.compilation.counting import record, report


@njit
def several(x):
    return nd.special.erf(x) * nd.special.jv(0.5, x) + nd.special.polygamma(1, x)


@jit
def kept(x):
    return nd.special.airy(x)[0] + nd.special.spherical_jn(2, x)


if __name__ == "__main__":
    assert "scipy.special" not in sys.modules
    record("gradient", nd.grad(several, mode="reverse"), 0.5)
    record("second", nd.hessian(several), 0.5)
    record("kept", kept, 0.5)
    report()
