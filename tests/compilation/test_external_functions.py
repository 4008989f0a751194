"""Functions that are found by a symbol: their errors, and in another process."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.sde.levy_area import levy_increments
from tests.compilation.test_around import KEY

pytestmark = pytest.mark.usefixtures("nothing_kept")


@pytest.mark.dear
def test_errors_of_what_is_found_by_name():
    """They come through the caller, from Python and from compiled code."""
    cells, halves = np.arange(2), np.array([[0.0, 0.5], [0.5, 1.0]])

    @numba.njit
    def draw():
        return levy_increments(KEY, 0, cells, halves, 0.1, 2)

    for call in (lambda: levy_increments(KEY, 0, cells, halves, 0.1, 2), draw):
        with pytest.raises(nd.DataError, match="multiples of dt"):
            call()


SCRIPT = """
import sys
import numba
import numbad as nd

for scale in map(float, sys.argv[1:]):
    drift = numba.njit(lambda t, y: 0.0)
    diffusion = numba.njit(lambda t, y: scale)
    solve = nd.sde.solver(drift, diffusion, dt=0.01)
    print(solve(0.0, (0.0, 1.0), (), nd.random.key(1))[-1, 0] / scale)
"""


@pytest.mark.dear
def test_another_process_finds_what_code_from_the_disk_calls(tmp_path):
    def run(*scales):
        environment = {**os.environ, "NUMBAD_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, *scales]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return list(map(float, done.stdout.split()))

    first = run("2.0")
    kept = {entry.name.partition("-")[0] for entry in tmp_path.iterdir()}
    assert {"solve", "integrate", "increments", "grid"} <= kept
    # Another model, around which code comes from a template; then one that is there as it is.
    np.testing.assert_allclose(run("3.0", "2.0"), first * 2, rtol=1e-12)
