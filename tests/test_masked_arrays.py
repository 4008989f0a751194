"""Masked arrays are refused also where Numba's C code has met plain arrays of the type before."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.masked_arrays import MESSAGE

MASKED = np.ma.masked_array([1.0, 2.0, 1e20], mask=[False, False, True])


def energy(x):
    return (x**2).sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_masked_array_after_plain_ones(mode):
    slope = nd.grad(energy, mode=mode)
    assert list(slope(np.ones(3))) == [2.0, 2.0, 2.0]
    references = sys.getrefcount(np.ma.MaskedArray), sys.getrefcount(MASKED)
    for _ in range(20):
        with pytest.raises(nd.ArgumentError) as refusal:
            slope(MASKED)
        assert str(refusal.value) == MESSAGE
    refusal = None
    assert sys.getrefcount(np.ma.MaskedArray) <= references[0] + 2
    assert sys.getrefcount(MASKED) <= references[1] + 2
    assert list(slope(MASKED.filled(0.0))) == [2.0, 4.0, 0.0]


def test_one_in_a_tuple_and_one_that_is_not_differentiated():
    slope = nd.grad(lambda x, pair: x * pair[1].sum(), mode="reverse")
    assert slope(2.0, (1.0, np.ones(3))) == 3.0
    with pytest.raises(nd.ArgumentError, match="masked"):
        slope(2.0, (1.0, MASKED))


def test_a_solver():
    solve = nd.ode.solver(lambda t, y: -y, method="RK4", first_step=0.5)
    plain = solve(np.ones(3), np.array([0.0, 1.0]), ())
    assert plain.shape == (2, 3)
    with pytest.raises(nd.ArgumentError, match="masked"):
        solve(MASKED, np.array([0.0, 1.0]), ())


def test_other_subclasses_are_taken_as_numba_takes_them():
    class Named(np.ndarray):
        pass

    slope = nd.grad(energy, mode="reverse")
    plain = slope(np.arange(3.0))
    assert np.array_equal(slope(np.arange(3.0).view(Named)), plain)


def test_functions_of_others_are_left_alone():
    theirs = numba.njit(energy)
    theirs(np.ones(3))
    assert theirs(MASKED) == 1e40 + 5.0  # what Numba does


def test_in_a_process_that_has_the_code_from_the_disk(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, numbad as nd\n"
        "def energy(x):\n"
        "    return (x**2).sum()\n"
        "slope = nd.grad(energy, mode='reverse')\n"
        "slope(np.ones(3))\n"
        "try:\n"
        "    slope(np.ma.masked_array([1.0, 2.0], mask=[False, True]))\n"
        "except nd.ArgumentError as refusal:\n"
        "    print('refused')\n"
    )
    environment = {**os.environ, "NUMBAD_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        run = [sys.executable, script]
        found = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
        assert found.stdout == "refused\n", found.stderr
