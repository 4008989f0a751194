"""Doses and other events in fits: their times and amounts are unknowns like others."""

import json

import numpy as np
import pytest
from scipy.optimize import curve_fit

from numbad import ode
from numbad.errors import DataError, ModelError
from numbad.fit import Experiment, FitResult, fit_ode

from .test_experiment import agrees

T = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 8.0, 10.0, 12.0])
P0 = {"absorption": 1.0, "elimination": 0.2}
NOISE = 0.02 * np.sin(np.arange(22.0) ** 2)


def drug(t, y, absorption, elimination):
    return -absorption * y[0], absorption * y[0] - elimination * y[1]


def body(absorption, elimination, doses):
    """What is in the body at T after doses (time, amount) into the gut."""
    total = np.zeros(len(T))
    for time, amount in doses:
        t = np.maximum(T - time, 0.0)
        change = np.exp(-elimination * t) - np.exp(-absorption * t)
        total += amount * absorption / (absorption - elimination) * change
    return total


FIRST = body(1.2, 0.3, [(0.0, 2.0), (3.6, 1.5)]) + NOISE[:11]
SECOND = body(1.2, 0.3, [(0.0, 3.0)]) + NOISE[11:]


def fitted(doses, p0, **options):
    experiments = [
        Experiment(T, {1: FIRST}, y0=(2.0, 0.0), doses=doses, name="first"),
        # Two at one instant, the initial time.
        Experiment(T, {1: SECOND}, y0=(0.0, 0.0), doses=[(0.0, 0, 2.0), (0.0, 0, 1.0)], name="b"),
    ]
    return fit_ode(drug, None, None, {**P0, **p0}, t0=0.0, experiments=experiments, **options)


@pytest.mark.dear
def test_times_and_amounts_of_doses_are_fitted(tmp_path):
    doses = [("when", 0, "how")]
    more = {"starts": 2, "bounds": {"absorption": (0.5, 3), "elimination": (0.1, 0.4)}}
    more["bounds"] |= {"when": (3.1, 3.9), "how": (0.5, 3)}
    result = fitted(doses, {"when": 3.4, "how": 1.0})
    assert result.names == ("absorption", "elimination", "when", "how")

    def residuals(p):
        first = body(p[0], p[1], [(0.0, 2.0), (p[2], p[3])]) - FIRST
        return np.append(first, body(p[0], p[1], [(0.0, 3.0)]) - SECOND)

    agrees(result, residuals, (1.0, 0.2, 3.4, 1.0))
    back = FitResult.from_json(result.to_json(), drug)
    assert back.to_json() == result.to_json()
    journal = tmp_path / "journal"
    again = [fitted(doses, {"when": 3.4, "how": 1.0}, journal=journal, **more) for _ in range(2)]
    assert again[0].to_json() == again[1].to_json()
    np.testing.assert_allclose(again[0].x, result.x, rtol=1e-4)
    with pytest.raises(DataError, match="belongs to another fit"):
        fitted([("when", 1, "how")], {"when": 3.4, "how": 1.0}, journal=journal, **more)


@pytest.mark.deep
def test_many_doses():
    given = [(0.5 * k, 0.1 + 0.01 * k) for k in range(20)]
    doses = [(time, 0, amount) for time, amount in given]
    doses[4] = ("when", 0, 0.14)
    one = Experiment(T, {1: body(1.2, 0.3, given)}, y0=(0.0, 0.0), doses=doses)
    result = fit_ode(drug, None, None, {**P0, "when": 1.9}, t0=0.0, experiments=[one])
    np.testing.assert_allclose(result.x, (1.2, 0.3, 2.0), rtol=1e-5)


def switched(t, y, rate, start):
    return (-rate * y[0] if t > start else 0.0,)


@pytest.mark.deep
def test_a_time_at_which_the_right_hand_side_switches():
    y = np.exp(-0.5 * np.maximum(T - 2.3, 0.0)) + NOISE[:11]
    stops = {"tstops": lambda rate, start: start}
    result = fit_ode(switched, T, y, {"rate": 0.3, "start": 2.2}, y0=[1.0], t0=0.0, **stops)
    wanted, cov = curve_fit(
        lambda t, rate, start: np.exp(-rate * np.maximum(t - start, 0.0)), T, y, (0.5, 2.3),
        xtol=1e-13, ftol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(result.x, wanted, rtol=1e-5)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-4)
    text = result.to_json()
    assert FitResult.from_json(text, switched, **stops).to_json() == text
    with pytest.raises(DataError, match="events= and tstops= must be given as they were"):
        FitResult.from_json(text, switched)
    assert json.loads(text)["problem"]["events"] == 1


def arrays(t, y, p):
    return np.array([-p.absorption * y[0], p.absorption * y[0] - p.elimination * y.sum()])


def halved(t, y, k, p):
    return 0.5 * y


@pytest.mark.deep
def test_doses_beside_events_of_ones_own():
    from scipy.integrate import solve_ivp

    def by_scipy(p):
        pieces, y = [], np.array([2.0, 0.0])
        for ends in ((0.0, 2.5), (2.5, 5.2), (5.2, 12.0)):
            inside = T[(T > ends[0]) & (T <= ends[1])]
            ts = np.append(inside, ends[1])
            found = solve_ivp(
                lambda t, y: [-p[0] * y[0], p[0] * y[0] - p[1] * (y[0] + y[1])], ends, y,
                t_eval=np.unique(ts), rtol=1e-11, atol=1e-12, method="DOP853",
            ).y.T  # fmt: skip
            pieces.append(found[: len(inside)])
            y = found[-1] * 0.5 if ends[1] == 2.5 else found[-1] + np.array([p[2], 0.0])
        return np.concatenate(pieces)

    data = by_scipy((1.2, 0.3, 0.7))
    one = Experiment(T, data, y0=np.array([2.0, 0.0]), doses=[(5.2, 0, "amount")])
    result = fit_ode(
        arrays, None, None, {**P0, "amount": 0.4}, t0=0.0, experiments=[one],
        events=ode.at_times(2.5, change=halved),
    )  # fmt: skip
    np.testing.assert_allclose(result.x, (1.2, 0.3, 0.7), rtol=1e-6)


def test_what_is_no_event_is_named():
    with pytest.raises(ModelError, match="events must be made by nd.ode.event or nd.ode.at_times"):
        fit_ode(drug, T, FIRST, P0, y0=(2.0, 0.0), observed=1, events=[3])
