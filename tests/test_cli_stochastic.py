"""The command line with stochastic equations: what it writes, what it says, and its exit status."""

from pathlib import Path

import numpy as np
import pytest

import numbad as nd
from numbad.cli import _likelihood, main
from numbad.data import load_us_tbill
from numbad.errors import NumbadWarning
from numbad.models import load_model
from numbad.sde import filters, transitions
from tests.command_line import COOLING, TEA, complaint, files, saved

__all__ = ["files"]  # a fixture

CKLS = """\
def drift(t, y, kappa, theta, sigma, gamma):
    return kappa * (theta - y)

def diffusion(t, y, kappa, theta, sigma, gamma):
    return sigma * y**gamma

p0 = dict(kappa=0.2, theta=0.05, sigma=0.05, gamma=0.5)
"""


OSCILLATOR = """\
def drift(t, y, rate, damping, push, error):
    return y[1], -rate * y[0] - damping * y[1]

def diffusion(t, y, rate, damping, push, error):
    return 0.0, push

def observe(t, y, rate, damping, push, error):
    return (y[0],)

def noise(rate, damping, push, error):
    return (error,)

likelihood = "extended_kalman"
mean, spread, dt = [0.0, 0.0], [1.0, 1.0], 0.5
observed = "place"
fixed = dict(damping=0.1)
p0 = dict(rate=1.0, damping=0.3, push=0.5, error=0.1)
"""


PARTICLES = OSCILLATOR.replace("extended_kalman", "particle_filter")


MOMENTS = OSCILLATOR.replace("extended_kalman", "simulated_moments")


def bill():
    """The bill rate as a data file."""
    rows = (f"{t!r},{r!r}\n" for t, r in zip(*(a.tolist() for a in load_us_tbill()), strict=True))
    return f"year,rate\n{''.join(rows)}"


@pytest.mark.dear
def test_a_stochastic_equation(files, capsys):
    """The known maximum of the likelihood, and a picture."""
    arguments = [a for a in files(CKLS, bill()) if a != "--no-plot"]
    # The rate of 0.12 % is so near zero that some steps lead below.
    with pytest.warns(NumbadWarning, match="of 10000 paths, of .* draws, .* end in NaN"):
        assert main([*arguments, "--ahead", "2"]) == 0
    said = capsys.readouterr().out
    assert "202 transitions" in said
    assert "log-likelihood 732.326" in said
    stored = saved()
    assert stored["params"]["gamma"] == pytest.approx(0.7167, rel=1e-4)
    assert stored["loglik"] == pytest.approx(732.325864, abs=1e-6)
    assert Path("cooling.png").stat().st_size > 10000


VASICEK = """\
likelihood = "vasicek"
p0 = dict(kappa=0.2, theta=0.05, sigma=0.02)
bounds = dict(kappa=(0, 2))
fixed = dict(theta=0.05)
transforms = dict(kappa="logit")
priors = dict(kappa=("normal", 0.3, 0.05), sigma=("lognormal", 0.02, 0.1))
"""


def test_a_model_file_with_priors_and_transforms(files, capsys):
    """What `fit_sde` gives with the same, and what it says of a slip."""
    assert main(files(VASICEK, bill())) == 0
    assert "202 transitions, 2 priors" in capsys.readouterr().out
    given = {
        "bounds": {"kappa": (0, 2)},
        "fixed": {"theta": 0.05},
        "transforms": {"kappa": "logit"},
        "priors": {"kappa": ("normal", 0.3, 0.05), "sigma": ("lognormal", 0.02, 0.1)},
    }
    start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    expected = nd.fit.fit_sde(transitions.vasicek, *load_us_tbill(), start, **given)
    found = saved()
    assert found["params"] == expected.params
    assert found["stderr"] == expected.stderr
    assert (found["aic"], found["fixed"]) == ("nan", {"theta": 0.05})
    assert main(files(VASICEK.replace('"normal"', '"cauchy"'), bill())) == 2
    assert "cooling.py: priors of kappa: there is no prior 'cauchy'" in complaint(capsys)


SEVERAL = """likelihood = "vasicek"
p0 = dict(kappa=0.2, sigma=0.02)
experiment = "era"
own = "sigma"
conditions = dict(theta="level")
observed = "rate"
"""


def test_a_model_file_of_several_series(files, capsys):
    """What `fit_sde` gives for these experiments, and what is said of a condition that changes within one."""
    years, rate = load_us_tbill()
    late = years >= 1979.5
    rows = [
        f"{t},{y},{'late' if is_late else 'early'},{0.08 if is_late else 0.05}\n"
        for t, y, is_late in zip(years, rate, late, strict=True)
    ]
    table = f"year,rate,era,level\n{''.join(rows)}"
    assert main(files(SEVERAL, table)) == 0
    assert "201 transitions of 2 experiments" in capsys.readouterr().out
    parts = [
        nd.fit.Experiment(years[one], rate[one], args={"theta": theta}, name=name)
        for name, one, theta in (("early", ~late, 0.05), ("late", late, 0.08))
    ]
    start = {"kappa": 0.2, "sigma": 0.02}
    expected = nd.fit.fit_sde(
        transitions.vasicek, None, None, start, experiments=parts, own="sigma"
    )
    assert list(expected.params) == ["kappa", "sigma[early]", "sigma[late]"]
    assert saved()["params"] == expected.params

    assert main(files(SEVERAL, table.replace("late,0.08", "late,0.09", 1))) == 2
    assert "must be the same in all rows of an experiment" in complaint(capsys)
    assert main(files(SEVERAL.replace('experiment = "era"\n', ""), table)) == 2
    assert "'own' is about several experiments: experiment = 'column' names" in complaint(capsys)


@pytest.mark.deep
def test_a_stochastic_equation_from_many_starts(files, capsys):
    """In two processes, with a journal that holds what was done; the known maximum."""
    bounds = (
        "bounds = dict(kappa=(1e-3, 1), theta=(0.01, 0.2), sigma=(0.01, 1), gamma=(0.1, 1.5))\n"
    )
    arguments = [*files(CKLS + bounds, bill()), "--starts", "4", "--journal", "kept"]
    assert main([*arguments, "--workers", "2"]) == 0
    first = saved()
    assert len(first["starts"]) == 4
    assert first["loglik"] == pytest.approx(732.325864, abs=1e-6)
    assert len(Path("kept").read_bytes().splitlines()) == 5
    assert main(arguments) == 0
    assert saved() == first
    capsys.readouterr()
    assert main([*arguments, "--seed", "1"]) == 2
    assert "journal kept belongs to another fit: seed differ" in complaint(capsys)


@pytest.mark.deep
def test_a_stochastic_equation_that_is_seen_in_part(files, capsys):
    """What `fit_sde` gives for the same filter; a cell is empty."""
    places = [0.3, 0.9, None, -0.2, -0.8, -0.1, 0.9, 0.7, -0.4, -0.9, 0.1, 0.8]
    rows = (f"{k},{'' if y is None else y}\n" for k, y in enumerate(places))
    assert main(files(OSCILLATOR, f"second,place\n{''.join(rows)}")) == 0
    assert "11 observations" in capsys.readouterr().out
    seen = filters.extended_kalman(
        lambda t, y, rate, push, error: (y[1], -rate * y[0] - 0.1 * y[1]),
        lambda t, y, rate, push, error: (0.0, push),
        observe=lambda t, y, rate, push, error: (y[0],),
        noise=lambda rate, push, error: (error,),
        mean=(0.0, 0.0),
        spread=(1.0, 1.0),
        dt=0.5,
    )
    start = {"rate": 1.0, "push": 0.5, "error": 0.1}
    y = [np.nan if y is None else y for y in places]
    expected = nd.fit.fit_sde(seen, np.arange(12.0), y, start)
    found = saved()
    assert found["fixed"] == {"damping": 0.1}
    assert found["loglik"] == pytest.approx(expected.loglik, rel=1e-9)
    assert found["params"] == pytest.approx(expected.params, rel=1e-4)


def test_model_files_of_particles_and_moments(tmp_path):
    """What they say reaches the likelihood."""
    path = tmp_path / "model.py"
    path.write_text(PARTICLES + "particles, width, seed = 40, 0.2, 3\n")
    found = _likelihood(load_model(path))
    assert (found.particles, found.width, found.key) == (40, 0.2, nd.random.key(3))
    more = "def moments(t, y):\n    return y[:, 0].mean(), y[:, 0].var()\npaths = 60\n"
    path.write_text(MOMENTS + more)
    found = _likelihood(load_model(path))
    assert (found.paths, found.key, found.dt) == (60, nd.random.key(0), 0.5)


@pytest.mark.parametrize(
    ("model", "data", "more", "message"),
    [
        (CKLS, "year,a,b\n0,1,2\n1,1,2\n", [], "is of one series, and the data have a, b"),
        (CKLS, "year,rate\n0,1\n1,\n", [], "cooling.csv, line 3, column 'rate': is missing"),
        (
            CKLS,
            "year,rate\n1,1\n0,2\n",
            [],
            "cooling.csv, line 3, column 'year': 0 is not later than 1 in line 2",
        ),
        (CKLS, "year,rate\n0,1\n1,2\n", ["--time", "day"], "line 1: there is no column 'day'"),
        (CKLS, bill, ["--method", "Tsit5"], "--method is for ordinary differential equations"),
        (OSCILLATOR, bill, ["--ahead", "2"], "--ahead is not for likelihood = 'extended_kalman'"),
        (COOLING, TEA, ["--ahead", "2"], "--ahead is for stochastic equations, which cooling.py"),
        (CKLS, bill, ["--starts", "3"], "draws starts within the bounds: give kappa"),
        (CKLS + "bounds = {'mu': (0, 1)}\n", bill, [], "bounds: no unknown is called 'mu'"),
        (
            CKLS.replace("p0 = dict(", "p0 = dict(more=1.0, "),
            bill,
            [],
            "sigma, gamma; p0 gives more, kappa",
        ),
        (CKLS.replace("def diffusion", "def _diffusion"), bill, [], "does not define diffusion("),
        (CKLS + "likelihood = 'cir'\n", bill, [], "line 1: 'drift' is not used beside likelihood"),
        (CKLS + "likelihood = 'sir'\n", bill, [], "line 8: likelihood must be one of euler"),
        (CKLS + "mean = [0.0]\n", bill, [], "line 8: 'mean' is of a filter"),
        (CKLS + "rtol = 1e-3\n", bill, [], "line 8: 'rtol' is no option"),
        (OSCILLATOR.replace("dt =", "_dt ="), bill, [], "does not define 'dt'"),
        (OSCILLATOR.replace("[1.0, 1.0], 0.5", "'a', 0.5"), bill, [], "spread must be a list"),
        (OSCILLATOR.replace("[1.0, 1.0], 0.5", "[1.0, 1.0], 0"), bill, [], "dt must be a positive"),
        (OSCILLATOR, bill, [], "no column 'place'"),
        (OSCILLATOR + "particles = 40\n", bill, [], "is of likelihood = particle_filter; leave it"),
        (PARTICLES + "particles = 40.5\n", bill, [], "particles must be a whole number, not 40.5"),
        (
            PARTICLES.replace("mean,", "_mean,"),
            bill,
            [],
            "'mean', which likelihood = 'particle_filter'",
        ),
        (
            MOMENTS,
            bill,
            [],
            "does not define moments(t, y), which likelihood = 'simulated_moments'",
        ),
        ("likelihood = 'cir'\n", bill, [], "does not define 'p0'"),
    ],
)
def test_unusable_stochastic_equations(files, capsys, model, data, more, message):
    assert main([*files(model, data() if callable(data) else data), *more]) == 2
    assert message in complaint(capsys)
