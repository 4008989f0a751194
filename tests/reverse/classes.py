"""What random programs of users' types make and call: a jitted class, and functions of such values.

The types are those of `tests.operators` and a class of its own; plain Python has the same source.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numba import float64, int64, njit
from numba.experimental import jitclass
from numba.typed import List

from tests.operators.extension_types import Quaternion, lerp, polynomial, quaternion
from tests.operators.structrefs import Pair as Box
from tests.reverse import callees, three_way
from tests.reverse.plain import STAND_INS


def _cell(made):
    """The class, as `made` returns it: each has methods that make their own kind."""

    class Cell:
        def __init__(self, v, r, w):
            self.v, self.r, self.w, self.n = v, r, w, 0

        def energy(self, z):
            return self.v * (z - self.r) ** 2 / (1.0 + z * z) + self.w[0] * self.w[2]

        def step(self, d):
            """Changes a float, an int and an array, and tells of it."""
            self.n += 1
            if self.v > self.r:
                self.v = self.v * 0.5 + d
            else:
                self.r += d * self.w[self.n % 3]
            self.w[self.n % 3] = self.v * 0.25
            return self.v - self.r

        @property
        def size(self):
            return self.v * self.v + self.r * self.w[1]

        def __add__(self, other):
            return Cell(self.v + 0.5 * other.r, self.r - other.v, self.w + 0.5 * other.w)

        def __iadd__(self, other):
            self.v += 0.5 * other.v
            return self

        def __mul__(self, z):
            return Cell(self.v * z, self.r + z, self.w * 0.5)

        def __neg__(self):
            return Cell(-self.r, self.v, -self.w)

        def __getitem__(self, i):
            return self.w[i] * self.v + self.r

        def __setitem__(self, i, z):
            self.w[i] = z * self.r

        def __lt__(self, other):
            return self.v < other.v

    Cell = made(Cell)
    return Cell


Cell = _cell(jitclass([("v", float64), ("r", float64), ("w", float64[:]), ("n", int64)]))
STAND_INS[Cell] = _cell(lambda cls: cls)


class BoxState(NamedTuple):
    """What a `Box` among the arguments is made of."""

    x: float
    y: float


class CellState(NamedTuple):
    """What a `Cell` is made of."""

    v: float
    r: float
    w: np.ndarray


MADE_OF = {BoxState: Box, CellState: Cell}


def arguments():
    box, cell = BoxState(0.47, -1.13), CellState(0.81, 0.39, np.array([0.62, -0.34, 1.07]))
    return *three_way.arguments(), Quaternion(0.57, -0.23, 0.91, 0.35), box, cell


def built(args, make):
    """The arguments with instances in the place of what they are made of."""
    return tuple(make(MADE_OF[type(v)])(*v) if type(v) in MADE_OF else v for v in args)


@njit
def turned(q, z):
    """A branch by an overloaded operator."""
    r = quaternion(z, 0.3, -z, 0.1)
    if q < r:
        return q * r
    return (q + r).scale(0.5)


@njit
def spun(q, n):
    for _ in range(n):
        q = (q * q.conj() + q).scale(0.4)
    return q


@njit
def moved(box, d):
    box.x += d * box.y
    return box


@njit
def chosen(one, other, z):
    return one if z > 0.1 else other


@njit
def advanced(cell, z, n):
    for i in range(n):
        cell.step(z * cell[i])
    return cell * 0.5


@njit
def measured(things):
    s = 0.0
    for thing in things:
        s = 0.5 * s + thing.size
    return s


@njit
def squares(things):
    s = 0.0
    for thing in things:
        s = 0.5 * s + thing.square
    return s


@njit
def areas(things):
    s = 0.0
    for thing in things:
        s = 0.5 * s + thing.area * thing.x
    return s


@njit
def typed_boxes(one, z):
    things = List()
    things.append(one)
    things.append(Box(1.0 * z, one.x))
    things.append(one)
    return things


_FUNCTIONS = turned, spun, moved, chosen, advanced, measured, squares, areas, typed_boxes
NAMES = callees.NAMES | {f.py_func.__name__: f for f in _FUNCTIONS}
NAMES |= {
    "Box": Box,
    "Cell": Cell,
    "quaternion": quaternion,
    "lerp": lerp,
    "polynomial": polynomial,
}
MADE_INSIDE = replace(three_way.PLAIN, names=NAMES)
INSTANCES = three_way.Given(
    "x, y, a, m, k, p, q, b, c",
    arguments,
    (0, 1, 2, 3, 5, 6, 7, 8),
    NAMES,
    built,
    dict.fromkeys((Box, STAND_INS[Box]), ("x", "y"))
    | dict.fromkeys((Cell, STAND_INS[Cell]), ("v", "r", "n", "w")),
)


def given(program):
    """What a program is called with."""
    return INSTANCES if "instances" in program.used else MADE_INSIDE
