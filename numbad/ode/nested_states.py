"""States that are tuples of tuples or of arrays, which a solver takes as one tuple of numbers or one array.

Each function of the user's gets the state in the structure of `y0`. Where there are arrays in it, their
extents come in as integers before the other arguments.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba.core import types

from numbad.compilation.caching import jit
from numbad.errors import ModelError
from numbad.forward.dual import base_scalar
from numbad.ode.state_forms import StateForm
from numbad.ode.state_types import EMPTY, is_scalar
from numbad.operators.argument_structure import Branch, leaves, mapped_type, parse, render
from numbad.operators.describe import describe
from numbad.source import define

WRONG_SHAPES = (
    "the right-hand side, and the change of an event, must return arrays of the shapes of those in y0: "
    "one of them returns another shape"
)


def is_nested(ty):
    """Whether a type is that of a tuple with other members than numbers."""
    return isinstance(ty, types.BaseTuple) and not all(map(is_scalar, ty))


def nested_form(y0, inplace):
    """The form of an initial state, by its type without duals; raises ModelError where it is none."""
    if inplace:
        raise ModelError(
            "inplace=True needs a y0 that is an array, in whose form dy is written; where y0 is a nested "
            f"tuple, {y0}, return dy/dt in the same form instead"
        )
    tree = parse(y0, "y0")
    if not list(leaves(tree)):
        raise ModelError(EMPTY)
    for leaf in leaves(tree):
        is_array = isinstance(leaf.type, types.Array)
        if not is_scalar(leaf.type.dtype if is_array else leaf.type):
            raise ModelError(
                "a tuple y0 holds floats, arrays of floats and tuples of these; "
                f"{leaf.source} is {describe(leaf.type)}"
            )
    is_complex = any(isinstance(_number(leaf), types.Complex) for leaf in leaves(tree))
    scalar = types.complex128 if is_complex else types.float64
    return Nested(mapped_type(tree, lambda leaf: _of_numbers(leaf.type, scalar)))


def holds_states(y0):
    """Whether a value is a tuple with tuples or arrays in it."""
    return isinstance(y0, tuple) and any(
        isinstance(member, tuple) or (isinstance(member, np.ndarray) and member.ndim > 0)
        for member in y0
    )


def flattened(y0):
    """The numbers of a nested state in one array, and the extents of the arrays in it."""
    members = list(_members(y0))
    numbers = [np.ravel(member) for member in members]
    extents = tuple(extent for member in members for extent in np.shape(member))
    return np.concatenate(numbers) if numbers else np.empty(0), extents


def _members(state):
    for member in state:
        if isinstance(member, tuple):
            yield from _members(member)
        else:
            yield member


def _number(leaf):
    return base_scalar(getattr(leaf.type, "dtype", leaf.type))


def _of_numbers(ty, scalar):
    return types.Array(scalar, ty.ndim, "C") if isinstance(ty, types.Array) else scalar


@dataclass(frozen=True)
class Nested(StateForm):
    """Of tuples; `state` is the type in which functions get one."""

    state: types.Type

    def _leaves(self, source):
        return list(leaves(parse(self.state, source)))

    @property
    def has_arrays(self):
        return any(leaf.kind == "array" for leaf in self._leaves(""))

    def _extents(self, k, leaf):
        """Names of the extents of a leaf."""
        return [f"n{k}_{axis}" for axis in range(getattr(leaf.type, "ndim", 0))]

    @property
    def extra(self):
        found = enumerate(self._leaves(""))
        return tuple(name for k, leaf in found for name in self._extents(k, leaf))

    def extra_of(self, y0):
        return tuple(
            f"{leaf.source}.shape[{axis}]"
            for leaf in self._leaves(y0)
            for axis in range(getattr(leaf.type, "ndim", 0))
        )

    def _structure(self, member):
        """Source of the structure of a state, `member(leaf)` being that of a leaf; and what it refers to."""
        namespace = {"flat": flat_array(self)} if self.has_arrays else {}
        return render(parse(self.state, ""), member, namespace), namespace

    @property
    def names(self):
        return self._structure(lambda leaf: "")[1]

    def user_type(self, y0):
        return self.state

    def _places(self):
        """Source of where each leaf begins in an array, and of where it ends."""
        end = "0"
        for k, leaf in enumerate(self._leaves("")):
            start, end = end, f"{end} + {' * '.join(self._extents(k, leaf)) or 1}"
            yield start, end

    def given(self, y):
        members = []
        for k, (leaf, (start, end)) in enumerate(
            zip(self._leaves(""), self._places(), strict=True)
        ):
            if leaf.kind == "array":
                shape = "".join(f"{name}, " for name in self._extents(k, leaf))
                members.append(f"{y}[{start} : {end}].reshape(({shape}))")
            else:
                members.append(f"{y}[{start}]")
        remaining = iter(members)
        return self._structure(lambda leaf: next(remaining))[0]

    def taken(self, what, found, ty):
        if not self._is_state(parse(ty, ""), parse(self.state, "")):
            raise ModelError(
                f"{what} must return a state in the form of y0, which it gets as {self.state}; "
                f"it returns {ty}"
            )
        return f"    return {self._flattened(found, self.extra)}\n"

    def _is_state(self, tree, wanted):
        if isinstance(wanted, Branch):
            same = isinstance(tree, Branch) and len(tree.members) == len(wanted.members)
            return same and all(map(self._is_state, tree.members, wanted.members))
        if isinstance(tree, Branch):
            return False
        if wanted.kind == "array":
            same = isinstance(tree.type, types.Array) and tree.type.ndim == wanted.type.ndim
            scalar = getattr(tree.type, "dtype", None)
        else:
            same, scalar = True, tree.type
        fits = isinstance(_number(wanted), types.Complex) or not isinstance(scalar, types.Complex)
        return same and is_scalar(scalar) and fits

    def _flattened(self, source, extents):
        """Source of a state, as the solver takes it, of one as the user's functions have it."""
        if self.has_arrays:
            return f"flat({source}, {', '.join(extents)})"
        return f"({''.join(f'{leaf.source}, ' for leaf in self._leaves(source))})"

    def flat_source(self):
        """Source of `flat(state, *extents)`, the numbers of a state in one array."""
        dtype = f"np.{_number(self._leaves('')[0])}"
        lines = [f"def flat(state, {', '.join(self.extra)}):"]
        *_, (_, count) = self._places()
        body = [f"out = np.empty({count}, {dtype})"]
        for k, (leaf, (start, _)) in enumerate(
            zip(self._leaves("state"), self._places(), strict=True)
        ):
            if leaf.kind == "array":
                names = self._extents(k, leaf)
                wrong = (f"{leaf.source}.shape[{a}] != {name}" for a, name in enumerate(names))
                lines += [f"    if {' or '.join(wrong)}:", "        raise ModelError(WRONG_SHAPES)"]
                body.append(f"put(out, {start}, {leaf.source}.ravel())")
            else:
                body.append(f"out[{start}] = {leaf.source}")
        return "\n".join([*lines, *(f"    {line}" for line in body), "    return out\n"])

    def jacobian(self, found):
        return found

    def start(self, y0):
        return self._flattened(y0, self.extra_of(y0))

    def rows(self, ys):
        return ys


@cache
def flat_array(form):
    """The compiled `flat(state, *extents)` of states with arrays."""
    names = {"np": np, "put": _put, "ModelError": ModelError, "WRONG_SHAPES": WRONG_SHAPES}
    return jit(define(form.flat_source(), names), error_model="numpy")


@jit(error_model="numpy")
def _put(out, first, numbers):
    for i in range(len(numbers)):
        out[first + i] = numbers[i]
