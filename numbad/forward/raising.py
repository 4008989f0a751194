"""Values whose numbers become dual numbers, all of them."""

from functools import cache

from numba.core import types
from numba.extending import overload

from ..source import define
from . import array
from . import dual as d


def dual_type(ty, dual):
    """The type in which every float is a number of the type `dual`, or complex with its partials."""
    if isinstance(ty, types.Array):
        return ty.copy(dtype=dual_type(ty.dtype, dual))
    if isinstance(ty, types.Float | types.Complex):
        return d.with_base(dual, ty)
    if isinstance(ty, types.NamedUniTuple | types.NamedTuple):
        members = [dual_type(member, dual) for member in ty.types]
        if len(set(members)) == 1:
            return types.NamedUniTuple(members[0], len(members), ty.instance_class)
        return types.NamedTuple(members, ty.instance_class)
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([dual_type(member, dual) for member in ty.types])
    return ty


@cache
def all_dual(dual):
    """A nopython function that raises the numbers of a tuple; arrays of duals stay what they are."""

    def raised(x):
        raise NotImplementedError

    @overload(raised)
    def overload_raised(x):
        if isinstance(x, types.BaseTuple):
            members = "".join(f"raised(x[{k}]), " for k in range(len(x)))
            namespace = {"raised": raised}
            if isinstance(x, types.BaseNamedTuple):
                namespace["make"] = x.instance_class
                return define(f"def raise_members(x):\n    return make({members})\n", namespace)
            return define(f"def raise_members(x):\n    return ({members})\n", namespace)
        if isinstance(x, types.Float | types.Complex | d.Dual):
            convert = array.as_scalar(d.with_base(dual, d.base_scalar(x)))
            return lambda x: convert(x)
        convert = array.as_dual(dual)
        return lambda x: convert(x)

    return raised
