"""Masked arrays: NaN where they mask data, refused where Numba's C code has met plain arrays before."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.masked_arrays import MESSAGE, nan_where_masked
from numbad.sde import filters

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


# -- data and starts, which Python code reads ------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_numbers_of_any_kind(dtype):
    given = np.ma.masked_array([1, 0, 1], mask=[False, False, True]).astype(dtype)
    found = nan_where_masked(given)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [1.0, 0.0, np.nan])


def test_what_is_no_array_of_numbers_stays_what_it_is():
    for given in ([1.0, 2.0], np.ones(2), np.ma.masked_array(["a", "b"]), None):
        assert nan_where_masked(given) is given


def test_masked_observations_are_not_fitted():
    """The rate of a decay, exact but for what is masked."""
    t = np.linspace(0.0, 2.0, 11)
    y = np.ma.masked_array(2.0 * np.exp(-t), mask=t == 1.0)
    y.data[5] = 999.0
    found = nd.fit.fit_ode(lambda t, y, k: -k * y, t, y, p0={"k": 0.5}, y0=2.0)
    assert found.params["k"] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.dear
def test_masked_observations_of_a_state_that_is_hidden():
    decay = filters.extended_kalman(
        lambda t, y, rate: (-rate * y[0],),
        lambda t, y, rate: (0.3,),
        mean=(1.0,),
        spread=(0.2,),
        noise=(0.1,),
        dt=0.5,
    )
    t, y = np.arange(4.0), np.array([0.9, np.nan, 0.4, 0.2])
    masked = np.ma.masked_array([0.9, 999.0, 0.4, 0.2], mask=[False, True, False, False])
    found, expected = (decay.filtered(t, given, {"rate": 0.5}).mean for given in (masked, y))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("minimum", [nd.fit.minimize, nd.fit.least_squares])
def test_a_masked_start(minimum):
    start = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    with pytest.raises(nd.ModelError, match="x0 must be .* finite"):
        minimum(lambda x: (x**2).sum() if minimum is nd.fit.minimize else x, start)
