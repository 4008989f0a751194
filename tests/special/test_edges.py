"""Derivatives of special functions where they meet an edge: zeros, poles, ends of the domain."""

import math

import numba
import pytest
import scipy.special as sp

import numbad as nd
import numbad.special as ns
from numbad.source import define

INF, NAN = math.inf, math.nan
GAMMA = 0.5772156649015329

# function, arguments, which one, first derivative, second (None: not said)
EDGES = [
    (sp.erf, (INF,), 0, 0.0, None),
    (sp.erf, (NAN,), 0, NAN, NAN),
    (sp.erfcx, (INF,), 0, 0.0, 0.0),
    (sp.erfcx, (-INF,), 0, -INF, None),
    (sp.dawsn, (INF,), 0, 0.0, 0.0),
    (sp.erfinv, (1.0,), 0, INF, None),
    (sp.ndtri, (0.0,), 0, INF, None),
    (sp.log_ndtr, (-1e10,), 0, 1e10, -1.0),
    (sp.log_ndtr, (INF,), 0, 0.0, None),
    (sp.loggamma, (-0.5,), 0, NAN, None),
    (sp.psi, (0.0,), 0, INF, None),
    (sp.psi, (-1.0,), 0, INF, None),
    (sp.rgamma, (0.0,), 0, 1.0, 2 * GAMMA),
    (sp.rgamma, (-2.0,), 0, 2.0, -4 * (1.5 - GAMMA)),
    (sp.poch, (0.0, 3.0), 0, 2.0, 6.0),
    (sp.binom, (3.0, 5.0), 1, 0.05, -77 / 600),
    (sp.gammainc, (1.0, 0.0), 1, 1.0, -1.0),
    (sp.gammainc, (2.0, 0.0), 1, 0.0, 1.0),
    (sp.gammainc, (0.5, 0.0), 1, INF, None),
    (sp.gammainc, (2.0, INF), 1, 0.0, 0.0),
    (sp.betainc, (2.0, 1.0, 0.0), 2, 0.0, 2.0),
    (sp.betainc, (0.5, 1.0, 0.0), 2, INF, None),
    (sp.betainc, (1.0, 3.0, 0.0), 2, 3.0, -6.0),
    (sp.jv, (0.5, 0.0), 1, INF, None),
    (sp.jv, (0, 0.0), 1, 0.0, -0.5),
    (sp.kv, (0, 0.0), 1, -INF, None),
    (sp.i0e, (0.0,), 0, -1.0, 1.5),
    (sp.i0e, (1e9,), 0, -6.307831307415838e-15, 9.461746963e-24),
    (ns.spherical_jn, (0, 0.0), 1, 0.0, -1 / 3),
    (ns.spherical_jn, (1, 0.0), 1, 1 / 3, 0.0),
    (sp.ellipk, (0.0,), 0, math.pi / 8, 9 * math.pi / 64),
    (sp.ellipk, (1.0,), 0, INF, None),
    (sp.ellipe, (1.0,), 0, -INF, None),
    (sp.ellipkm1, (0.0,), 0, -INF, None),
    (sp.expi, (0.0,), 0, INF, None),
    (sp.expn, (3, 0.0), 1, -1.0, INF),
    (sp.spence, (0.0,), 0, -INF, None),
    (sp.spence, (1.0,), 0, -1.0, 0.5),
    (sp.spence, (1e-17,), 0, -39.14394658089878, 1e17),
    (ns.sici_si, (0.0,), 0, 1.0, 0.0),
    (ns.lambertw, (-0.5,), 0, NAN, None),
    (ns.lambertw, (0.0,), 0, 1.0, -2.0),
    (ns.lambertw, (INF,), 0, 0.0, 0.0),
    (sp.expit, (800.0,), 0, 0.0, 0.0),
    (sp.expit, (-800.0,), 0, 0.0, 0.0),
    (sp.logit, (0.0,), 0, INF, None),
    (sp.xlogy, (0.0, 0.0), 0, -INF, None),
    (sp.xlogy, (0.0, 0.0), 1, 0.0, 0.0),
    (sp.xlog1py, (0.0, -1.0), 1, 0.0, 0.0),
    (sp.entr, (0.0,), 0, INF, None),
    (sp.entr, (-1.0,), 0, NAN, None),
    (sp.rel_entr, (0.0, 1.0), 1, 0.0, 0.0),
    (sp.rel_entr, (0.0, 0.0), 1, 0.0, 0.0),
    (sp.kl_div, (0.0, 1.0), 1, 1.0, 0.0),
    (sp.exprel, (0.0,), 0, 0.5, 1 / 3),
    (sp.exprel, (INF,), 0, INF, None),
    (sp.exprel, (-INF,), 0, 0.0, 0.0),
    (sp.exprel, (800.0,), 0, INF, None),
    (sp.huber, (1.0, 1.0), 1, 1.0, 1.0),
    (sp.huber, (1.0, -1.0), 0, 0.0, 0.0),
    (sp.pseudo_huber, (0.0, 2.0), 0, 2.0, -2.0),
    (sp.pseudo_huber, (0.0, 0.0), 1, 0.0, 0.0),
    (sp.boxcox, (2.0, 0.0), 1, math.log(2) ** 2 / 2, math.log(2) ** 3 / 3),
    (sp.boxcox, (0.0, 0.5), 1, 4.0, -16.0),
    (sp.inv_boxcox, (1.0, 0.0), 1, -math.e / 2, 11 * math.e / 12),
]


@pytest.fixture(scope="module")
def found():
    """The first and second derivatives of all, from one compiled function."""
    namespace, calls = {"inf": INF, "nan": NAN}, []
    for i, (fn, args, k, *_) in enumerate(EDGES):
        given = ", ".join(f"x[{i}]" if j == k else repr(value) for j, value in enumerate(args))
        calls.append(f"fn{i}({given}), ")
        namespace[f"fn{i}"] = fn
    source = f"def f(x):\n    return ({''.join(calls)})\n"
    f = numba.njit(error_model="numpy")(define(source, namespace))
    x = tuple(args[k] for _, args, k, *_ in EDGES)
    ones, zeros = (1.0,) * len(x), (0.0,) * len(x)
    first = nd.jvp(f)
    _, slopes = first((x,), (ones,))
    _, (_, seconds) = nd.jvp(first)(((x,), (ones,)), ((ones,), (zeros,)))
    return slopes, seconds


@pytest.mark.parametrize("i", range(len(EDGES)), ids=lambda i: f"{EDGES[i][0].__name__}-{i}")
def test_at_the_edge(found, i):
    *_, first, second = EDGES[i]
    assert found[0][i] == pytest.approx(first, rel=1e-13, abs=0.0, nan_ok=True)
    if second is not None:
        assert found[1][i] == pytest.approx(second, rel=1e-9, abs=1e-14, nan_ok=True)
