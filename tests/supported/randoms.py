"""Probes of random numbers: `random`, `np.random`, `np.random.Generator`.

A draw with constant parameters is a constant. With a differentiated parameter a draw has a derivative
(or has not: a Poisson number), so it must be refused where it is not differentiated.
"""

import random

import numpy as np

from .gamma_numbers import oracle
from .probe import VALUES, Section, total

python = Section("Standard library: `random`", {"random": random})
legacy = Section("NumPy: `np.random`")
generator = Section("NumPy: `np.random.Generator`")

PYTHON = {
    "betavariate": "P, 3.0",
    "expovariate": "P",
    "gammavariate": "P, 1.5",
    "gauss": "P, 1.0",
    "lognormvariate": "P, 0.5",
    "normalvariate": "P, 1.0",
    "paretovariate": "P",
    "triangular": "P, 2.5, 2.0",
    "uniform": "P, 3.0",
    "vonmisesvariate": "P, 1.0",
    "weibullvariate": "P, 1.5",
    "random": "",
    "getrandbits": "8",
    "randint": "2, 9",
    "randrange": "2, 9",
}
LEGACY = {
    "beta": "P, 3.0",
    "binomial": "9, 0.3 * P",
    "chisquare": "P",
    "exponential": "P",
    "f": "P, 7.0",
    "gamma": "P, 1.5",
    "geometric": "0.4 * P",
    "gumbel": "P, 1.0",
    "hypergeometric": "9, 7, 5",
    "laplace": "P, 1.0",
    "logistic": "P, 1.0",
    "lognormal": "P, 1.0",
    "logseries": "0.4 * P",
    "negative_binomial": "9, 0.4 * P",
    "noncentral_chisquare": "P, 2.0",
    "normal": "P, 1.0",
    "pareto": "P",
    "poisson": "9.0 * P",
    "power": "P",
    "rayleigh": "P",
    "standard_cauchy": "",
    "standard_exponential": "",
    "standard_gamma": "P",
    "standard_normal": "",
    "standard_t": "P",
    "triangular": "P, 2.5, 3.0",
    "uniform": "P, 3.0",
    "vonmises": "P, 1.0",
    "wald": "P, 1.0",
    "weibull": "P",
    "zipf": "1.0 + P",
    "rand": "",
    "randn": "",
    "random": "",
    "random_sample": "",
    "ranf": "",
    "sample": "",
    "randint": "2, 9",
}
GENERATOR = {
    name: LEGACY[name]
    for name in (
        "beta binomial chisquare exponential f gamma geometric laplace logistic lognormal logseries"
        " negative_binomial noncentral_chisquare normal pareto poisson power rayleigh standard_cauchy"
        " standard_exponential standard_gamma standard_normal standard_t triangular uniform wald"
        " weibull zipf random"
    ).split()
} | {"integers": "2, 9", "noncentral_f": "P, 7.0, 2.0"}


def _draws(section, prefix, call, table, *, before="", seeded):
    """For each distribution: a draw with constant parameters, and one by a parameter."""
    for name, parameters in table.items():
        drawn = call.format(name=name, arguments=parameters.replace("P", "1.5"))
        section.call(
            f"{prefix}.{name}",
            f"x * {drawn}",
            names=(f"{prefix}.{name}".replace("np.", "numpy."),),
            before=before,
            constant=True,
            seeded=seeded,
        )
        if "P" in parameters:
            drawn = call.format(name=name, arguments=parameters.replace("P", "x"))
            by = f"`{prefix}.{name}` by a parameter"
            options = {"seeded": seeded, "oracle": oracle(prefix, name, VALUES["x"]())}
            section.call(by, drawn, feature=by, names=(), before=before, **options)


_draws(python, "random", "random.{name}({arguments})", PYTHON, before="random.seed(7)", seeded=True)
_draws(
    legacy,
    "np.random",
    "np.random.{name}({arguments})",
    LEGACY,
    before="np.random.seed(7)",
    seeded=True,
)
_draws(generator, "Generator", "rng.{name}({arguments})", GENERATOR, seeded=False)


@python.feature("`random.seed`", names=("random.seed",), constant=True, seeded=True)
def python_seed(x):
    random.seed(3)
    return x * random.random()


@python.feature("`random.shuffle`", names=("random.shuffle",), constant=True, seeded=True)
def python_shuffle(x):
    random.seed(3)
    values = np.arange(1.0, 5.0)
    random.shuffle(values)
    return x * values[0]


@legacy.feature("`np.random.seed`", names=("numpy.random.seed",), constant=True, seeded=True)
def legacy_seed(x):
    np.random.seed(3)
    return x * np.random.random()


_LEGACY = {
    "choice": "np.random.choice(np.arange(1, 5))",
    "dirichlet": "np.random.dirichlet(np.array([1.0, 2.0]))[0]",
    "multinomial": "np.random.multinomial(9, np.array([0.5, 0.5]))[0]",
    "permutation": "np.random.permutation(np.arange(1, 5))[0]",
}
for _name, _expression in _LEGACY.items():
    legacy.call(
        f"np.random.{_name}",
        f"x * {_expression}",
        names=(f"numpy.random.{_name}",),
        before="np.random.seed(7)",
        constant=True,
        seeded=True,
    )
legacy.call(
    "draw of an array",
    "x * np.random.normal(0.0, 1.0, 3)[1]",
    before="np.random.seed(7)",
    names=(),
    constant=True,
    seeded=True,
)
legacy.call(
    "`np.random.permutation` of differentiated values",
    "total(np.random.permutation(a)) * a[1]",
    names=(),
    before="np.random.seed(7)",
    seeded=True,
)
legacy.call(
    "`np.random.choice` of differentiated values",
    "np.random.choice(a) * a[1]",
    names=(),
    before="np.random.seed(7)",
    seeded=True,
)


@legacy.feature("`np.random.shuffle`", names=("numpy.random.shuffle",), constant=True, seeded=True)
def legacy_shuffle(x):
    np.random.seed(3)
    values = np.arange(1.0, 5.0)
    np.random.shuffle(values)
    return x * values[0]


@legacy.feature("`np.random.shuffle` of differentiated values")
def shuffle_active(a):
    np.random.seed(3)
    np.random.shuffle(a)
    return total(a) * a[1]


generator.call(
    "`Generator.permutation`",
    "x * rng.permutation(np.arange(1, 5))[0]",
    feature="`Generator.permutation`",
    names=("Generator.permutation",),
    constant=True,
)
generator.call(
    "`Generator.permutation` of differentiated values", "total(rng.permutation(a)) * a[1]", names=()
)
generator.call("draw of an array", "x * rng.normal(0.0, 1.0, 3)[1]", names=(), constant=True)


@generator.feature("`Generator.shuffle`", names=("Generator.shuffle",), constant=True)
def generator_shuffle(x, rng):
    values = np.arange(1.0, 5.0)
    rng.shuffle(values)
    return x * values[0]


@generator.feature("`Generator.shuffle` of differentiated values")
def generator_shuffle_active(a, rng):
    rng.shuffle(a)
    return total(a) * a[1]
