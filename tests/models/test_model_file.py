"""Model files: what they may say, and the line that each complaint names."""

import math

import pytest

from numbad.errors import ModelError
from numbad.models import load_model

DECAY = """\
def rhs(t, y, rate):
    return (-rate * y[0],)

p0 = dict(rate=0.5)
y0 = dict(mass=2)
"""


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


def test_every_option_that_the_fit_takes_is_passed_on(write):
    """Two of them were read and dropped."""
    more = "sens_errcon = True\nmass_matrix = [[1.0]]\nfixed = ['rate']\n"
    options = load_model(write(DECAY + more)).options
    assert options == {"sens_errcon": True, "mass_matrix": [[1.0]], "fixed": ["rate"]}
