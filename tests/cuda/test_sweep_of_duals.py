"""Forward over reverse on a GPU: the vector-Jacobian product of a function among dual numbers."""

import math

import mpmath
import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import njit, types
from numba.extending import intrinsic

from numbad.cuda.pullback import device_pullback
from numbad.cuda.tape import TAPE_BYTES, new_tape
from numbad.cuda.trajectories.register_algebra import partials_of, put_together
from numbad.forward.dual import Dual
from numbad.ode.emit import Emitter

from .on_cpu import DeviceFunction

pytestmark = pytest.mark.usefixtures("twin")

MOVING = Dual(types.float64, 1, 0)


def moved_pullback(f):
    """`(y0, y1, v0, v1, w0, w1, a, n)`: how the cotangents of f(y, a, n) move, where y does along v.

    `w` are the cotangents of what f returns, two numbers; the result is by y and a.
    """
    pull = device_pullback(f, (0, 1))
    pair, state = types.UniTuple(types.float64, 2), types.UniTuple(MOVING, 2)
    given = types.Tuple((state, types.float64, types.int64)), types.Tuple((types.none,) * 3), pair

    @intrinsic
    def moved(typingctx, y, v, w, a, n):
        adjoints = pull.result(*given)[1]
        result = types.UniTuple(types.float64, 3)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            compiled = pull.compile(*given)
            context.active_code_library.add_linking_library(compiled.library)
            at, along = (emitter.vector(pair, value) for value in arguments[:2])
            moving = [put_together(emitter, MOVING, [at[k], along[k]]) for k in range(2)]
            args = [emitter.make_state(state, None, moving.__getitem__), *arguments[3:]]
            passed = [
                new_tape(builder, TAPE_BYTES),
                context.make_tuple(builder, given[0], args),
                context.make_tuple(builder, given[1], [context.get_dummy_value()] * 3),
                arguments[2],
            ]
            _, returned = context.call_internal_no_propagate(
                builder, compiled.fndesc, compiled.signature, passed
            )
            by_y, by_a = (
                builder.extract_value(builder.extract_value(returned, 1), k) for k in range(2)
            )
            numbers = [*(emitter.vector(state, by_y)[k] for k in range(2))]
            numbers.append(emitter.scalar(adjoints[1], by_a))
            found = [partials_of(emitter, number)[0].value for number in numbers]
            return context.make_tuple(builder, result, found)

        return result(y, v, w, a, n), codegen

    def run(y0, y1, v0, v1, w0, w1, a, n):
        return moved((y0, y1), (v0, v1), (w0, w1), a, n)

    return DeviceFunction(run, (types.float64,) * 7 + (types.int64,))


def written_with(sin, exp):
    """Functions of two numbers, a rate and a count: smooth, with a choice, with a loop that has a tape."""

    def smooth(y, a, n):
        return exp(a * y[0]) * y[1] ** 3, a * sin(y[0] * y[1]) / (1 + y[1] ** 2)

    def chosen(y, a, n):
        pair, s = (1.0, 2.0), 1.0
        if y[0] > y[1]:
            pair, s = (a * y[0], y[1]), a * y[0] * y[1]
        return s * s * pair[0] * pair[1], max(y[0], 0.5 * y[1]) ** 2 * a

    def repeated(y, a, n):
        s = y[1]
        for _ in range(n):
            s = sin(s * y[0]) + a * s
        return s, s * y[1]

    return smooth, chosen, repeated


@pytest.mark.parametrize("k", range(3), ids=["smooth", "chosen", "repeated"])
def test_forward_over_reverse(k):
    run = moved_pullback(njit(written_with(math.sin, math.exp)[k]))
    f = written_with(mpmath.sin, mpmath.exp)[k]
    y, v, w, a, n = (0.7, 0.4), (0.3, -0.2), (1.0, -2.0), 1.3, 5

    def weighed(s, *by):
        at = [y[j] + s * v[j] + by[j] for j in range(2)]
        return sum(c * x for c, x in zip(w, f(at, a + by[2], n), strict=True))

    with mpmath.workdps(40):
        expected = [
            float(mpmath.diff(weighed, (0, 0, 0, 0), (1, *map(int, unit)))) for unit in np.eye(3)
        ]
    code, found = run(*y, *v, *w, a, n)
    assert code == 0
    np.testing.assert_allclose(found, expected, rtol=1e-13)
