"""Least squares: of full rank alone, and by one argument."""

import numpy as np
import pytest

import numbad as nd
from tests.rules.linalg.test_edges import OF_RANK_ONE, both
from tests.rules.linalg.test_triangles import STEP, draws


@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
@pytest.mark.deep
@both
def test_least_squares_need_full_rank(mode):
    for f in (lambda a: np.linalg.pinv(a).sum(), lambda a: np.linalg.lstsq(a, a[:, 0])[0].sum()):
        with pytest.raises(np.linalg.LinAlgError, match="full rank"):
            nd.grad(f, mode=mode)(OF_RANK_ONE)


# -- least squares by one argument -----------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("argnums", [0, 1])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_least_squares_by_one_argument(shape, argnums):
    a, b, da, db = draws(shape, shape[:1], shape, shape[:1])

    def exact(a, b):
        if a.shape[0] > a.shape[1]:
            return np.linalg.solve(a.T @ a, a.T @ b)
        return a.T @ np.linalg.solve(a @ a.T, b)

    moves = ((da, 0.0 * db), (0.0 * da, db))[argnums]
    expected = exact(*(x + 1j * STEP * d for x, d in zip((a, b), moves, strict=True))).imag / STEP
    compiled = nd.jvp(lambda a, b: np.linalg.lstsq(a, b)[0], argnums)
    _, found = compiled((a, b), (moves[argnums],))
    np.testing.assert_allclose(found, expected, rtol=1e-11)
