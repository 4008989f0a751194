"""Values, gradients, tangents and second derivatives of whole-array functions, against JAX's.

Compiling all of them takes a quarter of an hour. Here runs, of every other group, one kind of
derivative of one call in eight, for the smaller size; everything where NUMBAD_ALL_PROBES is set.
"""

import fnmatch
import os
import re
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.source import define
from tests.supported import names as numba_names
from tests.supported import table as supported
from tests.supported.sections import SECTIONS
from tests.supported.status import DIFFERENTIATED

from . import arrays, elementwise, functions, matrices  # noqa: F401  (they fill the table)
from .jax_process import Jax
from .left_out import LEFT_OUT
from .table import GROUPS

FUNCTIONS = re.compile(r"\b(?:np|special)(?:\.\w+)+")
"""What calls name."""

pytestmark = [
    pytest.mark.skipif(find_spec("jax") is None, reason="JAX has no wheel here"),
    pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning"),
]


@pytest.fixture(scope="module")
def jax():
    process = Jax()
    yield process
    process.close()


@njit
def weighed(weights, r):
    """A function of all numbers, with second derivatives."""
    total = 0.0
    for k in range(r.size):
        total += weights[k] * r[k] * (1 + 0.3 * r[k])
    return total


@njit
def weighed_complex(weights, r):
    total = 0.0
    for k in range(r.size):
        total += (weights[k] * r[k] * (1 + 0.3 * r[k])).real
        total += 0.1 * weights[k].real * (r[k].real ** 2 + r[k].imag ** 2)
    return total


class Calls:
    """The calls of a group as one function, of weights that choose among their results."""

    def __init__(self, group, names):
        self.group = group
        self.names = names
        self.codes = [group.calls[name] for name in self.names]
        self.theirs = [group.code(name) for name in self.names]
        first = self.results(next(group.points()))
        self.is_complex = any(np.iscomplexobj(r) for r in first)
        self.function = define(self._source(first), self._namespace())

    def results(self, point):
        scope = {"np": np, "special": nd.special, **dict(zip(self.group.names, point, strict=True))}
        return [eval(code, scope) for code in self.codes]

    def _source(self, results):
        flat = [self._flat(code, r) for code, r in zip(self.codes, results, strict=True)]
        lines = [f"def calls(weights, {', '.join(self.group.names)}):"]
        lines += [f"    r{k} = {text}" for k, text in enumerate(flat)]
        every = "".join(f"r{k}, " for k in range(len(flat)))
        return "\n".join([*lines, f"    return weighed(weights, np.concatenate(({every})))", ""])

    def _flat(self, code, result):
        code = f"({code}) + 0j" if self.is_complex and not np.iscomplexobj(result) else code
        return f"np.array([{code}])" if np.ndim(result) == 0 else f"np.ravel({code})"

    def _namespace(self):
        how = weighed_complex if self.is_complex else weighed
        return {"np": np, "special": nd.special, "weighed": how}

    def weights(self, point):
        """For each call, the weights that leave only its results."""
        sizes = [np.size(r) for r in self.results(point)]
        steps = np.arange(sum(sizes)) % 7
        every = 0.7 + 0.31 * steps - (0.4j if self.is_complex else 0.0)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return [np.where(owner == k, every, 0.0) for k in range(len(sizes))]


def directions(point):
    draw = np.random.default_rng(3)
    for x in point:
        d = draw.uniform(0.5, 1.5, np.shape(x)) * draw.choice([-1.0, 1.0], np.shape(x))
        yield d + 0.7j * d[::-1] if np.iscomplexobj(x) else d if np.ndim(x) else float(d)


KINDS = {
    "reverse": lambda f, argnums: nd.value_and_grad(f, argnums, mode="reverse"),
    "forward": lambda f, argnums: nd.jvp(f, argnums),
    "second": lambda f, argnums: nd.hvp(f, argnums),
}


EVERY = 8
EVERYTHING = "NUMBAD_ALL_PROBES" in os.environ


def chosen():
    """What is tested: `(title, kind, names)`."""
    for number, (title, group) in enumerate(GROUPS.items()):
        for k, kind in enumerate(KINDS):
            names = group.of_kind(kind)
            if EVERYTHING or number % (2 * len(KINDS)) == 2 * k:
                some = names if EVERYTHING else names[number % min(EVERY, len(names)) :: EVERY]
                yield pytest.param(title, kind, some, id=f"{title.replace(' ', '-')}-{kind}")


@pytest.mark.deep(but=["reductions-reverse", "products-forward", "algebraic-reverse"])
@pytest.mark.parametrize(("title", "kind", "names"), list(chosen()))
def test_derivatives(title, kind, names, jax):
    group = GROUPS[title]
    names = [name for name in names if numba_has(group.calls[name])]
    if not names:
        pytest.skip("this Numba has none of the functions")
    points = list(group.points())[: None if EVERYTHING else 1]
    assert differences(Calls(group, names), kind, points, jax) == {}


def numba_has(code):
    """Whether the installed Numba, which may be an old one, compiles the functions that are called."""
    asked = (name for name in FUNCTIONS.findall(code) if name.startswith("np") and name != "np.inf")
    return {re.sub("^np", "numpy", name) for name in asked} <= numba_functions()


numba_functions = cache(numba_names.supported)


def differences(calls, kind, points, jax):
    """What differs from JAX: call -> numbad's and JAX's."""
    names, wrong = calls.group.names, {}
    compiled = KINDS[kind](calls.function, tuple(range(1, 1 + len(names))))
    rtol = 1e-9 if kind == "second" else 1e-10
    for point in points:
        moves, rows = tuple(directions(point)), calls.weights(point)
        answers = jax.ask("derivatives", calls.theirs, names, rows, point, moves)
        for call, weights, (value, gradient, change, product) in zip(
            calls.names, rows, answers, strict=True
        ):
            args = weights, *point
            ours = compiled(*args) if kind == "reverse" else compiled(args, moves)
            exact = {"reverse": (value, gradient), "forward": (value, change), "second": product}
            if not agree(ours, exact[kind], rtol):
                wrong[call] = ours, exact[kind]
    return wrong


def agree(ours, theirs, rtol):
    """Whether all numbers agree, but for rounding of the largest."""
    if isinstance(ours, tuple):
        return all(agree(x, y, rtol) for x, y in zip(ours, theirs, strict=True))
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    return np.allclose(ours, theirs, rtol, rtol * np.max(np.abs(theirs), initial=1e-3))


# -- complete --------------------------------------------------------------------------------------


def differentiated():
    """The functions that numbad differentiates, as calls name them."""
    rows = supported.committed()
    patterns = {
        pattern
        for section in SECTIONS
        for probe in section.probes
        if DIFFERENTIATED in rows.get((section.title, supported.shown(probe.feature)), ())
        for pattern in probe.names
    }
    known = fnmatch_any(numba_functions(), patterns)
    of_numpy = {re.sub("^numpy", "np", name) for name in known if name.startswith("numpy.")}
    return of_numpy | {f"special.{name}" for name, f in vars(nd.special).items() if callable(f)}


def fnmatch_any(names, patterns):
    return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}


def called():
    texts = [code for group in GROUPS.values() for code in group.calls.values()]
    return set(FUNCTIONS.findall(" ".join(texts)))


def test_every_function_of_both_is_compared_or_left_out_for_a_reason(jax):
    both = jax.ask("names_of", differentiated())
    assert both - called() - set(LEFT_OUT) == set()
    assert set(LEFT_OUT) <= both
    assert not set(LEFT_OUT) & called()
    assert len(both) > 200
