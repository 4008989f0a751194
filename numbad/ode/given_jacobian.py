"""The Jacobian of a right-hand side as the user gives it, for steps on plain values.

Where a solution is differentiated, the matrix comes from dual numbers of the right-hand side all the same:
stages of a Rosenbrock method contain it, and no derivative may rest on what nobody checks.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numba.core import cgutils, ir, types
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from numbad.compilation.caching import jit
from numbad.compilation.relinking import PLAINLY, DirectCall, note_call
from numbad.errors import ArgumentError, ModelError
from numbad.forward.dual import Dual, base_scalar
from numbad.ir.untyped import untyped
from numbad.ode.compiling import as_dispatcher, inlined
from numbad.ode.complaint import returned_type
from numbad.ode.emit import Emitter
from numbad.ode.jacobian import MATRICES, make_linearize, make_linearize_by_time, make_move
from numbad.ode.linear import innermost
from numbad.ode.rhs import members, values_of_members
from numbad.ode.sparse_linear import weight
from numbad.ode.state import restored_type, restored_value
from numbad.ode.state_types import is_scalar
from numbad.source import define

# Errors of entries, relative to their row, that a Jacobian by differences has, and a wrong one has not.
CLOSE = 1e-5

# Members of a workspace.
JACOBIAN, RIGHT = -MATRICES, 3 - MATRICES

WRONG_SHAPE = (
    "jac must return an array of shape (n, n), a row and a column for each component of the state"
)


def checked_jacobian(given, tableau, sparsity):
    """The dispatcher of a Jacobian, None for our own; raises ArgumentError."""
    if given is None or (isinstance(given, str) and given == "auto"):
        return None
    if not tableau.is_implicit:
        raise ArgumentError(
            f"jac needs an implicit method, such as 'Rodas5P'; {tableau.name} is explicit"
        )
    if sparsity is not None:
        raise ArgumentError(
            "jac and jac_sparsity do not go together: a pattern is there to evaluate the Jacobian by its "
            "colours. Leave jac out"
        )
    if callable(given) or isinstance(given, Dispatcher):
        return as_dispatcher(given, "jac")
    try:
        matrix = np.array(given, dtype=float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ArgumentError(
            'jac must be "auto", a function jac(t, y, *args) that returns an array of shape (n, n), or such '
            f"an array; not {given!r}"
        )
    return _constant(tuple(map(tuple, matrix.tolist())))


@cache
def _constant(rows):
    """The function that returns a matrix."""
    return jit(define("def jac(t, y, *args):\n    return matrix\n", {"matrix": np.array(rows)}))


def linearizer(rhs, jac, by_time):
    """The compiled `linearize` of `numbad.ode.jacobian`, by the user's function where there is one.

    `by_time`: whether the column of the derivative by time is needed.
    """
    if jac is None:
        return make_linearize(rhs)
    put = make_put_given(rhs, by_time)

    @inlined
    def linearize(fun, work, t, y, structure, args):
        put(fun, jac, work, t, y, structure, args)

    return linearize


@cache
def make_put_given(rhs, by_time):
    """The compiled `put_given(fun, jac, work, t, y, structure, args)`: the Jacobian at (t, y), into work.

    That of a state of dual numbers is our own.
    """
    own, own_by_time = make_linearize(rhs), make_linearize_by_time(rhs)

    @intrinsic
    def put_given(typingctx, fun, jac, work, t, y, structure, args):
        given = fun, work, t, y, structure, args
        if isinstance(y.dtype, Dual):
            signature, emit = own._defn(typingctx, *given)

            def own_codegen(context, builder, outer, arguments):
                return emit(context, builder, signature, [arguments[0], *arguments[2:]])

            return types.none(fun, jac, work, t, y, structure, args), own_codegen
        passed = t, restored_type(structure.instance_type, y), *members(args)
        _check_matrix(returned_type(typingctx, jac.dispatcher, passed), y)
        note_call(PLAINLY, jac.dispatcher, passed, DirectCall(jac.dispatcher, passed))
        types_of_call = work[0], types.float64, y, structure, args
        moves = by_time and AsksForTime(rhs).resolve(typingctx, fun, *types_of_call).reads_time
        timed = own_by_time._defn(typingctx, *given) if by_time else None

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            _, _, given_work, moment, state, _, given_args = arguments
            matrix_type = returned_type(context.typing_context, jac.dispatcher, passed)
            user_state = restored_value(builder, structure.instance_type, y, state)
            values = [moment, user_state, *values_of_members(builder, args, given_args)]
            matrix = emitter.call_dispatcher(jac.dispatcher, passed, values)
            place = len(work) - MATRICES
            target = builder.extract_value(given_work, place)
            n = emitter.vector(y, state).size()
            found = context.make_array(matrix_type)(context, builder, matrix)
            shape = cgutils.unpack_tuple(builder, found.shape, 2)
            fits = [builder.icmp_signed("==", extent, n) for extent in shape]
            with builder.if_then(builder.not_(builder.and_(*fits)), likely=False):
                context.call_conv.return_user_exc(builder, ModelError, (WRONG_SHAPE,))
            copy_type = copy_matrix, (work[place], matrix_type, types.boolean)
            clears = context.get_constant(types.boolean, by_time and not moves)
            emitter.call_dispatcher(*copy_type, [target, matrix, clears])
            context.nrt.decref(builder, matrix_type, matrix)
            if moves:
                timed[1](context, builder, timed[0], [arguments[0], *arguments[2:]])
            return context.get_dummy_value()

        return types.none(fun, jac, work, t, y, structure, args), codegen

    return put_given


@dataclass(frozen=True)
class AsksForTime:
    """A call of the right-hand side in code that depends on whether it reads the time: see `note_call`."""

    rhs: Any

    def resolve(self, typingctx, fun, *argtypes):
        call = self.rhs.resolve(typingctx, fun, *argtypes)
        found = CallAskedForTime(call, _reads_time(fun.dispatcher))
        note_call(self, fun.dispatcher, argtypes, found)
        return found


@dataclass(frozen=True)
class CallAskedForTime:
    call: Any
    reads_time: bool

    @property
    def callee(self):
        return self.call.callee

    @property
    def given(self):
        return self.call.given

    def form(self):
        return self.call.form(), self.reads_time


@njit(error_model="numpy")
def copy_matrix(target, matrix, clears):
    """A matrix into the first columns of another, and zeros into the next one, where asked for."""
    n = len(matrix)
    for i in range(n):
        for j in range(n):
            target[i, j] = matrix[i, j]
        if clears:
            target[i, n] = 0.0


def _check_matrix(ty, y):
    is_matrix = isinstance(ty, types.Array) and ty.ndim == 2 and is_scalar(ty.dtype)
    is_complex = is_matrix and isinstance(ty.dtype, types.Complex)
    if not is_matrix or (is_complex and not isinstance(base_scalar(y.dtype), types.Complex)):
        raise ModelError(
            f"{WRONG_SHAPE}, as np.array([[0.0, 1.0], [-1.0, 0.0]]) has; it returns {ty}"
        )


def _reads_time(fun):
    """Whether a right-hand side may depend on the time: its first argument is used at all."""
    func_ir = untyped(fun)
    names = {
        s.target.name
        for block in func_ir.blocks.values()
        for s in block.find_insts(ir.Assign)
        if isinstance(s.value, ir.Arg) and s.value.index == 0
    }
    return len(func_ir.arg_names) == 1 or any(
        names & {v.name for v in s.list_vars()} and not isinstance(s, ir.Del)
        for block in func_ir.blocks.values()
        for s in block.body
        if not (isinstance(s, ir.Assign) and isinstance(s.value, ir.Arg))
    )


@cache
def make_agrees(rhs):
    """The compiled `agrees(fun, work, t, y, structure, args)`: whether the Jacobian in work is that of `fun`.

    As far as one product with a vector tells, whose entries tell columns apart.
    """
    move = make_move(rhs)

    @inlined
    def agrees(fun, work, t, y, structure, args):
        move(fun, work, t, y, structure, args)
        return is_product(work[JACOBIAN], work[RIGHT])

    return agrees


@njit(error_model="numpy")
def is_product(jacobian, moved):
    """Whether `moved` is J times the `weight` of each component, nearly."""
    values, along = innermost(jacobian), innermost(moved)
    n = len(along)
    for i in range(n):
        total = along[i] * 0.0
        size = abs(along[i])
        for j in range(n):
            term = values[i, j] * weight(j)
            total += term
            size += abs(term)
        if not abs(along[i] - total) <= CLOSE * size:
            return False
    return True
