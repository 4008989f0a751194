"""Passes whose partials are the colours of a sparse Jacobian: how many, and of which size."""

import numpy as np
import pytest

import numbad as nd
from asv_bench.benchmarks.problems import brusselator
from tests.operators.test_sparse import RING, X, by_complex_step, plan_of, ring, valid


def test_more_colours_than_a_pass_has_partials():
    def f(x):
        s = 0.0
        for v in x:
            s += v**2
        y = x * s
        y[0] = x[3]
        return y

    x = np.linspace(1.0, 2.0, 37)
    jacobian = nd.jacobian(f, sparsity="detect")
    found = valid(jacobian(x), (37, 37))
    assert plan_of(jacobian, x).count == 37

    def plain(x):
        y = x * (x**2).sum()
        y[0] = x[3]
        return y

    np.testing.assert_allclose(found.toarray(), by_complex_step(plain, x), rtol=1e-13)


@pytest.mark.dear
def test_the_brusselator_takes_few_passes():
    n = 1000
    y, _, _, _ = brusselator.draw(np.random.default_rng(0), n)
    for rhs in (brusselator.rhs, brusselator.naive_rhs):
        jacobian = nd.jacobian(rhs, argnums=4, out=5, sparsity="detect")
        args = n, 1.0, 3.0, 2.0, y, np.zeros(2 * n)
        plan = plan_of(jacobian, *args)
        assert plan.count <= 8
        assert plan.one_pass
        found = valid(jacobian(*args), (2 * n, 2 * n))
        assert found.nnz == 8 * n
        v = np.random.default_rng(1).normal(size=2 * n)
        k = np.zeros(2 * n, complex)
        rhs.py_func(*args[:4], y + 1e-30j * v, k)
        np.testing.assert_allclose(found @ v, k.imag / 1e-30, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("chunk", [1, 2, 3, 4])
def test_chunks(chunk):
    jacobian = nd.jacobian(ring, sparsity=RING, chunk=chunk)
    assert plan_of(jacobian, X).n == {1: 1, 2: 2, 3: 2, 4: 4}[chunk]
    np.testing.assert_allclose(jacobian(X).toarray(), by_complex_step(ring, X), rtol=1e-14)
