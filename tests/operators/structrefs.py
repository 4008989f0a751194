"""A structref with a method, an attribute and operators, and what stands for it in plain Python."""

import operator

from numba import njit, types
from numba.experimental import structref
from numba.extending import overload, overload_attribute, overload_method

from tests.reverse.plain import STAND_INS


@structref.register
class PairType(types.StructRef):
    """Two of anything."""

    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(ty)) for name, ty in fields)


class Pair(structref.StructRefProxy):
    """A pair as Python sees it."""

    def __new__(cls, x, y):
        return structref.StructRefProxy.__new__(cls, x, y)

    @property
    def x(self):
        return _x(self)

    @property
    def y(self):
        return _y(self)


structref.define_proxy(Pair, PairType, ["x", "y"])


@njit
def _x(pair):
    return pair.x


@njit
def _y(pair):
    return pair.y


@overload_method(PairType, "weighted")
def _weighted(self, w):
    def weighted(self, w):
        return self.x * self.x * w + self.y * self.y

    return weighted


@overload_method(PairType, "scale")
def _scale(self, factor):
    def scale(self, factor):
        self.x = self.x * factor
        self.y *= factor

    return scale


@overload_attribute(PairType, "area")
def _area(self):
    return lambda self: self.x * self.y


@overload(operator.add)
def _add(p, q):
    if isinstance(p, PairType) and isinstance(q, PairType):
        return lambda p, q: Pair(p.x + q.x, p.y + q.y)


class PlainPair:
    """The same in plain Python."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def weighted(self, w):
        return self.x * self.x * w + self.y * self.y

    def scale(self, factor):
        self.x, self.y = self.x * factor, self.y * factor

    @property
    def area(self):
        return self.x * self.y

    def __add__(self, other):
        return PlainPair(self.x + other.x, self.y + other.y)


STAND_INS[Pair] = PlainPair
