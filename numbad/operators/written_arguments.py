"""Arguments that a function writes to and is not differentiated by: what stands for them during a call."""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from numba.core import types

from ..errors import UnsupportedError
from ..forward.dual import Dual
from ..forward.dual_arrays import dtype_of_type
from ..forward.dual_records import copy_records, holds_records, records_as, with_duals
from . import runtime
from .argument_structure import leaves, mapped_type, parse, render
from .describe import contains_floats, describe, is_differentiable, users_name

_FIXED = (
    *(types.Number, types.Boolean, types.NoneType, types.UnicodeType, types.Omitted),
    *(Dual, types.Dispatcher),
)


@dataclass
class WrittenArguments:
    """The lines around calls of a function that stand for the arguments that it writes to.

    Where differentiated values are written to an array, one of dual numbers stands for it, which `each`
    call finds with the array's values; `after` the last they are stored in the array. Other arrays are
    put back before each call but the first, by lines in `again`: None where there is one call.
    """

    sweep: object  # the source under construction: `dual`, `new_duals`, `namespace`, `n`, `tag`
    before: list
    each: list
    after: list
    again: list | None = None

    def stand_in(self, k, source, ty, *, duals):
        """`(source, type)` of what stands for argument `k`, whose arrays of floats get `duals` or not."""
        tree = parse(ty, source)
        found = list(leaves(tree))
        names = [f"{k}_{j}" for j in range(len(found))] if found != [tree] else [str(k)]
        made = {
            id(leaf): self._leaf(name, leaf.source, leaf.type, duals)
            for name, leaf in zip(names, found, strict=True)
        }
        rendered = render(tree, lambda leaf: made[id(leaf)][0], self.sweep.namespace)
        return rendered, mapped_type(tree, lambda leaf: made[id(leaf)][1])

    def _leaf(self, name, source, ty, duals):
        if duals and takes_records(ty):
            return self._records(name, source, ty)
        if duals and isinstance(ty, types.Array) and is_differentiable(ty.dtype):
            return self._duals(name, source, ty)
        if self.again is not None and isinstance(ty, types.Array):
            self.before.append(f"saved{name} = {source}.copy()")
            self.again.append(f"{source}[...] = saved{name}")
        return source, ty

    def _duals(self, name, source, ty):
        made = self.sweep.new_duals(source, ty)
        self.before.append(f"work{name} = {made}")
        self.before.append(f"workflat{name} = {runtime.flat(f'work{name}', ty)}")
        self.each.append(runtime.loaded(f"workflat{name}", source, ty))
        self.after.append(runtime.stored(source, f"work{name}", ty))
        return f"work{name}", types.Array(self.sweep.dual(ty.dtype), ty.ndim, ty.layout)

    def _records(self, name, source, ty):
        one = isinstance(ty, types.Record)
        record = in_level(ty if one else ty.dtype, self.sweep.n, self.sweep.tag)
        self.sweep.namespace |= {"records_as": records_as, "copy_records": copy_records}
        self.sweep.namespace[f"records{name}"] = dtype_of_type(record)
        made = f"work{name}[0]" if one else f"work{name}"
        self.before.append(f"work{name} = records_as({source}, records{name}())")
        self.each.append(f"copy_records({made}, {source})")
        self.after.append(f"copy_records({source}, {made})")
        return made, record if one else ty.copy(dtype=record)


def has_stand_in(ty):
    """Whether something may stand for an argument of a type: for arrays, records and tuples of them."""
    return isinstance(ty, types.Array | types.BaseTuple) or takes_records(ty)


@contextmanager
def telling_of_collections(operator, names, given):
    """UnsupportedError where a call does not compile since duals are put into a list or dict of floats.

    `given` are the numbers and types of the arguments that differentiated numbers may be written to.
    """
    try:
        yield
    except Exception as error:  # compilers fail in many ways
        found = [(k, ty) for k, ty in given if isinstance(ty, _COLLECTIONS) and contains_floats(ty)]
        if not found or not _of_collections(error):
            raise
        (k, ty), *_ = found
        other = "" if isinstance(ty, types.DictType) else ", or reverse mode"
        raise UnsupportedError(
            f"nd.{operator.name}: {users_name(operator.f)} puts differentiated numbers into its argument "
            f"'{names[k]}', {describe(ty)}, which forward mode cannot. Way out: an array in its "
            f"place, {describe(ty)} that the function makes itself{other}"
        ) from error


_COLLECTIONS = types.List | types.ListType | types.DictType


def _of_collections(error):
    told = f"{type(error).__name__} {error} {error.__cause__!r}"
    return any(part in told for part in ("_cast(differentiated", "list(float", "AssertionError"))


def is_put_back(ty, *, duals):
    """Whether what a call changes in an argument of a type is seen by no other call."""
    if isinstance(ty, types.BaseTuple):
        return all(is_put_back(member, duals=duals) for member in ty)
    return isinstance(ty, (types.Array, *_FIXED)) or (duals and takes_records(ty))


def takes_records(ty):
    """Whether a type is one of records, or arrays of them, that can be written to and hold floats."""
    record = ty.dtype if isinstance(ty, types.Array) else ty
    return holds_records(ty) and ty.mutable and in_level(record, 1, 0) != record


def in_level(ty, n, tag):
    """A type of a record's field with a dual of a level over each of its numbers that has a derivative."""
    if isinstance(ty, types.NestedArray):
        return types.NestedArray(in_level(ty.dtype, n, tag), ty.shape)
    if isinstance(ty, types.Record):
        return with_duals(ty, partial(in_level, n=n, tag=tag))
    return Dual(ty, n, tag) if is_differentiable(ty) else ty
