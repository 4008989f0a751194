"""The namedtuple of the random programs, with operators of its own that are overloaded for Numba."""

import operator
from typing import NamedTuple

from numba import types
from numba.extending import overload, overload_attribute, overload_method


class Pair(NamedTuple):
    u: float
    w: float

    def __add__(self, other):
        return Pair(self.u + other.u, self.w + 0.5 * other.w)

    def __iadd__(self, other):
        return Pair(self.u + other.u, self.w + 0.5 * other.w)

    def __sub__(self, other):
        return Pair(self.u - other.w, self.w - other.u)

    def __mul__(self, other):
        size = 1.5 + other.u**2 + other.w**2
        return Pair((self.u * other.u - self.w * other.w) / size, (self.u + self.w) / size)

    def __neg__(self):
        return Pair(-self.w, self.u)

    def __matmul__(self, other):
        return self.u * other.u + self.w * other.w

    def bent(self, z, c=0.5):
        if self.u > z:
            return Pair(self.u * c, 1.0 * z)
        return self * self

    @property
    def size(self):
        return self.u**2 + 0.5 * self.w**2


def _is_pair(*tys):
    return all(isinstance(t, types.BaseNamedTuple) and t.instance_class is Pair for t in tys)


def _of_two(code):
    return lambda self, other: code if _is_pair(self, other) else None


for _name in ("add", "iadd", "sub", "mul", "matmul"):
    overload(getattr(operator, _name))(_of_two(getattr(Pair, f"__{_name}__")))
overload(operator.neg)(lambda self: Pair.__neg__ if _is_pair(self) else None)
overload_method(types.BaseNamedTuple, "bent")(
    lambda self, z, c=0.5: Pair.bent if _is_pair(self) else None
)
overload_attribute(types.BaseNamedTuple, "size")(
    lambda self: Pair.size.fget if _is_pair(self) else None
)
