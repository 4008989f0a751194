"""Several series in one fit of an SDE: which parameters they share, and what each has of its own.

The oracle is Brownian motion with drift, whose estimates and standard errors have closed forms.
"""

import json
import math
import pickle

import numpy as np
import pytest

import numbad as nd
from numbad.errors import DataError, ModelError
from numbad.fit import DiffusionFit, Experiment
from numbad.sde import filters, transitions
from numbad.sde.hidden_state import series

LENGTHS = 6.0, 2.5, 9.0


def walk(t0, y0, t1, y1, mu, sigma):
    width = sigma * math.sqrt(t1 - t0)
    return (
        -0.5 * ((y1 - y0 - mu * (t1 - t0)) / width) ** 2
        - math.log(width)
        - 0.5 * math.log(2.0 * math.pi)
    )


def _paths():
    rng, found = np.random.default_rng(3), []
    for length, mu in zip(LENGTHS, (0.5, -1.0, 2.0), strict=True):
        t = 10.0 + np.sort(rng.uniform(0.0, length, 30))
        steps = np.diff(t, prepend=t[0])
        found.append((t, np.cumsum(mu * steps + 0.7 * np.sqrt(steps) * rng.normal(size=30))))
    return found


PATHS = _paths()
NAMES = "a", "b", "c"
START = {"mu": 0.1, "sigma": 1.0}


def _experiments(**args):
    return [Experiment(*p, name=n, args=args.get(n)) for n, p in zip(NAMES, PATHS, strict=True)]


def _fit(experiments, start=START, **options):
    return nd.fit.fit_sde(walk, None, None, start, experiments=experiments, **options)


def _closed_form(mus):
    """Sigma, its standard error and the log-likelihood of all paths with these drifts."""
    scaled = [
        (np.diff(y) - mu * np.diff(t)) / np.sqrt(np.diff(t))
        for (t, y), mu in zip(PATHS, mus, strict=True)
    ]
    count = sum(map(len, scaled))
    sigma = math.sqrt(sum((s**2).sum() for s in scaled) / count)
    widths = [sigma * np.sqrt(np.diff(t)) for t, _ in PATHS]
    logs = sum(np.log(w).sum() for w in widths) + 0.5 * count * (1.0 + math.log(2.0 * math.pi))
    return sigma, sigma / math.sqrt(2.0 * count), -logs


RISES = [y[-1] - y[0] for _, y in PATHS]
SPANS = [t[-1] - t[0] for t, _ in PATHS]


def test_all_share_their_parameters():
    fit = _fit(_experiments())
    mu = sum(RISES) / sum(SPANS)
    sigma, error, loglik = _closed_form([mu] * 3)
    assert fit.params == pytest.approx({"mu": mu, "sigma": sigma}, rel=1e-7)
    errors = {"mu": sigma / math.sqrt(sum(SPANS)), "sigma": error}
    assert fit.stderr == pytest.approx(errors, rel=1e-6)
    assert fit.loglik == pytest.approx(loglik, rel=1e-12)
    assert "87 transitions of 3 experiments" in fit.summary()


def test_each_has_a_parameter_of_its_own():
    fit = _fit(_experiments(), own="mu", transforms={"mu": "linear"})
    mus = [rise / span for rise, span in zip(RISES, SPANS, strict=True)]
    sigma, error, loglik = _closed_form(mus)
    own = [f"mu[{name}]" for name in NAMES]
    wanted = dict(zip(own, mus, strict=True)) | {"sigma": sigma}
    assert fit.params == pytest.approx(wanted, rel=1e-6)
    errors = dict(zip(own, (sigma / np.sqrt(SPANS)).tolist(), strict=True)) | {"sigma": error}
    assert fit.stderr == pytest.approx(errors, rel=1e-6)
    assert fit.loglik == pytest.approx(loglik, rel=1e-12)
    profile = fit.profile("mu[b]")
    spread = fit.stderr["mu[b]"]
    assert profile.low == pytest.approx(mus[1] - 1.96 * spread, abs=0.1 * spread)
    assert profile.high == pytest.approx(mus[1] + 1.96 * spread, abs=0.1 * spread)


@pytest.mark.dear
def test_what_is_known_of_one_and_what_two_share():
    given = {"a": {"mu": 0.5}, "b": {"mu": "pull"}, "c": {"mu": "pull"}}
    fit = _fit(_experiments(**given), {"sigma": 1.0, "pull": -0.2})
    pull = sum(RISES[1:]) / sum(SPANS[1:])
    sigma, error, loglik = _closed_form([0.5, pull, pull])
    assert fit.params == pytest.approx({"pull": pull, "sigma": sigma}, rel=1e-6)
    errors = {"pull": sigma / math.sqrt(sum(SPANS[1:])), "sigma": error}
    assert fit.stderr == pytest.approx(errors, rel=1e-6)
    assert fit.loglik == pytest.approx(loglik, rel=1e-12)

    back = DiffusionFit.from_json(fit.to_json(), walk)
    assert (back.params, back.summary()) == (fit.params, fit.summary())
    assert json.loads(back.to_json()) == json.loads(fit.to_json())
    problem = pickle.loads(pickle.dumps(fit.problem))
    x = problem.unknowns.internal(fit.x) + 0.1
    assert problem.gradient(x)[0] == fit.problem.gradient(x)[0]

    found = fit.residuals
    scaled = (np.diff(PATHS[1][1]) - pull * np.diff(PATHS[1][0])) / np.sqrt(np.diff(PATHS[1][0]))
    assert list(found) == list(NAMES)
    np.testing.assert_allclose(found["b"], -scaled / sigma, atol=1e-6)


def test_one_parameter_at_two_places():
    """Drift and volatility of one experiment are one unknown: derivatives by both count."""
    one = Experiment(*PATHS[0], args={"mu": "both", "sigma": "both"}, name="a")
    fit = _fit([one], {"both": 0.6})
    (t, y), count = PATHS[0], 29
    # d/ds of -sum (dy - s dt)^2 / (2 s^2 dt) - n log s: s^2 n + s R - Q = 0
    quadratic = (np.diff(y) ** 2 / np.diff(t)).sum()
    root = (-RISES[0] + math.sqrt(RISES[0] ** 2 + 4.0 * count * quadratic)) / (2.0 * count)
    assert fit.params["both"] == pytest.approx(root, rel=1e-7)
    second = 3.0 * quadratic / root**4 - 2.0 * RISES[0] / root**3 - count / root**2
    assert fit.stderr["both"] == pytest.approx(1.0 / math.sqrt(second), rel=1e-6)
    assert t.size == count + 1


def test_a_journal_knows_what_is_known_of_an_experiment(tmp_path):
    def fit(mu):
        one = Experiment(*PATHS[0], args={"mu": mu})
        return _fit([one], {"sigma": 1.0}, journal=tmp_path / "kept", starts=1)

    assert fit(0.5).params == fit(0.5).params
    with pytest.raises(DataError, match="journal .* belongs to another fit: data differ"):
        fit(0.6)


def test_bounds_priors_and_what_is_held_by_the_name_of_all():
    fit = _fit(_experiments(), own="mu", fixed={"mu": 0.3})
    sigma, _, loglik = _closed_form([0.3] * 3)
    assert fit.params == pytest.approx({"sigma": sigma}, rel=1e-7)
    assert fit.fixed == {f"mu[{name}]": 0.3 for name in NAMES}
    assert fit.loglik == pytest.approx(loglik, rel=1e-12)

    bounded = _fit(_experiments(), own="mu", bounds={"mu": (-0.5, 10.0)}, transforms="linear")
    assert bounded.params["mu[b]"] == -0.5
    assert bounded.params["mu[a]"] == pytest.approx(RISES[0] / SPANS[0], rel=1e-4)

    prior = {"mu": ("normal", 0.0, 0.1)}
    options = {"own": "mu", "priors": prior, "transforms": "linear", "fixed": {"sigma": 0.7}}
    known = _fit(_experiments(), **options)
    weights = [span / 0.7**2 for span in SPANS]
    wanted = [r / 0.7**2 / (w + 100.0) for r, w in zip(RISES, weights, strict=True)]
    assert list(known.params.values()) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.dear
def test_filters():
    """A hidden walk whose first state is known of one experiment, and unknown of another."""
    seen = filters.extended_kalman(
        lambda t, y, first, pull, vol: (-pull * y[0],),
        lambda t, y, first, pull, vol: (vol,),
        mean=lambda first, pull, vol: (first,),
        spread=(0.1,),
        noise=(0.2,),
        dt=0.5,
    )
    t, rng = np.arange(20.0), np.random.default_rng(1)
    ys = [2.0 * np.exp(-0.3 * t) + 0.2 * rng.normal(size=20) for _ in range(2)]
    ys[1][4] = np.nan
    experiments = [
        Experiment(t, ys[0], args={"first": 2.0}, name="known"),
        Experiment(t[:12], ys[1][:12], name="free"),
    ]
    start = {"first": 1.0, "pull": 0.5, "vol": 0.1}
    fit = nd.fit.fit_sde(seen, None, None, start, experiments=experiments)
    assert fit.params["pull"] == pytest.approx(0.3, abs=4.0 * fit.stderr["pull"])
    own = fit.params | {"first": 2.0}
    found = (
        seen.filtered(t, ys[0], own).loglik + seen.filtered(t[:12], ys[1][:12], fit.params).loglik
    )
    assert fit.loglik == pytest.approx(found, rel=1e-12)
    np.testing.assert_array_equal(
        fit.filtered(experiment="known").mean, seen.filtered(t, ys[0], own).mean
    )
    assert fit.filtered([3.0, 30.0], "free").mean.shape == (2, 1)
    with pytest.raises(ModelError, match="experiment=None: the experiments are 'known', 'free'"):
        fit.filtered()
    assert {name: len(r) for name, r in fit.residuals.items()} == {"known": 20, "free": 12}


@pytest.mark.deep
def test_simulated_likelihoods_draw_other_numbers_for_each_series():
    functions = (lambda t, y, pull: (-pull * y[0],), lambda t, y, pull: (0.3,))
    seen = filters.particle_filter(
        *functions, mean=(0.0,), spread=(1.0,), noise=(0.3,), dt=0.5, particles=20
    )
    first, second = seen.for_series(0), seen.for_series(1)
    assert first.key == seen.key != second.key
    t, y = np.arange(5.0), np.array([0.1, 0.3, -0.2, 0.1, 0.0])
    experiments = [Experiment(t, y, name="a"), Experiment(t, y, name="b")]
    fit = nd.fit.fit_sde(seen, None, None, {"pull": 0.5}, experiments=experiments)
    found = [one.filtered(t, y, fit.params).loglik for one in (first, second)]
    assert found[0] != found[1]
    assert fit.loglik == pytest.approx(sum(found), rel=1e-12)


@pytest.mark.dear
def test_predictions_and_pictures():
    start = {"mu": 0.1, "sigma": 0.4}
    parts = [Experiment(t, np.exp(0.3 * y), name=n) for n, (t, y) in zip(NAMES, PATHS, strict=True)]
    options = {"experiments": parts, "own": "mu", "transforms": {"mu": "linear"}}
    fit = nd.fit.fit_sde(transitions.gbm, None, None, start, **options)
    t, y = parts[1].t, parts[1].y
    ts = t[-1] + np.array([0.0, 1.0])
    band = fit.predictive_band(ts, nd.random.key(1), experiment="b", draws=None, paths=4000)
    assert (band[:, 0, 0] == y[-1]).all()
    centre = y[-1] * math.exp(fit.params["mu[b]"] - 0.5 * fit.params["sigma"] ** 2)
    assert band[1, 1, 0] == pytest.approx(centre, rel=0.02)
    with pytest.raises(ModelError, match="experiment='d': the experiments are 'a', 'b', 'c'"):
        fit.predictive_band(ts, nd.random.key(1), experiment="d")
    figure = fit.plot(ahead=1.0)
    assert [a.get_ylabel() for a in figure.axes[:3]] == ["a: y", "b: y", "c: y"]
    assert len(figure.axes) == 3 + len(fit.names)


def test_what_is_no_experiment_of_an_sde():
    def refused(error, match, experiments, p0=START, **options):
        with pytest.raises(error, match=match):
            _fit(experiments, p0, **options)

    t, y = PATHS[0]
    for what, value, way_out in (
        ("y0", [1.0], "a filter takes mean= and spread="),
        ("doses", [(11.0, 0, 1.0)], "let the drift have them"),
        ("sigma", 0.1, "a filter takes noise="),
    ):
        refused(ModelError, f"'b': {what} is for fit_ode; for an SDE, {way_out}",
                [Experiment(t, y, name="a"), Experiment(t, y, name="b", **{what: value})])  # fmt: skip
    refused(DataError, "experiment 'b': t must increase strictly, which it does not at entry 1",
            [Experiment(t, y, name="a"), Experiment(t[::-1], y, name="b")])  # fmt: skip
    refused(ModelError, "experiment 'a': args has 'nu', but the parameters are mu, sigma",
            _experiments(a={"nu": 1.0}))  # fmt: skip
    refused(ModelError, "'pull' is neither a number", _experiments(a={"mu": "pull"}))
    refused(ModelError, "own: no parameter is called 'nu'; there are mu, sigma",
            _experiments(), own="nu")  # fmt: skip
    refused(ModelError, "a list of nd.fit.Experiment, one at least", [])
    with pytest.raises(ModelError, match=r"fit_sde\(density, None, None, p0, experiments="):
        nd.fit.fit_sde(walk, t, y, START, experiments=_experiments())
    with pytest.raises(ModelError, match="own= is about several experiments="):
        nd.fit.fit_sde(walk, t, y, START, own="mu")
    seen = filters.extended_kalman(
        lambda t, y, k: (-k * y[0], 0.0), lambda t, y, k: (1.0, 1.0),
        mean=(0.0, 0.0), spread=(1.0, 1.0), noise=(0.1, 0.1), dt=0.5,
    )  # fmt: skip
    two = np.column_stack([y, y])
    with pytest.raises(DataError, match="'b': y has 1 columns, and that of 'a' 2; NaN is what"):
        nd.fit.fit_sde(seen, None, None, {"k": 1.0}, experiments=[
            Experiment(t, two, name="a"), Experiment(t, y, name="b")])  # fmt: skip


def test_a_column_of_a_table_that_is_overwritten_later():
    t, y = PATHS[0]
    table = np.stack([t, y, y], axis=1)
    expected = nd.fit.fit_sde(walk, t, y, START).residuals
    result = nd.fit.fit_sde(walk, table[:, 0], table[:, 1], START)
    _, observed = series(t, table[:, 2])
    table[:] = 0.0
    np.testing.assert_array_equal(result.residuals, expected)
    np.testing.assert_array_equal(observed[:, 0], y)
