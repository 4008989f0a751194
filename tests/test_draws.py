"""Random draws by their parameters, in both modes.

The oracle is implicit differentiation of the distribution function F(x; p), which SciPy has: the random
numbers given, F stays what it is, so that dx/dp = -(dF/dp) / (dF/dx) (Figurnov, Mohamed and Mnih 2018,
Implicit Reparameterization Gradients, equation 5).
"""

import random

import numpy as np
import pytest
from numba import njit
from scipy import stats

import numbad as nd
from tests.forward.compare import same_bits

SEED = 7


def triangular(left, mode, right):
    return stats.triang((mode - left) / (right - left), left, right - left)


LEGACY = {
    "normal": ((0.4, 1.7), stats.norm),
    "uniform": ((0.4, 1.7), lambda low, high: stats.uniform(low, high - low)),
    "exponential": ((1.7,), lambda scale: stats.expon(0.0, scale)),
    "lognormal": ((0.4, 0.7), lambda mean, sigma: stats.lognorm(sigma, 0.0, np.exp(mean))),
    "gumbel": ((0.4, 1.7), stats.gumbel_r),
    "laplace": ((0.4, 1.7), stats.laplace),
    "logistic": ((0.4, 1.7), stats.logistic),
    "pareto": ((2.3,), stats.lomax),
    "power": ((2.3,), stats.powerlaw),
    "rayleigh": ((1.7,), lambda scale: stats.rayleigh(0.0, scale)),
    "triangular": ((-0.3, 0.4, 1.7), triangular),
    "weibull": ((1.7,), stats.weibull_min),
}
GENERATOR = {name: case for name, case in LEGACY.items() if name != "gumbel"}
PYTHON = {
    "gauss": LEGACY["normal"],
    "normalvariate": LEGACY["normal"],
    "lognormvariate": LEGACY["lognormal"],
    "uniform": LEGACY["uniform"],
    "expovariate": ((1.7,), lambda rate: stats.expon(0.0, 1.0 / rate)),
    "paretovariate": ((2.3,), stats.pareto),
    "weibullvariate": ((1.7, 2.3), lambda scale, shape: stats.weibull_min(shape, 0.0, scale)),
    "triangular": ((-0.3, 1.7, 0.4), lambda low, high, mode: triangular(low, mode, high)),
}
CASES = [
    *(("np.random", name, *case) for name, case in LEGACY.items()),
    *(("random", name, *case) for name, case in PYTHON.items()),
    *(("rng", name, *case) for name, case in GENERATOR.items()),
]


def program(source, parameters, call):
    """A function of the parameters and a generator that draws three numbers and returns the last."""
    lines = [f"def f({parameters}, rng):", f"    {source}.seed({SEED})" if source != "rng" else ""]
    lines += ["    x = 0.0", "    for _ in range(3):", f"        x = {call}", "    return x"]
    names = {"np": np, "random": random}
    exec("\n".join(lines), names)
    return names["f"]


def drawn(module, name, count):
    parameters = ", ".join("pqr"[:count])
    return program(module, parameters, f"{module}.{name}({parameters})")


def rng():
    return np.random.default_rng(SEED)


def implicit(distribution, parameters, x, h=1e-5):
    """The derivatives of a draw by its parameters."""
    density = distribution(*parameters).pdf(x)
    for k, p in enumerate(parameters):
        left, right = (
            distribution(*parameters[:k], p + step, *parameters[k + 1 :]).cdf(x) for step in (-h, h)
        )
        yield -(right - left) / (2 * h) / density


@pytest.mark.parametrize(
    ("module", "name", "parameters", "distribution"), CASES, ids=[f"{c[0]}.{c[1]}" for c in CASES]
)
def test_derivatives_by_parameters(module, name, parameters, distribution):
    f = drawn(module, name, len(parameters))
    x = njit(f)(*parameters, rng())
    expected = list(implicit(distribution, parameters, x))
    for mode in ("forward", "reverse"):
        operator = nd.value_and_grad(f, tuple(range(len(parameters))), mode=mode)
        value, gradient = operator(*parameters, rng())
        assert same_bits(value, x)
        assert gradient == pytest.approx(expected, rel=1e-6)


def by_scale(p, rng):
    np.random.seed(SEED)
    return np.random.gamma(2.3, p) * rng.gamma(1.7, scale=p)


def of_even_sides(p, rng):
    random.seed(SEED)
    return random.triangular(0.0, p) * random.triangular(-p, p)


@pytest.mark.parametrize("f", [by_scale, of_even_sides])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_scales(f, mode):
    """What is made is in proportion to the scale, so that the derivative is known."""
    value, slope = nd.value_and_grad(f, 0, mode=mode)(1.3, rng())
    assert same_bits(value, njit(f)(1.3, rng()))
    assert slope == pytest.approx(2 * value / 1.3, rel=1e-14)


def named(p, rng):
    np.random.seed(SEED)
    a = np.random.normal(scale=p, loc=2.0 * p, size=(3, 2))
    return np.sum(a) + np.sum(rng.exponential(p, size=4)) + np.sum(np.random.uniform(0.0, p, 3))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_arrays_of_draws_and_names_of_parameters(mode):
    """The result is in proportion to `p`."""
    value, slope = nd.value_and_grad(named, 0, mode=mode)(1.3, rng())
    assert same_bits(value, njit(named)(1.3, rng()))
    assert slope == pytest.approx(value / 1.3, rel=1e-14)


def single(p):
    np.random.seed(SEED)
    return np.random.normal(np.float32(1.0) * p, p * p) + np.random.uniform(p, np.float32(7.0))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_single_precision_draws_in_double(mode):
    p = np.float32(1.3)
    value, slope = nd.value_and_grad(single, mode=mode)(p)
    assert same_bits(value, njit(single)(p))
    h = 1e-6
    assert slope == pytest.approx(
        (njit(single)(1.3 + h) - njit(single)(1.3 - h)) / (2 * h), rel=1e-5
    )


def bent(p):
    np.random.seed(SEED)
    return np.random.weibull(p) * np.random.triangular(-p, 0.1, p * p)


def test_second_order():
    slope = nd.grad(bent)
    h = 1e-6
    expected = (slope(1.3 + h) - slope(1.3 - h)) / (2 * h)
    assert nd.hessian(bent)(1.3) == pytest.approx(expected, rel=1e-7)
    assert nd.grad(nd.grad(bent, mode="forward"), mode="forward")(1.3) == pytest.approx(
        expected, rel=1e-7
    )


def shaped(p):
    return np.random.gamma(p, 2.0)


def shaped_by(p, rng):
    return rng.gamma(p, 2.0)


@pytest.mark.parametrize(("f", "args"), [(shaped, ()), (shaped_by, (rng(),))])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_rejects_numbers_by_a_parameter_is_refused(f, args, mode):
    with pytest.raises(nd.UnsupportedError, match=r"gamma\(p, 2.0\)"):
        nd.grad(f, 0, mode=mode)(1.3, *args)


def test_every_pass_draws_the_same():
    """Forward mode by four inputs at a time."""

    @njit
    def f(p):
        out = np.empty_like(p)
        for k in range(p.size):
            out[k] = np.random.normal(0.0, p[k] * p[k])
        return out

    @njit
    def seed():
        np.random.seed(SEED)

    p = np.linspace(1.0, 2.0, 10)
    seed()
    draws = f(p) / p**2
    seed()
    found = nd.jacobian(f, mode="forward", chunk=4)(p)
    assert found == pytest.approx(np.diag(2.0 * p * draws), rel=1e-14)
