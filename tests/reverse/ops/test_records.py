"""Records and structured arrays in reverse mode: fields as constants, and fields that are written."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.forward.compare import Programs
from tests.reverse.plain import check

programs = Programs()
BODY = np.dtype([("mass", np.float64), ("position", np.float64, (3,)), ("charge", np.int64)])
POINT = np.dtype([("x", np.float64), ("y", np.float64)], align=True)
BODIES = np.zeros(2, BODY)
BODIES["mass"] = [2.0, 3.0]
BODIES["position"] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
BODIES["charge"] = [1, -2]
POINTS = np.array([(0.5, 1.5), (2.5, 3.5), (4.5, 5.5)], POINT)


# -- fields as constants ---------------------------------------------------------------------


@programs.on(0.5, BODIES[0], wrt=(0,), plain=lambda x, b: 2 * x * x + x**3 * 2, second=True)
def record_argument(x, body):
    return body.mass * x * x + x**3 * body.position[1] * body.charge


@programs.on(0.5, BODIES, wrt=(0,), plain=lambda x, b: 2 * x * x + 6 * x**3 + 3 * x - 2 * x**3 * 6)
def structured_array_argument(x, bodies):
    s = 0.0
    for i in range(2):
        s += bodies[i].mass * x ** (i + 1) * (x if i == 0 else 1.0 / x)
        s += x**3 * bodies[i].position[2] * bodies[i].charge
    return s + x**3 * 3.0


@programs.on(0.5, BODIES, wrt=(0,), plain=lambda x, b: 2 * x + 3 * x * x + 1 * x**3 + 6 * x**4)
def fields_as_arrays(x, bodies):
    mass, position = bodies["mass"], bodies["position"]
    s = 0.0
    for i in range(2):
        s += mass[i] * x ** (i + 1)
    return s + position[0, 0] * x**3 + position[1, 2] * x**4


@programs.on(0.5, POINTS, wrt=(0,), plain=lambda x, p: ((0.5 * x + 1.5) * x + 2.5) * x + 3.5)
def records_iterated(x, points):
    s = 0.0
    n = 0
    for point in points:
        if n < 2:
            s = (s * x + point.x) * x + point.y
        n += 1
    return s


GLOBAL = POINTS.copy()


@programs.on(0.5, plain=lambda x: 2.5 * x + 5.5 * x * x)
def global_structured_array(x):
    return GLOBAL[1].x * x + GLOBAL[2]["y"] * x * x


@njit
def of_record(point, x):
    return point.x * x + point.y * x * x


@programs.on(
    0.5, POINTS, wrt=(0,), plain=lambda x, p: (2.5 * x + 3.5 * x * x) * (0.5 * x + 1.5 * x * x)
)
def records_passed_on(x, points):
    return of_record(points[1], x) * of_record(points[0], x)


@programs.on(0.5, POINTS.copy(), wrt=(0,), plain=lambda x, p: 7 * x + 3.5 * x * x)
def constants_written_to_fields(x, points):
    points[1].x = 7.0
    return points[1].x * x + points[1].y * x * x


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


# -- fields that hold active values: right or refused ----------------------------------------


def through_a_field(x):
    points = np.zeros(2, POINT)
    points[0].x = x
    points[1].y = points[0].x * x
    return points[1].y * points[0].x


def through_a_field_array(x):
    points = np.zeros(2, POINT)
    points["x"][0] = x
    points.y[1] = points["x"][0] * x
    return points["y"][1] * points["x"][0]


def through_a_record(x):
    point = np.zeros(1, POINT)[0]
    point.x = x
    point["y"] = point.x * x
    return point.y * point.x


def through_a_nested_array(x):
    bodies = np.zeros(1, BODY)
    bodies[0].position[1] = x
    bodies[0].mass = x * x
    return bodies[0].position[1] * bodies[0].mass


def by_record_assignment(x):
    points = np.zeros(2, POINT)
    points[0].x = x
    points[1] = points[0]
    points[0].x = 1.0
    return points[1].x * x * x


@pytest.mark.parametrize(
    "f",
    [
        through_a_field,
        through_a_field_array,
        through_a_record,
        through_a_nested_array,
        by_record_assignment,
    ],
)
def test_active_fields_are_right_or_refused(f):
    """Each is x**3."""
    assert njit(f)(2.0) == 8.0
    try:
        found = nd.grad(f, mode="reverse")(2.0)
    except nd.UnsupportedError:
        return
    assert found == 12.0


def written_to_argument(x, points):
    points[0].x = x * x
    return points[0].x * x


def test_active_values_written_to_an_argument_are_right_or_refused():
    try:
        found = nd.grad(written_to_argument, 0, mode="reverse")(2.0, POINTS.copy())
    except nd.UnsupportedError:
        return
    assert found == 12.0


def test_gradient_by_a_structured_array_is_right_or_refused():
    def f(points):
        return points[0].x * points[0].x * points[1].y

    try:
        found = nd.grad(f, mode="reverse")(POINTS.copy())
    except nd.NumbadError:
        return
    assert found.dtype == POINT
    assert (found["x"].tolist(), found["y"].tolist()) == ([3.5, 0.0, 0.0], [0.0, 0.25, 0.0])
