"""Powers at special values."""

import numpy as np

import numbad as nd
from tests.elementary.compiled import of_arrays
from tests.elementary.test_accuracy import INF, NAN, TINY, _assert_same

POWERS = [
    *((0.0, -1.0, INF), (-0.0, -1.0, -INF), (-0.0, -2.0, INF), (0.0, -2.5, INF), (-0.0, 3.0, -0.0)),
    *((0.0, 2.0, 0.0), (-0.0, 2.0, 0.0), (-1.0, INF, 1.0), (-1.0, -INF, 1.0), (1.0, NAN, 1.0)),
    *((NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (1.0, INF, 1.0), (-2.0, 0.5, NAN), (0.5, -INF, INF)),
    *((2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0)),
    *((-INF, 3.0, -INF), (-INF, 2.0, INF), (INF, -0.5, 0.0), (INF, 0.5, INF), (-2.0, 3.0, -8.0)),
    *(
        (-2.0, 2.0, 4.0),
        (10.0, 400.0, INF),
        (10.0, -400.0, 0.0),
        (TINY, 1.0, TINY),
        (NAN, 1.0, NAN),
    ),
    *((2.0, NAN, NAN), (TINY, 0.5, 2.0**-537), (2.0, -1074.0, TINY), (2.0, 1023.0, 2.0**1023)),
]


def test_special_values_of_powers():
    x, y, wanted = (np.array(v) for v in zip(*POWERS, strict=True))
    _assert_same(of_arrays("pow")(x, y), wanted)


def test_one_constant_exponent():
    """LLVM drops a parameter that is the same in all calls, and the vector forms with it."""

    def total(x):
        out = 0.0
        for i in range(x.size):
            out += x[i] ** 1.7
        return out

    x = np.linspace(0.1, 3.0, 5)
    for mode in ("forward", "reverse"):
        with nd.vector_math():
            gradient = nd.grad(total, mode=mode)
        np.testing.assert_allclose(gradient(x), 1.7 * x**0.7, rtol=1e-14)
