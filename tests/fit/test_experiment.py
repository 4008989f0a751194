"""Several experiments: what they share, and what each has of its own."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from numbad.errors import DataError, ModelError
from numbad.fit import Experiment, FitResult, fit_ode

from .reaction import COLD, P0, WARM, Y0, T, amounts, reaction

NAN = np.nan


def runs(**options):
    """Two runs; `options` are of the second."""
    return [
        Experiment(T, COLD, y0=Y0, name="cold"),
        Experiment(T, WARM, **{"y0": (1.0, 1.0), "name": "warm", **options}),
    ]


def fitted(experiments, p0=P0, **options):
    return fit_ode(reaction, None, None, p0, experiments=experiments, **options)


def agrees(result, residuals, start):
    """Check estimates and covariance against SciPy's with these residuals."""
    wanted = least_squares(residuals, start, jac="3-point", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    variance = 2.0 * wanted.cost / (len(wanted.fun) - len(wanted.x))
    errors = np.array(list(result.stderr.values()))
    np.testing.assert_array_less(np.abs(result.x - wanted.x), 1e-4 * errors)
    cov = variance * np.linalg.inv(wanted.jac.T @ wanted.jac)
    np.testing.assert_allclose(result.cov, cov, rtol=1e-3, atol=1e-12)
    assert result.cost == pytest.approx(wanted.cost, rel=1e-8)


@pytest.mark.dear
def test_a_parameter_is_shared_unless_it_is_own():
    result = fitted(runs(), own="back")
    assert result.names == ("rate", "back[cold]", "back[warm]")

    def residuals(p):
        cold = amounts(T, p[0], p[1], *Y0) - COLD
        return np.append(cold, amounts(T, p[0], p[2], 1.0, 1.0) - WARM)

    agrees(result, residuals, (1.0, 0.4, 0.4))
    assert list(result.residuals) == ["cold", "warm"]
    flat = np.concatenate([result.residuals["cold"].ravel(), result.residuals["warm"].ravel()])
    np.testing.assert_allclose(flat, residuals(result.x), atol=1e-6)
    back = FitResult.from_json(result.to_json(), reaction)
    assert back.to_json() == result.to_json()
    np.testing.assert_array_equal(back.predict([1.0], "warm"), result.predict([1.0], "warm"))
    np.testing.assert_allclose(
        result.predict([1.0, 0.5], "warm"),
        amounts(np.array([1.0, 0.5]), result.x[0], result.x[2], 1.0, 1.0),
        rtol=1e-6,
    )
    with pytest.raises(ModelError, match="experiment=None: the experiments are 'cold', 'warm'"):
        result.predict([1.0])
    profile = result.profile("back[warm]")
    assert profile.low < result.params["back[warm]"] < profile.high


@pytest.mark.dear
def test_an_argument_is_a_number_or_the_name_of_another_entry():
    renamed = fitted(runs(args={"back": "warm_back"}), {**P0, "warm_back": 0.4})
    np.testing.assert_array_equal(renamed.x, fitted(runs(), own=["back"]).x)
    assert renamed.names == ("rate", "back", "warm_back")
    known = fitted(runs(args={"back": 0.5}))

    def residuals(p):
        cold = amounts(T, p[0], p[1], *Y0) - COLD
        return np.append(cold, amounts(T, p[0], 0.5, 1.0, 1.0) - WARM)

    agrees(known, residuals, (1.0, 0.4))
    # What every experiment has its own entry for needs none in p0.
    both = [Experiment(T, COLD, args={"back": 0.3}), Experiment(T, WARM, args={"back": 0.5})]
    alone = fitted(both, {"rate": 1.0}, y0=Y0)
    assert alone.names == ("rate",)
    assert list(alone.residuals) == ["0", "1"]


def test_one_unknown_may_stand_for_two_arguments():
    result = fitted(runs(args={"back": "rate"}))

    def residuals(p):
        cold = amounts(T, p[0], p[1], *Y0) - COLD
        return np.append(cold, amounts(T, p[0], p[0], 1.0, 1.0) - WARM)

    agrees(result, residuals, (1.0, 0.4))


@pytest.mark.dear
def test_initial_values_are_own_or_shared_by_name():
    shared = [
        Experiment(T, COLD, y0=("first", 0.0), name="cold"),
        Experiment(T, WARM, y0=["first", 1.0], name="warm"),
    ]
    result = fitted(shared, {**P0, "first": 1.5})
    assert result.names == ("rate", "back", "first")

    def residuals(p):
        cold = amounts(T, p[0], p[1], p[2], 0.0) - COLD
        return np.append(cold, amounts(T, p[0], p[1], p[2], 1.0) - WARM)

    agrees(result, residuals, (1.0, 0.4, 1.5))
    named = fitted(runs(), fit_y0=[0])
    assert named.names == ("rate", "back", "y0[0][cold]", "y0[0][warm]")

    def apart(p):
        cold = amounts(T, p[0], p[1], p[2], 0.0) - COLD
        return np.append(cold, amounts(T, p[0], p[1], p[3], 1.0) - WARM)

    agrees(named, apart, (1.0, 0.4, 2.0, 1.0))
    one = fitted(runs(), fit_y0=[0], fixed={"y0[0][warm]": 1.0}, bounds={"y0[0]": (0.5, 3.0)})
    assert one.names == ("rate", "back", "y0[0][cold]")


def test_experiments_may_show_different_components_at_different_times():
    options = {"y0": {"a": 2.0, "b": 0.0}, "sigma": 0.1}
    experiments = [
        Experiment(T[:9], {"b": COLD[:9, 1]}, name="cold", **options),
        Experiment(None, {"a": (T[3:], WARM[3:, 0])}, y0={"b": 1.0, "a": 1.0}, name="warm"),
    ]
    result = fitted(experiments, t0=0.0)

    def residuals(p):
        cold = (amounts(T[:9], *p, *Y0) - COLD[:9])[:, 1] / 0.1
        return np.append(cold, (amounts(T[3:], *p, 1.0, 1.0) - WARM[3:])[:, 0])

    agrees(result, residuals, (1.0, 0.4))


def test_a_journal_knows_the_experiments(tmp_path):
    box = {"bounds": {"rate": (0.1, 5.0), "back": (0.1, 5.0)}, "starts": 3, "progress": False}
    journal = tmp_path / "journal"
    first = fitted(runs(), own="back", journal=journal, sigma="estimate", **box)
    again = fitted(runs(), own="back", journal=journal, sigma="estimate", **box)
    assert again.to_json() == first.to_json()
    with pytest.raises(DataError, match="belongs to another fit: data"):
        fitted(runs(y0=(1.0, 1.01)), own="back", journal=journal, sigma="estimate", **box)


def test_a_picture_has_a_panel_for_each(tmp_path):
    text = fitted(runs(), own="back").plot(tmp_path / "fit.svg").read_text()
    for word in ("y[0], cold", "y[1], warm"):
        assert f"<!-- {word} -->" in text


def test_replicates_in_any_order():
    order = np.random.default_rng(1).permutation(30)
    t = np.tile(T, 2)[order]
    y = np.concatenate((COLD, COLD + 0.05))[order]
    result = fit_ode(reaction, t, y, P0, y0=Y0)

    def residuals(p):
        return (amounts(t, *p, *Y0) - y).ravel()

    agrees(result, residuals, (1.0, 0.4))
    np.testing.assert_allclose(result.residuals, residuals(result.x).reshape(y.shape), atol=1e-6)
    # One observation in two, at times of its own.
    apart = fit_ode(reaction, None, {0: (t, y[:, 0]), 1: (t[::2], y[::2, 1])}, P0, y0=Y0)
    table = y.copy()
    table[1::2, 1] = NAN
    np.testing.assert_allclose(apart.x, fit_ode(reaction, t, table, P0, y0=Y0).x, rtol=1e-9)


def test_a_start_from_replicates_is_an_error():
    t = [0.0, 0.0, 1.0, 2.0]
    with pytest.raises(ModelError, match="is observed 2 times at t = 0; give y0, or let it be fit"):
        fit_ode(reaction, t, np.ones((4, 2)), P0, components=["a", "b"])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Experiment(T, COLD, doses=[1.0]), r'expected doses=\[\(4.0, "gut", 100.0\), ...'),
        (lambda: Experiment(T, COLD, doses=[(1.0, 0, None)]), "a dose has None, neither a finite"),
        (lambda: fitted(runs(doses=[(-1.0, 0, 1.0)])), "'warm': doses: one is at -1, before the in"),
        (lambda: fitted(runs(doses=[("at", 0, 1.0)])), "args, doses or y0: 'at' is neither a num"),
        (lambda: fitted(runs(doses=[(1.0, 2, 1.0)])), "'warm': doses: component 2 does not exist"),
        (lambda: fitted(runs(doses=[(1.0, "a", 1.0)])), "'warm': doses: 'a' is a name, but the com"),
        (lambda: Experiment(T, COLD, args=[1.0]), r'args must be a dict such as {"k": 0.5}'),
        (lambda: Experiment(T, COLD, args={"k": None}), r"args\['k'\] must be a finite number, or"),
        (lambda: Experiment(T, COLD, name=3), "name must be a text, got 3"),
        (lambda: fitted([]), "experiments must be a list of nd.fit.Experiment"),
        (lambda: fitted([COLD]), r"experiments\[0\] is no nd.fit.Experiment"),
        (lambda: fitted(runs(name="cold")), "two are called 'cold'"),
        (lambda: fitted(runs(args={"bakc": 1.0})), "experiment 'warm': args has 'bakc', but the par"),
        (lambda: fitted(runs(args={"back": "b"})), "'b' is neither a number nor the name of an"),
        (lambda: fitted(runs(y0=("c", 1.0))), "'c' is neither a number nor the name of an entry"),
        (lambda: fitted(runs(), [1.0, 0.4], own="bakc"), "own: no parameter is called 'bakc'"),
        (lambda: fitted(runs(), {**P0, "x": 1.0}), "reaction has no parameter x"),
        (lambda: fitted(runs(y0=(1.0,))), "experiment 'warm': y0 has 1 values, but component 1"),
        (lambda: fitted(runs(y0=(1.0, 1.0, 1.0))), "experiment 'warm': y0 has 3 values for 2"),
        (lambda: fitted(runs(sigma=-1)), "experiment 'warm': sigma.* must be positive"),
        (lambda: fitted(runs(), t0=1.0), "experiment 'cold': t0 must be a time not after"),
        (lambda: fit_ode(reaction, T, COLD, P0, y0=Y0, own="back"), "own= is about several exper"),
        (lambda: fit_ode(reaction, T, COLD, P0, experiments=runs()), "with experiments= the data s"),
        (lambda: fitted(runs(), fixed=["back[hot]"], own="back"), "no unknown is called 'back.hot"),
    ],
)  # fmt: skip
def test_unusable_experiments_are_named(build, said):
    with pytest.raises((ModelError, DataError), match=said):
        build()
