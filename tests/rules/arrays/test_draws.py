"""Random draws by their parameters, in both modes.

The oracle is implicit differentiation of the distribution function F(x; p), which SciPy has: the random
numbers given, F stays what it is, so that dx/dp = -(dF/dp) / (dF/dx) (Figurnov, Mohamed and Mnih 2018,
Implicit Reparameterization Gradients, equation 5).
"""

import random
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from numba import njit
from scipy import special, stats

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
    "standard_gamma": ((1.7,), stats.gamma),
    "gamma": ((0.3, 1.7), lambda shape, scale: stats.gamma(shape, 0.0, scale)),
    "chisquare": ((4.3,), stats.chi2),
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
    "gammavariate": LEGACY["gamma"],
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


@pytest.mark.deep(
    but=[
        "np.random.normal",
        "np.random.exponential",
        "np.random.uniform",
        "random.gauss",
        "random.triangular",
        "rng.normal",
        "rng.gamma",
        "np.random.weibull",
    ]
)
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


@pytest.mark.deep
def test_second_order():
    slope = nd.grad(bent)
    h = 1e-6
    expected = (slope(1.3 + h) - slope(1.3 - h)) / (2 * h)
    assert nd.hessian(bent)(1.3) == pytest.approx(expected, rel=1e-7)
    assert nd.grad(nd.grad(bent, mode="forward"), mode="forward")(1.3) == pytest.approx(
        expected, rel=1e-7
    )


# -- of several numbers of the gamma distribution, each at its place in its distribution ----------------


def gammas(draw, *shapes):
    """Functions of the shape that give the numbers that `draw` gives, one after the other."""
    for shape in shapes:
        place = special.gammainc(shape, draw(shape))
        yield lambda a, place=place: special.gammaincinv(a, place)


def student(module, draw):
    normal = module.standard_normal()
    (drawn,) = gammas(draw, 1.7 / 2)
    return lambda df: np.sqrt(df / 2) * normal / np.sqrt(drawn(df / 2))


def ratio(module, draw):
    above, below = gammas(draw, 1.7 / 2, 2.3 / 2)
    return lambda p, q: (above(p / 2) * q) / (below(q / 2) * p)


def share(module, draw):
    above, below = gammas(draw, 1.7, 2.3)
    return lambda p, q: above(p) / (above(p) + below(q))


COMPOSED = [
    ("np.random", "standard_t", (1.7,), student),
    ("np.random", "f", (1.7, 2.3), ratio),
    ("np.random", "beta", (1.7, 2.3), share),
    ("random", "betavariate", (1.7, 2.3), share),
    ("rng", "standard_t", (1.7,), student),
    ("rng", "f", (1.7, 2.3), ratio),
]


@njit
def seeded(seed):
    np.random.seed(seed)
    random.seed(seed)


@njit
def legacy_gamma(shape):
    return np.random.standard_gamma(shape)


@njit
def legacy_normal():
    return np.random.standard_normal()


@njit
def python_gamma(shape):
    return random.gammavariate(shape, 1.0)


class Legacy:
    """The numbers of compiled code, which has a state of its own."""

    standard_normal = staticmethod(legacy_normal)


@pytest.mark.deep(but=["np.random.beta"])
@pytest.mark.parametrize(
    ("module", "name", "parameters", "made"), COMPOSED, ids=[f"{c[0]}.{c[1]}" for c in COMPOSED]
)
def test_what_is_made_of_gamma_numbers(module, name, parameters, made):
    seeded(SEED)
    if module == "rng":
        source = rng()
        x = made(source, source.standard_gamma)
    else:
        x = made(Legacy, legacy_gamma if module == "np.random" else python_gamma)
    names = ", ".join("pq"[: len(parameters)])
    seed = f"{module}.seed({SEED})" if module != "rng" else "pass"
    defined = {"np": np, "random": random}
    exec(f"def f({names}, rng):\n    {seed}\n    return {module}.{name}({names})", defined)
    h, units = 1e-5, np.eye(len(parameters))
    slopes = [(x(*(parameters + h * u)) - x(*(parameters - h * u))) / (2 * h) for u in units]
    for mode in ("forward", "reverse"):
        operator = nd.value_and_grad(defined["f"], tuple(range(len(parameters))), mode=mode)
        value, gradient = operator(*parameters, rng())
        assert same_bits(value, njit(defined["f"])(*parameters, rng()))
        assert value == pytest.approx(x(*parameters), rel=1e-12)
        assert gradient == pytest.approx(slopes, rel=1e-6)


@pytest.mark.deep(but=["0.1"])
@pytest.mark.parametrize("shape", [1e-3, 0.1, 1.0, 30.0, 1e5])
def test_gamma_numbers_of_any_shape(shape):
    """Implicit differentiation in many digits."""

    @njit
    def draw(a, rng):
        return rng.standard_gamma(a)

    for mode in ("forward", "reverse"):
        slope = nd.value_and_grad(draw, 0, mode=mode)
        source = rng()
        for _ in range(20):
            x, found = slope(shape, source)
            with mpmath.workdps(30):
                a = mpmath.mpf(shape)
                by_shape = mpmath.diff(lambda t, x=x: mpmath.gammainc(t, 0, x, regularized=True), a)
                density = mpmath.mpf(x) ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)
                assert found == pytest.approx(float(-by_shape / density), rel=1e-8)


def test_scales_that_numba_rejects():
    @njit
    def legacy(p):
        return np.random.gamma(2.0, p)

    @njit
    def python(p):
        return random.gammavariate(2.0, p)

    for f in (legacy, python):
        with pytest.raises(ValueError, match="must be > 0.0"):
            f(-1.0)
        for mode in ("forward", "reverse"):
            with pytest.raises(ValueError, match="must be > 0.0"):
                nd.grad(f, mode=mode)(-1.0)


@njit
def count(x):
    return np.random.poisson(x)


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


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gamma_numbers_in_a_fresh_process(mode):
    """Where nothing else has asked for special functions, whose rules these are."""
    code = """
import numpy as np, numbad as nd
def f(a):
    np.random.seed(7)
    return np.random.standard_gamma(a)
print(nd.grad(f, mode="{mode}")(1.7))
"""

    def last(a):
        np.random.seed(SEED)
        return np.random.standard_gamma(a)

    (expected,) = implicit(stats.gamma, (1.7,), njit(last)(1.7))
    run = subprocess.run(
        [sys.executable, "-c", code.format(mode=mode)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(run.stdout) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_gamma_numbers_by_their_shape_twice(mode):
    def f(a, rng):
        return rng.standard_gamma(a)

    with pytest.raises(nd.UnsupportedError, match="by its order twice"):
        nd.derivative(nd.grad(f, 0, mode=mode))(1.7, rng())
