"""Helpers of generated code on whole shadows and on what is kept for the reverse sweep."""

from functools import cache

import numpy as np
from numba import njit
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

from ..errors import ArgumentError, ModelError, RuleError
from ..forward.access import primal
from ..ir.leaves import leaves
from ..source import define
from . import random_state
from .arena import emit_kept
from .contributions import STRONG_PRODUCT
from .value_tape import check_plain

# Of large shadows, so many numbers at a time are passed over where they are zero: a page.
_STRETCH = 512


@intrinsic(prefer_literal=True)
def range_length(typingctx, start, stop, step):
    """`len(range(start, stop, step))`; the step is not zero, as the range has been run over."""

    def codegen(context, builder, sig, args):
        first, end, by = (
            context.cast(builder, x, ty, types.intp) for x, ty in zip(args, sig.args, strict=True)
        )
        zero, one = first.type(0), first.type(1)
        if isinstance(step, types.IntegerLiteral) and step.literal_value == 1:
            room = builder.sub(end, first)
            return builder.select(builder.icmp_signed(">", room, zero), room, zero)
        up = builder.icmp_signed(">", by, zero)
        room = builder.select(up, builder.sub(end, first), builder.sub(first, end))
        by = builder.select(up, by, builder.neg(by))
        steps = builder.sdiv(builder.add(room, builder.sub(by, one)), by)
        return builder.select(builder.icmp_signed(">", room, zero), steps, zero)

    return types.intp(start, stop, step), codegen


@njit
def add_into(shadow, seed):
    """`shadow += seed`, for arrays of one shape."""
    if shadow.shape != seed.shape:
        raise ArgumentError("the cotangent must have the shape of the result")
    for index in np.ndindex(shadow.shape):
        shadow[index] += seed[index]


@njit
def add_scaled(shadow, factor, other):
    """`shadow += factor * other`, for arrays of one shape; zero where one of them is."""
    _add_scaled(shadow, factor, other)


def _add_scaled(shadow, factor, other):
    """The same, compiled for the layouts of the arrays."""
    raise NotImplementedError


@overload(_add_scaled)
def _choose_add_scaled(shadow, factor, other):
    record = other if isinstance(other, types.Record) else other.dtype
    if isinstance(record, types.Record):
        return _add_fields(record, one=record is other)
    contiguous = shadow.layout == other.layout and shadow.layout in "CF"
    if contiguous and isinstance(other.dtype, types.Float):
        in_c_order = (
            shadow.layout == "C" or shadow.ndim == 1
        )  # a column of a matrix in Fortran's order is both
        return _add_what_is_not_zero if in_c_order else _add_transposed

    def add(shadow, factor, other):
        for index in np.ndindex(shadow.shape):
            shadow[index] += STRONG_PRODUCT(factor, (other[index],))

    return add


def _add_fields(record, one):
    """The same for a record, or an array of records: field by field."""
    lines = []
    for name, ty in record.members:
        if leaves(ty) and one and isinstance(ty, types.Number):
            scaled = f"product(factor, (other[{name!r}],))"
            lines.append(f"    shadow[{name!r}] += {scaled}\n")
        elif leaves(ty):
            lines.append(f"    add_scaled(shadow[{name!r}], factor, other[{name!r}])\n")
    names = {"add_scaled": _add_scaled, "product": STRONG_PRODUCT}
    return define("".join(["def add_fields(shadow, factor, other):\n", *lines]), names)


def _add_transposed(shadow, factor, other):
    _add_scaled(shadow.T, factor, other.T)


def _add_what_is_not_zero(shadow, factor, other):
    target, source = shadow.reshape(shadow.size), other.reshape(other.size)
    for start in range(0, target.size, _STRETCH):  # pages that nobody wrote to stay untouched
        end, some = min(start + _STRETCH, target.size), False
        for i in range(start, end):
            some |= source[i] != 0.0
        if some:
            for i in range(start, end):
                target[i] += STRONG_PRODUCT(factor, (source[i],))


@njit
def put_back(array, kept):
    """`array[...] = kept`, of one shape."""
    for index in np.ndindex(array.shape):
        array[index] = kept[index]


def add_cotangent(shadow, cotangent):
    """Add what a rule returns for an array argument; None stands for zero."""


@overload(add_cotangent)
def _add_cotangent(shadow, cotangent):
    if isinstance(cotangent, types.NoneType):
        return lambda shadow, cotangent: None
    return lambda shadow, cotangent: add_into(shadow, cotangent)


@njit
def check_unread(shadow):
    """Raise where what a solver left in an array with this shadow has been read after it."""
    for cotangent in shadow.flat:
        if primal(cotangent) != 0.0:
            raise ModelError(
                "a function that a solver calls writes to an array in args that is read after the solution: "
                "in reverse mode that has no derivative, since what it holds is left by the solver's last "
                "call, of an attempted step, perhaps. Way out: call the function once more, at the state "
                'that is meant; or mode="forward"'
            )


@cache
def nth_cotangent(k, n):
    """The cotangent of argument `k` of `n`; a rule for one argument may return it alone."""

    @intrinsic
    def nth(typingctx, cotangents):
        if not isinstance(cotangents, types.BaseTuple):
            if n != 1:
                raise RuleError(
                    f"the backward function of a rule for {n} arguments returns a tuple of {n} "
                    f"cotangents, not {cotangents}"
                )
            member = cotangents
        elif len(cotangents) != n:
            raise RuleError(
                f"the backward function of a rule for {n} argument(s) returned {len(cotangents)} "
                "cotangents"
            )
        else:
            member = cotangents.types[k]

        def codegen(context, builder, sig, args):
            value = args[0]
            if isinstance(cotangents, types.BaseTuple):
                value = builder.extract_value(value, k)
            return impl_ret_borrowed(context, builder, member, value)

        return member(cotangents), codegen

    return nth


@intrinsic
def kept(typingctx, tape, x):
    """`x` as plain memory that lasts as long as the tape: arrays are copied to its arena."""
    target = kept_type(types.unliteral(x))

    def codegen(context, builder, sig, args):
        return emit_kept(context, builder, args[0], x, args[1], target)

    return target(tape, x), codegen


def kept_type(ty):
    if isinstance(ty, types.Array):
        return types.Array(ty.dtype, ty.ndim, ty.layout)
    if isinstance(ty, types.BaseNamedTuple):
        members = [kept_type(t) for t in ty.types]
        if len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([kept_type(t) for t in ty.types])
    check_plain(ty)
    return ty


@njit
def kept_draws(tape):
    """The states of the random number generators as they are now, in the arena."""
    states = np.empty(random_state.SIZE, np.uint8)
    random_state.save(states)
    return kept(tape, states)


@njit
def exchanged_draws(states):
    """Put kept states back; the ones that were there."""
    now = np.empty(random_state.SIZE, np.uint8)
    random_state.save(now)
    random_state.restore(states)
    return now
