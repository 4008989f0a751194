"""Functions of whole arrays, and their derivatives."""

import math

import numba
import numpy as np
import pytest
import scipy.special as sp

import numbad as nd
import numbad.special as ns


@numba.njit
def entropies(x):
    return ns.logsumexp(x) * ns.softmax(x)[1] + ns.log_softmax(x)[0]


@pytest.mark.dear
def test_functions_of_whole_arrays():
    x = np.array([1000.3, 999.1, -3.0, 1000.3])
    expected = sp.logsumexp(x) * sp.softmax(x)[1] + sp.log_softmax(x)[0]
    assert entropies(x) == pytest.approx(expected, rel=1e-13)
    p, total = sp.softmax(x), sp.logsumexp(x)
    unit = np.eye(4)
    slope = p * p[1] + total * p[1] * (unit[1] - p) + unit[0] - p
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(nd.grad(entropies, mode=mode)(x), slope, 1e-12, 1e-15)


def test_logsumexp_where_nothing_is_finite():
    for x in ([], [-math.inf, -math.inf], [math.inf, 1.0]):
        with np.errstate(all="ignore"):
            expected = sp.logsumexp(x) if x else -math.inf
        assert ns.logsumexp(np.array(x)) == expected
    assert math.isnan(ns.logsumexp(np.array([1.0, math.nan, 2.0])))
