"""Rules given where a worker process does not run them."""

import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy

import numpy as np
from numba import njit

import numbad as nd

nd.scalar_rule(np.trunc, lambda ans, x: (2.0,))


@njit
def clip(x):
    return min(max(x, -1.0), 1.0)


@njit
def cube(x):
    return x * x * x


def of_clip(x):
    return 3.0 * clip(x)


def of_cube(x):
    return cube(x)


def of_trunc(x):
    return 2.0 * np.trunc(x)


def operators():
    """Operators whose rules are the user's, which refer to the functions that they are for."""
    nd.scalar_rule(clip, lambda ans, x: (1.0,))
    nd.rule(
        cube,
        jvp=lambda primals, tangents: (cube(primals[0]), 7.0 * tangents[0]),
        vjp=(lambda x: (cube(x), 0.0), lambda kept, cotangent: (5.0 * cotangent,)),
    )
    nd.scalar_rule(
        np.trunc, lambda ans, x: (1.0,)
    )  # in place of that above, which workers give again
    inner = nd.derivative(of_clip)

    @njit
    def caller(x):
        return inner(x) + clip(x)

    return [
        inner,
        nd.derivative(of_cube),
        nd.grad(of_cube, mode="reverse"),
        nd.derivative(of_trunc),
        caller,
    ]


if __name__ == "__main__":
    made = operators()
    assert [op(2.5) for op in made] == [3.0, 7.0, 5.0, 2.0, 4.0]
    assert [deepcopy(op)(2.5) for op in made] == [3.0, 7.0, 5.0, 2.0, 4.0]
    assert [pickle.loads(pickle.dumps(op))(2.5) for op in made] == [3.0, 7.0, 5.0, 2.0, 4.0]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        print([pool.submit(op, 2.5).result() for op in made])
        nd.scalar_rule(clip, lambda ans, x: (11.0,))
        print(pool.submit(nd.derivative(of_clip), 2.5).result())
