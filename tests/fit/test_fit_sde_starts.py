"""Fits of SDEs from many starts, within bounds, with executors and a journal."""

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import numbad as nd
from numbad.data import load_us_tbill
from numbad.errors import ArgumentError, DataError, ModelError
from numbad.sde import filters, transitions

YEARS, RATE = load_us_tbill()
START = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
BOUNDS = {"kappa": (0.01, 1.0), "theta": (0.01, 0.2), "sigma": (0.005, 0.1)}


def fitted(density=transitions.vasicek, start=START, **options):
    return nd.fit.fit_sde(density, YEARS, RATE, start, **options)


def test_many_starts_find_the_known_maximum_on_any_executor():
    found = fitted(bounds=BOUNDS, starts=5)
    assert [fit.index for fit in found.starts] == list(range(5))
    assert all(fit.success for fit in found.starts)
    np.testing.assert_allclose([fit.cost for fit in found.starts], -673.723913, atol=1e-6)
    with ThreadPoolExecutor(2) as threads:
        assert fitted(bounds=BOUNDS, starts=5, executor=threads).to_json() == found.to_json()


@pytest.mark.deep
def test_other_processes_get_functions_by_value():
    """A density that was made here, and a filter."""

    def drift(t, y, kappa, theta):
        return (kappa * (theta - y[0]),)

    seen = filters.extended_kalman(
        drift,
        lambda t, y, kappa, theta: (0.02,),
        mean=(0.05,),
        spread=(0.1,),
        noise=(0.001,),
        dt=0.25,
    )
    given = dict(
        t=YEARS[:30], y=RATE[:30], bounds={"kappa": (0.01, 1.0), "theta": (0.01, 0.2)}, starts=3
    )
    start = {"kappa": 0.2, "theta": 0.05}
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = nd.fit.fit_sde(seen, p0=start, executor=pool, **given)
    assert found.to_json() == nd.fit.fit_sde(seen, p0=start, **given).to_json()


def test_a_journal_spares_the_work_that_it_holds(tmp_path):
    kept = tmp_path / "journal"
    wanted = fitted(bounds=BOUNDS, starts=4, journal=kept).to_json()
    lines = kept.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    kept.write_bytes(b"".join(lines[:3]) + lines[3][:20])  # killed while it wrote
    assert fitted(bounds=BOUNDS, starts=4, journal=kept).to_json() == wanted
    for other in (
        {"bounds": BOUNDS | {"kappa": (0.02, 1.0)}},
        {"bounds": BOUNDS, "fixed": {"theta": 0.06}},
        {"bounds": BOUNDS, "density": transitions.cir},
        {"bounds": BOUNDS, "transforms": {"kappa": "linear"}},
    ):
        with pytest.raises(DataError, match="belongs to another fit"):
            fitted(starts=4, journal=kept, **other)


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    from numbad.fit.likelihood import LikelihoodProblem

    kept, whole = tmp_path / "journal", LikelihoodProblem.fit_from
    wanted = fitted(bounds=BOUNDS, starts=4).to_json()
    asked = []

    def interrupted(self, index, start):
        asked.append(index)
        if asked == [0, 1, 2]:
            raise KeyboardInterrupt
        return whole(self, index, start)

    monkeypatch.setattr(LikelihoodProblem, "fit_from", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted(bounds=BOUNDS, starts=4, journal=kept)
    assert fitted(bounds=BOUNDS, starts=4, journal=kept).to_json() == wanted
    assert asked == [0, 1, 2, 2, 3]


def test_a_bound_holds():
    """The maximum with kappa no less than 0.2 is that with kappa held there."""
    found = fitted(bounds={"kappa": (0.2, None)})
    held = fitted(fixed={"kappa": 0.2})
    assert found.success
    assert found.params["kappa"] == 0.2
    assert found.loglik == pytest.approx(held.loglik, abs=1e-8)
    assert found.params == pytest.approx(held.params | {"kappa": 0.2}, rel=1e-5)
    assert "at a bound: kappa" in found.message
    interval = found.profile("kappa")
    assert interval.low == pytest.approx(0.2)
    assert interval.high == pytest.approx(fitted().profile("kappa").high, rel=0.05)
    assert fitted(bounds={"kappa": (0.2, 0.2)}).params == held.params
    inside = fitted(bounds=BOUNDS)
    assert inside.params == pytest.approx(fitted().params, rel=1e-4)
    assert inside.profile("kappa").low == pytest.approx(0.01)


def test_a_start_without_a_likelihood_costs_that_start():
    def density(t0, y0, t1, y1, sigma):
        variance = sigma**2 * (t1 - t0)
        value = -0.5 * math.log(2.0 * math.pi * variance) - 0.5 * (y1 - y0) ** 2 / variance
        return value if sigma < 0.05 else math.nan

    found = fitted(density, {"sigma": 0.03}, bounds={"sigma": (0.001, 2.0)}, starts=6)
    failed = [fit for fit in found.starts if fit.cost == math.inf]
    steps, rises = np.diff(YEARS), np.diff(RATE)
    assert found.params["sigma"] == pytest.approx(math.sqrt((rises**2 / steps).mean()), rel=1e-6)
    assert 0 < len(failed) < 6
    assert f"{len(failed)} of 6 starts could not be evaluated" in found.message


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"starts": 0}, ArgumentError, "starts must be a whole number, at least 1"),
        ({"starts": 3}, ModelError, "give kappa a finite lower and upper bound, both above zero"),
        ({"bounds": {"mu": (0, 1)}}, ModelError, "no unknown is called 'mu'"),
        ({"bounds": {"kappa": (0.3, 1)}}, ModelError, "kappa starts at 0.2, outside its bounds"),
        ({"fixed": {"mu": 1.0}}, ModelError, "fixed: no unknown is called 'mu'"),
    ],
)
def test_refusals(options, error, told):
    with pytest.raises(error, match=told):
        fitted(**options)
