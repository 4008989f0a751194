"""Functions that NumPy (or SciPy) and JAX have under one name, each with a call for both to differentiate.

A call is text: `np` and `special` are NumPy and `numbad.special` in one place, `jax.numpy` and
`jax.scipy.special` in the other. It may name the variables of its group, which are drawn at random.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Group:
    """Calls of the same variables, compiled together.

    variables: their names, see `DRAWS`
    calls: name of the function -> the call
    theirs: name -> the call of JAX, where it asks for something else
    reverse: names of those that reverse mode alone differentiates
    once: names of those whose second derivatives `nd.hvp` refuses
    sizes: `(n, p)`, which the shapes of the variables are made of
    """

    variables: str
    calls: dict
    theirs: dict = field(default_factory=dict)
    reverse: tuple = ()
    once: tuple = ()
    sizes: tuple = ((3, 2), (4, 5))

    @property
    def names(self):
        return tuple(self.variables.split())

    def points(self):
        """The values of the variables, for each size."""
        for seed, (n, p) in enumerate(self.sizes):
            draw = np.random.default_rng(seed + 11)
            yield tuple(DRAWS[name](draw, n, p) for name in self.names)

    def of_kind(self, kind):
        """The names of the calls that have derivatives of a kind."""
        without = {"reverse": (), "forward": self.reverse, "second": self.reverse + self.once}
        return [name for name in self.calls if name not in without[kind]]

    def code(self, name):
        """What JAX evaluates."""
        return self.theirs.get(name, self.calls[name])


def _signed(draw, *shape):
    return draw.uniform(0.15, 1.9, shape) * draw.choice([-1.0, 1.0], shape)


def _complex(draw, *shape):
    return _signed(draw, *shape) + 1j * draw.uniform(0.2, 0.9, shape)


def _with_nan(draw, n, p):
    v = _signed(draw, n + 1)
    v[1] = np.nan
    return v


DRAWS = {
    "x": lambda draw, n, p: float(draw.uniform(0.15, 0.85)),
    "y": lambda draw, n, p: float(draw.uniform(1.15, 1.85)),
    "a": lambda draw, n, p: draw.uniform(0.15, 0.85, n),
    "b": lambda draw, n, p: draw.uniform(0.15, 0.85, n),
    "v": lambda draw, n, p: _signed(draw, n),
    "m": lambda draw, n, p: _signed(draw, p, n),
    "w": lambda draw, n, p: _signed(draw, n, p),
    "s": lambda draw, n, p: _signed(draw, n, n) + 3.0 * np.diag(1.0 + np.arange(n)),
    "tall": lambda draw, n, p: _signed(draw, n + 2, n),
    "gaps": _with_nan,
    "z": lambda draw, n, p: _complex(draw, n),
    "c": lambda draw, n, p: _complex(draw, n, n) + 3.0 * np.diag(1.0 + np.arange(n)),
    "ctall": lambda draw, n, p: _complex(draw, n + 2, n),
}
"""Random numbers: `x`, `a`, `b` between 0 and 1; the others signed, squares far from singular."""


def each(module, names, arguments):
    """The same call of several functions."""
    return {name: f"{module}.{name}({arguments})" for name in names.split()}


GROUPS = {}
