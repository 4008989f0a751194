"""Model files: what they may say, and the line that each complaint names."""

import math
import pickle

import numpy as np
import pytest

from numbad.data import read_table
from numbad.errors import DataError, ModelError
from numbad.models import PREDATOR_PREY, assemble, assemble_series, load_model

DECAY = """\
def rhs(t, y, rate):
    return (-rate * y[0],)

p0 = dict(rate=0.5)
y0 = dict(mass=2)
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="decay.py"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write_file


def test_the_shipped_model():
    model = load_model(PREDATOR_PREY)
    assert list(model.p0.items()) == [
        ("prey_growth", 0.5),
        ("predation", 0.03),
        ("predator_death", 0.8),
        ("conversion", 0.02),
    ]
    assert model.y0 == {"hare": 30.0, "lynx": 4.0}
    assert model.fit_y0
    assert model.options == {"scale": "log", "time": "year"}
    assert model.rhs(0.0, (2.0, 3.0), 0.5, 0.25, 1.0, 0.125) == (-0.5, -2.25)


def test_a_small_model(write):
    model = load_model(write(DECAY))
    assert (model.p0, model.y0, model.components) == ({"rate": 0.5}, {"mass": 2.0}, ("mass",))
    assert (model.fit_y0, model.observed, model.bounds, model.sigma, model.options) == (
        False,
        None,
        {},
        {},
        {},
    )


def test_components_give_order_and_names(write):
    source = "def rhs(t, y): return y\np0 = {}\ncomponents = ['u', 'v']\n"
    assert load_model(write(source)).y0 is None
    assert load_model(write(source + "y0 = (1, 2)")).y0 == {"u": 1.0, "v": 2.0}
    assert list(load_model(write(source + "y0 = dict(v=1, u=2)")).y0) == ["u", "v"]


def test_a_dispatcher_is_a_right_hand_side(write):
    model = load_model(write("import numba\n@numba.njit\n" + DECAY))
    assert model.p0 == {"rate": 0.5}


def test_everything_optional(write):
    more = """
observed = {"m1": "mass"}
bounds = dict(rate=(None, 2), mass=[0.5, float("inf")])
sigma = dict(mass="m1_sd")
scale, rest = "log", 3
loss = "huber"
method = "Tsit5"
rtol = 1e-9
atol = 1e-12
max_steps = 500_000
max_step: float = 0.5
mine = 2.0
_half = 1 / mine
fixed = "rate"
priors = dict(rate=("normal", 0.5, 0.1))
_t0 = 3.0
t0 = -1
f_scale = 0.5
absolute_sigma = True
fit_y0 = ["mass"]
time = "minute"
"""
    model = load_model(write(DECAY + more))
    assert model.observed == {"m1": "mass"}
    assert model.bounds == {"rate": (None, 2), "mass": [0.5, math.inf]}
    assert model.sigma == {"mass": "m1_sd"}
    assert model.options == {
        "scale": "log",
        "loss": "huber",
        "method": "Tsit5",
        "rtol": 1e-9,
        "atol": 1e-12,
        "max_steps": 500_000,
        "max_step": 0.5,
        "t0": -1.0,
        "f_scale": 0.5,
        "absolute_sigma": True,
        "time": "minute",
        "fixed": "rate",
        "priors": {"rate": ("normal", 0.5, 0.1)},
    }
    assert model.fit_y0 == ["mass"]


def test_functions_can_be_pickled_and_keep_their_module(write):
    path = write(DECAY)
    rhs = load_model(path).rhs
    assert pickle.loads(pickle.dumps(rhs)) is rhs
    assert load_model(path).rhs.__module__ == rhs.__module__
    assert load_model(write(DECAY, "other.py")).rhs.__module__ != rhs.__module__


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("", "decay.py: the model file does not define 'rhs'"),
        (DECAY.replace("p0", "start"), "decay.py: the model file does not define 'p0'"),
        (DECAY.replace("y0", "x0"), "decay.py, line 1: the model file names no components of y"),
        ("x = (1\n", "decay.py, line 1: SyntaxError: '.' was never closed"),
        ("\nimport math\nmath.log(0)", "decay.py, line 3: ValueError: "),
        ("def f():\n    return 1 / 0\n\nf()", "decay.py, line 2: ZeroDivisionError: "),
        ("import no_such_module_at_all", "decay.py, line 1: ModuleNotFoundError: "),
        ("rhs = 3\np0 = {}", "decay.py, line 1: 'rhs' must be a function"),
        (DECAY.replace("dict(rate=0.5)", "[0.5]"), "line 4: p0 must be a dict"),
        (DECAY.replace("0.5", "'0.5'"), r"line 4: p0\['rate'\] is '0.5', not a finite number"),
        (DECAY.replace("0.5", "float('nan')"), r"line 4: p0\['rate'\] is nan, not a finite"),
        (DECAY.replace("0.5", "True"), r"line 4: p0\['rate'\] is True, not a finite number"),
        (DECAY.replace("mass=2", "mass=1e999"), r"line 5: y0\['mass'\] is inf, not a finite"),
        (DECAY.replace("mass=2", ""), "line 5: y0 is empty"),
        (DECAY.replace("dict(mass=2)", "[2]"), "line 5: y0 must be a dict"),
        (DECAY.replace("mass", "rate"), "line 4: 'rate' is both a parameter and a component"),
        (DECAY + "components = ['u']", "line 6: components and y0 name different components"),
        (DECAY + "components = ['u', 'u']", "line 6: components has a name twice"),
        (DECAY + "components = 'u'", "line 6: components must be a list of names"),
        (DECAY + "fit_y0 = 1", r"line 6: fit_y0 must be True, False or a list .*\(mass\), not 1"),
        (DECAY + "observed = {'m': 'u'}", "line 6: observed maps 'm' to 'u', which is no comp"),
        (DECAY + "observed = dict(a='mass', b='mass')", "line 6: observed maps two columns"),
        (DECAY + "bounds = (0, 1)", r"line 6: bounds must be a dict, not \(0, 1\)"),
        (DECAY + "sigma = dict(mass=0)", r"line 6: sigma\['mass'\] must be a positive number"),
        (DECAY + "sigma = dict(rate=1)", "line 6: sigma has 'rate', which is no component"),
        (DECAY + "sigma = 'x'", "line 6: sigma must be a number, 'estimate', or a dict"),
        (DECAY + "doses = dict(m='u')", "line 6: doses maps 'm' to 'u', which is no component"),
        (DECAY + "own = ['rate']", "line 6: 'own' is about several experiments: experiment ="),
        (DECAY + "conditions = dict(rate=1)", "line 6: 'conditions' is about several"),
        (DECAY + "experiment = 'run'\nconditions = dict(rate=1)", "must be a column's name, not 1"),
        (DECAY + "observables = dict(a=1)", r"line 6: observables\['a'\] must be a function a"),
        (DECAY + "observables = dict(a=rhs)\nsigma = dict(mass=1)", "sigma has 'mass', which is"),
        (DECAY + "scale = 'ln'", "line 6: scale must be one of linear, log, not 'ln'"),
        (DECAY + "loss = 2", "line 6: loss must be one of linear, soft_l1"),
        (DECAY + "rtol = '0'", "line 6: rtol must be a number, not '0'"),
        (DECAY + "time = 1", "line 6: time must be a text, not 1"),
        (DECAY + "max_steps = 1.5", "line 6: max_steps must be a whole number, 1 or more"),
        (DECAY + "tolerance = 1e-6", "line 6: 'tolerance' is no option, .* rhs, .* max_steps, "),
        (DECAY + "bound = dict(rate=(0, 1))", "line 6: 'bound' means nothing here; did you mean"),
    ],
)
def test_unusable_models(write, source, complaint):
    with pytest.raises(ModelError, match=complaint):
        load_model(write(source))


def test_unreadable_models(tmp_path):
    with pytest.raises(ModelError, match=r"none\.py: cannot be read \(No such file"):
        load_model(tmp_path / "none.py")


@pytest.fixture
def problem(write):
    def build(source, rows, **options):
        model, table = load_model(write(source)), read_table(write(rows, "mass.csv"))
        return assemble(model, table, **options)

    return build


TWO = """\
def rhs(t, y, rate):
    return -rate * y[0], rate * y[0]

p0 = dict(rate=0.5)
y0 = dict(mass=2, ash=0)
"""


def test_an_unobserved_component(problem):
    found = problem(TWO, "t,ash\n0,0\n1,0.75\n")
    assert found.t.tolist() == [0.0, 1.0]
    assert found.observed == ("ash",)
    assert found.y.tolist() == [[0.0], [0.75]]
    assert found.sigma is None


def test_columns_are_mapped_and_ordered_by_component(problem):
    source = TWO + "observed = dict(a='ash', m='mass')\nsigma = dict(ash='sd', mass=3)"
    found = problem(source, "a,t,m,sd\n1,10,2,.1\n3,11,4,.2\n,12,5,\n", time="t")
    assert found.observed == ("mass", "ash")
    np.testing.assert_array_equal(found.y, [[2.0, 1.0], [4.0, 3.0], [5.0, np.nan]])
    assert found.sigma["mass"] == 3
    np.testing.assert_array_equal(found.sigma["ash"], [0.1, 0.2, np.nan])


@pytest.mark.parametrize(
    ("more", "rows", "complaint"),
    [
        ("", "t,x\n0,1\n", "line 1: no column is named like a component"),
        ("", "mass,x\n0,1\n", "line 1: no column is named like a component"),
        ("observed = dict(m='mass')", "t,x\n0,1\n", "line 1: there is no column 'm'"),
        ("", "t,mass\n0,\n1,\n", "line 1, column 'mass': every observation is missing"),
        ("", "t,mass\n0,1\n1,none\n", "line 3, column 'mass': 'none' is not a number"),
        ("", "t,mass\n0,1\n,2\n", "line 3, column 't': is missing"),
        ("experiment = 'run'", "t,mass\n0,1\n", "line 1: there is no column 'run'"),
        ("sigma = dict(mass='sd')", "t,mass\n0,1\n", "line 1: there is no column 'sd'"),
        ("sigma = dict(mass='sd')", "t,mass,sd\n0,1,0\n", "line 2, column 'sd': 0 is not pos"),
        ("sigma = dict(mass='sd')", "t,mass,sd\n0,1,\n", "line 2, column 'sd': is missing"),
    ],
)
def test_unusable_data(problem, more, rows, complaint):
    with pytest.raises(DataError, match=f"mass.csv, {complaint}"):
        problem(TWO + more, rows)


def test_log_scale_needs_positive_observations(problem):
    rows = "t,mass\n0,1\n1,\n2,0\n"
    assert problem(TWO, rows).y[2, 0] == 0.0
    with pytest.raises(DataError, match="line 4, column 'mass': 0 has no logarithm"):
        problem(TWO, rows, scale="log")


def test_sigma_for_one_component_only(problem):
    with pytest.raises(ModelError, match="sigma has no entry for 'ash'"):
        problem(TWO + "sigma = dict(mass=1)", "t,mass,ash\n0,1,2\n")


def test_every_option_that_the_fit_takes_is_passed_on(write):
    """Two of them were read and dropped."""
    more = "sens_errcon = True\nmass_matrix = [[1.0]]\nfixed = ['rate']\n"
    options = load_model(write(DECAY + more)).options
    assert options == {"sens_errcon": True, "mass_matrix": [[1.0]], "fixed": ["rate"]}


SEEN = """\
def drift(t, y, rate): return (-rate * y[0], 0.0)
def diffusion(t, y, rate): return 1.0, 1.0
likelihood = "unscented_kalman"
mean, spread, noise, dt = (0, 0), [1, 1], [0.1, 0.1], 0.5
p0 = dict(rate=1)
"""


def test_the_series_of_a_stochastic_model(write):
    table = read_table(write("day,a,b\n0,1,2\n1,,3\n", "data.csv"))
    model = load_model(write(SEEN))
    assert (model.likelihood, model.dt, model.p0) == ("unscented_kalman", 0.5, {"rate": 1.0})
    columns, t, y = assemble_series(model, table)
    assert columns == ["a", "b"]
    np.testing.assert_array_equal(t, [0.0, 1.0])
    np.testing.assert_array_equal(y, [[1.0, 2.0], [np.nan, 3.0]])
    columns, _, y = assemble_series(
        load_model(write(SEEN + "observed = ['b', 'a']\n")), table, scale="log"
    )
    assert columns == ["b", "a"]
    np.testing.assert_array_equal(y, np.log([[2.0, 1.0], [3.0, np.nan]]))
    with pytest.raises(DataError, match="line 3, column 'a': 0 has no logarithm"):
        assemble_series(
            model, read_table(write("day,a,b\n0,1,2\n1,0,3\n", "zero.csv")), scale="log"
        )


def test_options_that_are_assigned_several_at_once(write):
    """They are read in files of SDEs, too."""
    model = load_model(
        write(
            "def drift(t, y, rate, vol):\n    return -rate * y\n"
            "def diffusion(t, y, rate, vol):\n    return vol\n"
            "p0 = dict(rate=0.5, vol=1.0)\n"
            "scale, fixed = 'log', ['rate']\n"
        )
    )
    assert model.options == {"scale": "log", "fixed": ["rate"]}
