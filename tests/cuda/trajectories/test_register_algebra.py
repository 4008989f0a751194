"""Linear systems in registers: the code of a thread, compiled for the CPU, against NumPy."""

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import njit
from numba.extending import intrinsic

from numbad.cuda.trajectories.register_algebra import Factors
from numbad.ode.emit import Emitter


def solver_in_registers(method):
    """The compiled `solve(W, right)` by a method of `Factors`."""

    @intrinsic
    def in_registers(typingctx, W, right):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            rows = emitter.members(W, arguments[0])
            given = emitter.vector(right, arguments[1])
            n = range(len(right))
            factors = Factors(emitter, [[row[j] for j in n] for row in rows])
            found = getattr(factors, method)([given[j] for j in n])
            return context.make_tuple(builder, right, [x.value for x in found])

        return right(W, right), codegen

    return njit(lambda W, right: in_registers(W, right))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_systems_of_any_order_of_rows(n):
    """Zeros on the diagonal call for an exchange of rows at every step; and with the transpose."""
    solve, solve_transposed = map(solver_in_registers, ("solve", "solve_transposed"))
    rng = np.random.default_rng(n)
    for _ in range(20):
        W = np.eye(n)[rng.permutation(n)] * 10.0 ** rng.integers(-3, 4, n)
        W = W @ (np.eye(n) + np.triu(rng.normal(size=(n, n)), 1))
        right = rng.normal(size=n)
        given = tuple(map(tuple, W)), tuple(right)
        np.testing.assert_allclose(solve(*given), np.linalg.solve(W, right), rtol=1e-9, atol=1e-12)
        found, expected = solve_transposed(*given), np.linalg.solve(W.T, right)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_largest_number_is_the_pivot():
    """With 1e-20 as the pivot nothing of the second row would be left."""
    solve = solver_in_registers("solve")
    assert solve(((1e-20, 1.0), (1.0, 1.0)), (1.0, 2.0)) == pytest.approx((1.0, 1.0), rel=1e-15)
