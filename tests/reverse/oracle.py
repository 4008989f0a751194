"""Holds gradients by the adjoint against mpmath's derivatives of the plain Python function.

The oracle runs the undecorated source in 300 bits (`tests/forward/exact.py`) and differences it, so
that nothing of Numba's IR, of the adjoint or of the dual numbers takes part. Gradients of complex
arguments follow JAX: df/dx - i df/dy.
"""

import copy
import math
import random
from dataclasses import dataclass, field

import numba
import numpy as np
import pytest
from mpmath import mp, mpf

import numbad as nd
from tests.forward.compare import has_floats, same_bits
from tests.forward.exact import BITS, STEP, exactly, flat, moved, rebuilt, to_exact

MODE = "reverse"


@dataclass
class Program:
    """A function of plain Python, the arguments to try it on, and what it is differentiated by."""

    f: object
    runs: tuple
    wrt: tuple
    rtol: float = 1e-12
    plain: object = None  # what the oracle runs, where it cannot run `f`
    exact: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.wrt is None:
            self.wrt = tuple(k for k, a in enumerate(self.runs[0]) if has_floats(a))

    @property
    def oracle(self):
        return exactly(self.plain or self.f)

    def chosen(self, args):
        return tuple(args[k] for k in self.wrt)

    def directions(self, args):
        """One seeded direction for each argument differentiated by."""
        draw = random.Random(self.f.__name__)
        return tuple(random_direction(a, draw) for a in self.chosen(args))


class Programs(list):
    """A test's parameters."""

    def on(self, *runs, wrt=None, **options):
        """Register the decorated function, to be checked on these tuples of arguments."""

        def register(f):
            self.append(Program(f, runs, wrt, **options))
            return f

        return register

    def parametrize(self):
        return pytest.mark.parametrize("program", self, ids=[p.f.__name__ for p in self])


def check_gradient(program):
    """Value, gradient and what is done to the arguments, for every tuple of arguments."""
    primal = numba.njit(program.f)
    compiled = nd.value_and_grad(program.f, program.wrt, mode=MODE)
    first = None
    for args in (*program.runs, program.runs[0]):
        by_primal, by_adjoint = copy.deepcopy(args), copy.deepcopy(args)
        value, gradient = compiled(*by_adjoint)
        assert same_bits(value, primal(*by_primal)), f"value {value!r} at {args}"
        assert math.isclose(value, exact_value(program, args), rel_tol=1e-4), "another branch"
        assert all(map(same_bits, *map(program.chosen, (by_adjoint, by_primal)))), (
            f"arguments {by_adjoint}, not {by_primal}"
        )
        assert_numbers(gradient, program.chosen(args), exact_gradient(program, args), program.rtol)
        first = gradient if first is None else first
    assert same_bits(gradient, first), "the same call again gave another gradient"


def check_second_order(program):
    """Dual numbers through the adjoint: the Hessian times a direction, and the gradient again."""
    gradient = nd.grad(program.f, program.wrt, mode=MODE)
    compiled = nd.jvp(gradient, program.wrt)
    for args in program.runs:
        directions = program.directions(args)
        first, second = compiled(copy.deepcopy(args), directions)
        chosen = program.chosen(args)
        assert_numbers(first, chosen, exact_gradient(program, args), program.rtol)
        exact = exact_gradient(program, args, directions)
        assert_numbers(second, chosen, exact, 10 * program.rtol)


def cotangent_of(program, args):
    """The primal's value, and a seeded cotangent of its structure."""
    value = numba.njit(program.f)(*copy.deepcopy(args))
    return value, random_direction(value, random.Random(program.f.__name__))


def check_pullback(program):
    """The value, and a cotangent of its structure pulled back."""
    compiled = nd.vjp(program.f, program.wrt)
    for args in program.runs:
        expected, cotangent = cotangent_of(program, args)
        value, found = compiled(copy.deepcopy(args), cotangent)
        assert same_bits(value, expected), f"value {value!r}, not {expected!r}"
        exact = exact_gradient(program, args, None, cotangent)
        assert_numbers(found, program.chosen(args), exact, program.rtol)


def check_pullback_twice(program):
    """Dual numbers through the pullback of a cotangent that stands still."""
    compiled = nd.jvp(nd.vjp(program.f, program.wrt), 0)
    for args in program.runs:
        _, cotangent = cotangent_of(program, args)
        directions = program.directions(args)
        along = _placed(args, dict(zip(program.wrt, directions, strict=True)))
        _, (_, found) = compiled((copy.deepcopy(args), cotangent), (_with_zeros(along),))
        exact = exact_gradient(program, args, directions, cotangent)
        assert_numbers(found, program.chosen(args), exact, 10 * program.rtol)


def _with_zeros(directions):
    """A direction with zeros, which are ignored, where there is a constant."""
    return tuple(0.0 if d is None else d for d in directions)


def exact_value(program, args):
    with mp.workprec(BITS):
        return float(difference(program.oracle, args, []))


def exact_gradient(program, args, along=None, cotangent=1.0):
    """The derivatives by every number differentiated by, differentiated in a direction if given.

    Of the only number that the function returns, or of all that it returns times a cotangent.
    """
    key = id(args), along is None
    if key not in program.exact:
        with mp.workprec(BITS):
            program.exact[key] = list(_partials(program, args, along, flat(cotangent)))
    return program.exact[key]


def _partials(program, args, along, weights):
    f = program.oracle
    for k in program.wrt:
        for unit in units(args[k]):
            directions = [_placed(args, {k: unit})]
            if along is not None:
                directions.append(_placed(args, dict(zip(program.wrt, along, strict=True))))
            yield difference(f, args, directions, weights)


def _placed(args, directions):
    """A direction for all arguments: that of some, and zeros for the other floats."""
    return tuple(directions[k] if k in directions else still(a) for k, a in enumerate(args))


def difference(f, args, directions, weights=(1.0,)):
    """The derivative of the weighted sum of what `f` returns, in directions one after another."""
    if not directions:
        terms = zip(flat(f(*copy.deepcopy(args))), weights, strict=True)
        return mp.re(sum(to_exact(w) * x for x, w in terms))
    first, *rest = directions
    ahead, behind = (difference(f, moved(args, first, h), rest, weights) for h in (STEP, -STEP))
    return (ahead - behind) / (2 * STEP)


def still(value):
    """The zero direction of an argument; None for what is constant."""
    if isinstance(value, tuple):
        return rebuilt(value, map(still, value))
    return value * 0 if has_floats(value) else None


def units(value):
    """Directions that change one number each; of a complex one the real, then the imaginary part."""
    if isinstance(value, tuple):
        for k, member in enumerate(value):
            for unit in units(member):
                others = [still(v) for v in value]
                others[k] = unit
                yield rebuilt(value, others)
    elif isinstance(value, np.ndarray) and has_floats(value):
        for index in np.ndindex(value.shape):
            for step in steps(value.dtype.kind):
                unit = np.zeros(value.shape, value.dtype)
                unit[index] = step
                yield unit
    elif has_floats(value):
        yield from steps(np.asarray(value).dtype.kind)


def steps(kind):
    return (1.0, 1j) if kind == "c" else (1.0,)


def random_direction(value, draw):
    """A direction of the structure and types of an argument; zeros for its constant members."""
    if isinstance(value, tuple):
        return rebuilt(value, (random_direction(v, draw) for v in value))
    if isinstance(value, np.ndarray):
        return np.array([_number(value.dtype, draw) for _ in value.flat]).reshape(value.shape)
    return _number(np.asarray(value).dtype, draw) if has_floats(value) else 0.0


def _number(dtype, draw):
    if dtype.kind == "c":
        return dtype.type(complex(draw.uniform(0.5, 1.5), draw.uniform(0.5, 1.5)))
    return dtype.type(draw.uniform(0.5, 1.5) if dtype.kind == "f" else 0)


def assert_numbers(found, like, exact, rtol):
    """A gradient against the oracle's numbers, relative to the largest of them."""
    numbers = list(_numbers(found, like))
    assert len(numbers) == len(exact)
    scale = max([1e-300, *map(abs, exact)])
    for k, (x, e) in enumerate(zip(numbers, exact, strict=True)):
        error = abs(mpf(float(x)) - e)
        assert error <= rtol * scale, f"number {k}: {x}, not {float(e)}; all: {found}"


def _numbers(found, like):
    """The real numbers of a gradient that must be structured as `like`; constants have zeros."""
    if isinstance(like, tuple):
        assert len(found) == len(like)
        for member, of in zip(found, like, strict=True):
            yield from _numbers(member, of)
    elif isinstance(like, np.ndarray) and has_floats(like):
        assert (found.shape, found.dtype) == (like.shape, like.dtype)
        for x in found.ravel():
            yield from _parts(x)
    elif has_floats(like):
        assert np.asarray(found).dtype.kind == np.asarray(like).dtype.kind
        yield from _parts(found)
    else:
        assert found is None or not np.any(found)


def _parts(x):
    """By the real part and by the imaginary part, of df/dx - i df/dy."""
    return (x.real, -x.imag) if np.iscomplexobj(x) else (x,)
