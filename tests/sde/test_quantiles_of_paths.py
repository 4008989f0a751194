"""Quantiles over paths are numpy's of the kept paths, to the last bit, in memory that does not grow."""

import math
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import numbad as nd
from numbad.sde import quantiles_of_paths

KEY = nd.random.key(17)
TIMES = np.array([0.0, 0.25, 1.0])
LEVELS = 0.5, 0.0, 0.003, 0.25, 0.9, 0.95, 1.0, 1 / 3

# Limits on what is kept of all, sampled, kept of a pass, on edges: all; bounds by a sample, then all paths
# once; bins by a sample, then what is left; bins again and again.
LIMITS = {
    "kept": (2**21, 2**20, 2**20, 2**19),
    "once": (0, 3000, 10**6, 2000),
    "twice": (0, 3000, 2000, 2000),
    "often": (0, 48, 4, 24),
}


@pytest.fixture(params=LIMITS)
def limits(request, monkeypatch):
    _limit(monkeypatch, LIMITS[request.param])
    return request.param


def _limit(monkeypatch, limits):
    for name, limit in zip(("WHOLE", "SAMPLE", "KEPT", "EDGES"), limits, strict=True):
        monkeypatch.setattr(quantiles_of_paths, name, limit)


@pytest.fixture
def passes(monkeypatch):
    """How many paths each pass went through, and how many numbers came back."""
    taken, sort = [], quantiles_of_paths._Passes.sort

    def counted(self, edges, keep, paths=None):
        found = sort(self, edges, keep, paths)
        taken.append((paths or self.chunk.paths, len(found[1])))
        return found

    monkeypatch.setattr(quantiles_of_paths._Passes, "sort", counted)
    return taken


@njit
def _drift(t, y):
    return -y[0], 0.0


@njit
def _diffusion(t, y):
    return 0.5, (0.3 if y[1] > 0.0 else 0.0)


# The second component is constant to begin with, and stays where it is once it is below zero.
SOLVE = nd.sde.solver(_drift, _diffusion, dt=0.125)


@njit
def _counts(ys):
    return math.floor(4.0 * ys[-1, 0]), abs(ys[-1, 1]), 0.25


@njit
def _loss(ys):
    return max(-ys[-1, 0], 0.0)


def _found(paths=5000, of=None, levels=LEVELS, solve=SOLVE, y0=(1.0, 0.5), **options):
    asked = nd.sde.quantiles(*levels, of=of)
    return nd.sde.ensemble(solve, y0, TIMES, (), KEY, paths, reduce=asked, **options)


def _paths(paths=5000, solve=SOLVE, y0=(1.0, 0.5), **options):
    return nd.sde.ensemble(solve, y0, TIMES, (), KEY, paths, **options)


@pytest.mark.dear
def test_of_each_component_at_each_time(limits, passes):
    found = _found()
    np.testing.assert_array_equal(found.values, np.quantile(_paths(), LEVELS, axis=0))
    assert found.values.shape == (len(LEVELS), 3, 2)
    assert found[1:] == (LEVELS, 5000, -1)
    count, kept = len(passes), max(numbers for _, numbers in passes[1:] or [(0, 0)])
    expected = {"kept": count == 1, "once": count == 2, "twice": count == 3, "often": count > 4}
    assert expected[limits]
    assert kept <= quantiles_of_paths.KEPT


@pytest.mark.dear
def test_of_functions_with_ties_and_constants(limits):
    paths = _paths()
    numbers = [[*_counts.py_func(path)] for path in paths]
    np.testing.assert_array_equal(_found(of=_counts).values, np.quantile(numbers, LEVELS, axis=0))
    losses = [_loss.py_func(path) for path in paths]  # 0 for nearly all
    np.testing.assert_array_equal(_found(of=_loss).values, np.quantile(losses, LEVELS))


@pytest.mark.parametrize("executor", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(limits, executor):
    np.testing.assert_array_equal(_found(executor=executor).values, _found().values)


@pytest.mark.deep
def test_processes_give_the_same(monkeypatch):
    _limit(monkeypatch, LIMITS["twice"])
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        np.testing.assert_array_equal(_found(executor=pool).values, _found().values)


@pytest.mark.parametrize("count", [1, 2, 17, 513])
def test_few_paths(limits, count):
    np.testing.assert_array_equal(_found(count).values, np.quantile(_paths(count), LEVELS, axis=0))


def test_a_bar_shows_the_progress(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _found(progress=True)
    assert "paths: 100%" in capsys.readouterr().err


FAILING = nd.sde.solver(
    lambda t, y: 1.0 / y if y > 0.0 else math.nan, lambda t, y: 1.0, dt=0.125, noise="additive"
)


@pytest.mark.dear
def test_paths_that_fail_are_left_out(limits):
    paths = _paths(2000, FAILING, 1.0)
    lost = np.isnan(paths).any(axis=(1, 2))
    told = rf"{lost.sum()} of 2000 paths .* the first is path {np.flatnonzero(lost)[0]}:"
    with pytest.warns(nd.NumbadWarning, match=told):
        found = _found(2000, solve=FAILING, y0=1.0)
    np.testing.assert_array_equal(found.values, np.quantile(paths[~lost], LEVELS, axis=0))
    assert found.paths == 2000 - lost.sum() > 0


@pytest.mark.dear
def test_antithetic_paths(limits):
    """The first pair that fails is named, though its mirrored path alone fails; blocks have 256 pairs."""
    paths = _paths(2000, FAILING, 1.0, antithetic=True)
    lost = np.isnan(paths).any(axis=(1, 2))
    pairs = lost[:512].reshape(2, 256)
    first = np.flatnonzero(pairs.any(axis=0))[0]
    assert pairs[:, first].tolist() == [False, True]
    with pytest.warns(nd.NumbadWarning, match=f"{lost.sum()} of 2000 .* path {first}:"):
        found = _found(2000, solve=FAILING, y0=1.0, antithetic=True)
    np.testing.assert_array_equal(found.values, np.quantile(paths[~lost], LEVELS, axis=0))
    assert (found.paths, found.failed) == (2000 - lost.sum(), first)


def test_where_all_fail(limits):
    with pytest.warns(nd.NumbadWarning, match="2000 of 2000"):
        found = _found(2000, solve=FAILING, y0=-1.0)
    assert np.isnan(found.values).all()
    assert (found.values.shape, found.paths, found.failed) == ((len(LEVELS), 3, 1), 0, 0)


@pytest.mark.deep
@pytest.mark.parametrize("options", [{"rtol": 0.1, "method": "SRIW1"}, {"dt": 0.125}])
def test_states_that_are_arrays_and_adaptive_steps(monkeypatch, options):
    solve = nd.sde.solver(lambda t, y: -y, lambda t, y: 0.5 * y, **options)
    _limit(monkeypatch, LIMITS["twice"])
    given = {"solve": solve, "y0": np.array([1.0, 2.0])}
    expected = np.quantile(_paths(300, **given), LEVELS, axis=0)
    np.testing.assert_array_equal(_found(300, **given).values, expected)


class _Table:
    """Passes through the rows of a table in place of paths; rows with a NaN are paths that fail."""

    def __init__(self, table):
        self.table, self.columns, self.good = table, table.shape[1], 0
        self.chunk = SimpleNamespace(size=16, paths=len(table))

    def _finite(self, paths):
        rows = self.table[:paths]
        return rows[np.isfinite(rows).all(axis=1)]

    def all_numbers(self, paths):
        return self._finite(paths)

    def sort(self, edges, keep):
        rows = self._finite(None)
        self.good, counts, numbers, columns = len(rows), np.zeros(keep.shape, int), [], []
        for j, row in enumerate(edges):
            bins = np.searchsorted(row, rows[:, j], side="right")
            counts[j] = np.bincount(bins, minlength=keep.shape[1])
            numbers.append(rows[keep[j, bins], j])
            columns.append(np.full(len(numbers[-1]), j))
        assert sum(map(len, numbers)) <= 10 * quantiles_of_paths.KEPT
        return counts, np.concatenate(numbers), np.concatenate(columns)


def _tables():
    rng = np.random.default_rng(2)
    normal = rng.normal(size=(3000, 3))
    yield "normal", normal
    yield "of few values", np.round(normal)
    yield "with atoms", np.where(rng.uniform(size=normal.shape) < 0.4, 0.25, normal)
    yield "of all sizes", normal * 10.0 ** rng.integers(-308, 308, normal.shape)
    yield "with zeros of both signs", np.copysign(np.maximum(np.abs(normal) - 1.0, 0.0), normal)
    yield "next to each other", 1.0 + np.rint(3.0 * normal) * 2.0**-52
    yield "ascending, which the first are no sample of", np.sort(normal, axis=0)
    yield "constant at first", np.where(np.arange(3000)[:, None] < 1000, 7.0, normal)
    first = np.where(np.arange(3000)[:, None] < 1000, np.nan, normal)
    yield "missing at first", first
    yield "missing nearly all", np.where(np.arange(3000)[:, None] < 2999, np.nan, normal)
    yield "largest and least", np.sign(normal) * np.where(normal > 1.0, 5e-324, np.finfo(float).max)


@pytest.mark.parametrize("name", ["once", "twice", "often"])
@pytest.mark.parametrize("table", [pytest.param(t, id=what) for what, t in _tables()])
def test_of_numbers_that_are_difficult(monkeypatch, table, name):
    _limit(monkeypatch, LIMITS[name])
    finite = table[np.isfinite(table).all(axis=1)]
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.quantile(finite, LEVELS, axis=0)
        found = quantiles_of_paths._searched(_Table(table), LEVELS)
    np.testing.assert_array_equal(found, expected)


def test_against_the_law():
    """Of an Ornstein-Uhlenbeck process by Euler steps, normal: within 4 standard errors of a quantile."""
    found = _found(200_000, levels=(0.05, 0.5, 0.95)).values[:, -1, 0]
    decay = 1.0 - 0.125
    spread = 0.5 * math.sqrt(0.125 * (1.0 - decay**16) / (1.0 - decay**2))
    exact = decay**8 + spread * np.array([-1.6448536269514722, 0.0, 1.6448536269514722])
    density = np.array([0.10313564, 0.39894228, 0.10313564]) / spread
    error = np.sqrt([0.05 * 0.95, 0.25, 0.05 * 0.95]) / density / math.sqrt(200_000)
    assert (abs(found - exact) < 4.0 * error).all()


def test_memory_does_not_grow_with_paths():
    """At 10^6 paths, of which all numbers take 46 MiB, and as much again to be sorted."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def read(name):
        return int(re.search(rf"{name}:\s+(\d+) kB", status.read_text())[1]) / 1024.0

    levels = 0.05, 0.5, 0.95
    _found(10_000, levels=levels)
    reset.write_text("5")
    before = read("VmRSS")
    _found(1_000_000, levels=levels)
    assert read("VmHWM") - before < 30.0


@pytest.mark.parametrize(
    ("levels", "of", "told"),
    [
        ((), None, "needs a level"),
        ((0.5, 1.5), None, "from 0 to 1, not 1.5"),
        ((math.nan,), None, "from 0 to 1, not nan"),
        ((True,), None, "from 0 to 1, not True"),
        ((0.5,), "loss", "of is a function of a path, not 'loss'"),
    ],
)
def test_refusals(levels, of, told):
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.quantiles(*levels, of=of)


def test_refusals_of_the_ensemble():
    with pytest.raises(nd.ArgumentError, match="go without estimator="):
        _found(10, of=_loss, control=_loss, control_mean=0.0)
    with pytest.raises(nd.ArgumentError, match="go without estimator="):
        _found(10, of=_loss, estimator="likelihood_ratio")
    with pytest.raises(nd.ArgumentError, match="1 or more, or an executor, not 0"):
        _found(10, executor=0)
    with pytest.raises(nd.ModelError, match="returns a float or a tuple of floats"):
        _found(10, of=lambda ys: ys)


def test_derivatives_and_compiled_code_are_refused():
    bands = nd.sde.quantiles(0.5)

    def median(start):
        found = nd.sde.ensemble(SOLVE, (start, 0.5), (0.0, 1.0), (), KEY, 10, reduce=bands)
        return found.values[0, -1, 0]

    def levels():
        return nd.sde.quantiles(0.5)[0]

    with pytest.raises(nd.UnsupportedError, match="calls of nd.sde.ensemble from Python"):
        nd.grad(median)(1.0)
    with pytest.raises(TypingError, match="calls of nd.sde.ensemble from Python"):
        njit(levels)()
