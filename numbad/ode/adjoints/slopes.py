"""Vector-Jacobian products of the right-hand side, by reverse mode: what a stage hands back.

The user's function is called by a wrapper in one of two forms, so that a cotangent always has a
place: for a state in a tuple, `slope(t, y, *args)` returns a tuple of as many numbers; for one in an
array, `slope(t, y, dy, *args)` writes into `dy`.
"""

from dataclasses import dataclass
from typing import Any

from numba import njit
from numba.core import types
from numba.core.registry import cpu_target

from numbad.compilation.inherited import inherited_options
from numbad.compilation.memo import remembered
from numbad.compilation.relinking import PLAINLY, DirectCall, note_call
from numbad.errors import UnsupportedError
from numbad.forward.dual import base_scalar
from numbad.forward.promote import effects
from numbad.forward.refuse import place_of_def, told
from numbad.ir.fence import place
from numbad.ir.leaves import leaves
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide
from numbad.ode.state import restored_type
from numbad.ode.state_types import is_scalar
from numbad.operators.adjoint import pullback_of
from numbad.operators.operator_dispatcher import parameter_names
from numbad.source import define


def is_function(ty):
    """Whether an argument is a function, which is bound in the wrapper."""
    return isinstance(ty, types.Dispatcher)


def effects_on_args(fun, first, y, args):
    """What a function does that gets `args` from parameter `first` on, for types of its state and these."""
    given = types.float64, *([y] * (first - 1)), *args
    every = range(len(parameter_names(fun.py_func)))
    return effects(fun, every, map(types.unliteral, given), by_types=True).cautious()


@dataclass(frozen=True)
class Slope:
    """The right-hand side of a problem for states and arguments of known types without duals."""

    fun: Any
    inplace: bool
    structure: types.Type
    y: types.Type
    args: tuple

    @property
    def in_array(self):
        return isinstance(self.y, types.Array)

    def pullback(self, by_args):
        """The dispatcher `pull(args, shadows, seed)` of the wrapper, by y, and by what else is asked for."""
        self._refuse_lists()
        form = restored_type(self.structure, self.y)
        given = [types.float64, form, *([self.y] if self.in_array else []), *self._free()]
        pull = pullback_of(self.wrapper(), given, self.differentiated_by(by_args))
        pull.made_by = Slope.pullback, (self, by_args)  # for `relinking`
        return pull

    def _refuse_lists(self):
        for ty in self._free():
            if any(leaf.kind == "list" for leaf in leaves(ty)):
                raise told(
                    UnsupportedError(
                        f"reverse mode cannot differentiate a solution with a list among its args: "
                        f"{place(place_of_def(self.fun.py_func))}\nWay out: an array or a tuple in place "
                        'of the list, or mode="forward".'
                    )
                )

    def differentiated_by(self, by_args):
        """The numbers of the wrapper's parameters that the pullback is by."""
        first = 3 if self.in_array else 2
        args = [first + j for j, ty in enumerate(self._free()) if by_args and leaves(ty)]
        return (*range(1, first), *args)

    def _free(self):
        return [ty for ty in self.args if not is_function(ty)]

    def writes_to_args(self, of_time=False):
        """Whether it may write floats that depend on the state, or `of_time`, into its arguments."""
        first = 3 if self.inplace else 2
        written = effects(self.fun, tuple(range(0 if of_time else 1, first))).written
        return any(k >= first for k in written)

    def wrapper(self):
        """The dispatcher of the function with a place for every cotangent."""
        known = remembered(self.fun, "slopes")
        key = self.inplace, self.structure, self.y, self.args
        if key not in known:
            options = inherited_options(self.fun)
            known[key] = njit(self._source(), **options)
        return known[key]

    def _source(self):
        names = [f"arg{j}" for j in range(len(self.args))]
        namespace = {"fun": self.fun}
        namespace |= {
            name: ty.dispatcher
            for name, ty in zip(names, self.args, strict=True)
            if is_function(ty)
        }
        free = [name for name in names if name not in namespace]
        lines = [f"def slope({', '.join(['t', 'y', *(['dy'] if self.in_array else []), *free])}):"]
        if self.inplace:
            lines.append(f"    fun({', '.join(['t', 'y', 'dy', *names])})")
        else:
            lines.append(f"    result = fun({', '.join(['t', 'y', *names])})")
            lines += self._delivered()
        return define("\n".join(lines) + "\n", namespace)

    def _delivered(self):
        """Lines that give the result its form."""
        derivative = self._returned()
        is_complex = isinstance(base_scalar(self.y.dtype), types.Complex)
        number = "({} + 0j)" if is_complex else "float({})"
        if not self.in_array:
            if is_scalar(derivative):
                return [f"    return ({number.format('result')},)"]
            members = "".join(f"{number.format(f'result[{i}]')}, " for i in range(len(self.y)))
            return [f"    return ({members})"]
        if is_scalar(derivative):
            return ["    dy[0] = result"]
        if isinstance(derivative, types.BaseTuple):
            return [f"    dy[{i}] = result[{i}]" for i in range(len(derivative))]
        return ["    for i in range(len(dy)):", "        dy[i] = result[i]"]

    def _returned(self):
        """The type that the function returns."""
        call = RightHandSide(False, ALL_KNOWN).resolve(
            cpu_target.typing_context,
            types.Dispatcher(self.fun),
            *(self.y.dtype, types.float64, self.y),
            types.TypeRef(self.structure),
            types.BaseTuple.from_types(self.args),
        )
        return call.derivative


class StagePull:
    """The emitted call of a slope's pullback at a stage, for values that may be dual numbers.

    The numbers of a seed in a tuple are of type `seed`, where that is not what those of y are.
    """

    def __init__(self, typingctx, pull, y, structure, args, shadows, time=types.float64, seed=None):
        self.pull, self.y, self.time, self.seed = pull, y, time, seed or y.dtype
        self.form = restored_type(structure.instance_type, y)
        self.in_array = isinstance(y, types.Array)
        self.free = [j for j, ty in enumerate(args) if not is_function(ty)]
        self.types = self._types(args, shadows)
        note_call(PLAINLY, pull.dispatcher, self.types, DirectCall(pull.dispatcher, self.types))
        function = types.Dispatcher(pull.dispatcher)
        found = typingctx.resolve_function_type(function, self.types, {}).return_type
        self.adjoints = found.types[1]

    def _types(self, args, shadows):
        members = [args[j] for j in self.free], [shadows[j] for j in self.free]
        none, y = types.none, self.y
        place = [y] if self.in_array else []
        seed = none if self.in_array else types.UniTuple(self.seed, len(y))
        return (
            types.BaseTuple.from_types([self.time, self.form, *place, *members[0]]),
            types.BaseTuple.from_types([none, y if place else none, *place, *members[1]]),
            seed,
        )

    def totals(self):
        """`(path, type)` of each scalar among the adjoints of the arguments."""
        first = 3 if self.in_array else 2
        for j in range(first, len(self.adjoints.types)):
            yield from _scalars(self.adjoints.types[j], (j,))

    def emit(self, emitter, t, state, seed, buffers, args, shadows):
        """The cotangents of the state, as a vector, and those of the scalars among the arguments.

        A seed in an array is used up; `buffers` are two more such arrays, for y's cotangent and dy.
        """
        context, builder = emitter.context, emitter.builder
        none = context.get_dummy_value()
        members = [[builder.extract_value(x, j) for j in self.free] for x in (args, shadows)]
        restored = state
        if is_scalar(self.form):
            restored = builder.extract_value(state, 0)
        if self.in_array:
            by_y, dy = buffers
            emitter.make_state(self.y, by_y, lambda i: emitter.constant(0.0))
            values = [t, restored, dy, *members[0]], [none, by_y, seed, *members[1]], none
        else:
            values = [t, restored, *members[0]], [none, none, *members[1]], seed
        tuples = [
            context.make_tuple(builder, ty, each)
            for ty, each in zip(self.types[:2], values[:2], strict=True)
        ]
        result = emitter.call_dispatcher(self.pull.dispatcher, self.types, [*tuples, values[2]])
        adjoints = builder.extract_value(result, 1)
        totals = [builder.extract_value(adjoints, path) for path, _ in self.totals()]
        if self.in_array:
            return emitter.vector(self.y, by_y), totals
        found = builder.extract_value(adjoints, 1)
        return emitter.vector_or_one(self.adjoints.types[1], found), totals


def _scalars(ty, path):
    if isinstance(ty, types.BaseTuple):
        for k, member in enumerate(ty.types):
            yield from _scalars(member, (*path, k))
    elif is_scalar(ty):
        yield path, ty
