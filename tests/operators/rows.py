"""Functions whose Jacobians have several rows, and what was chosen for them."""

import math

import numpy as np

from tests.reverse import complex_step


def together(dispatcher):
    """Whether what was generated last takes several rows at a time."""
    (one_by_one,) = dispatcher.operator.choice._one_by_one.values()
    return not one_by_one


def taken(dispatcher):
    """The mode that an operator's result was last generated in."""
    (tried,) = dispatcher.operator.choice._taken.values()
    return tried[-1]


def assert_exact(found, f, args, argnums):
    """Jacobians of an array by arguments, against complex step."""
    expected = complex_step.jacobian(f, args, argnums)
    for one, derivative in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, derivative.reshape(one.shape), rtol=1e-13, atol=1e-14)


def of_known_size(n):
    """A function whose code writes out the `n` numbers that it returns."""
    members = ", ".join(f"math.sin({k + 1} * x[0]) * x[1] / (s + {k})" for k in range(n))
    source = f"def f(x, s):\n    return np.array([{members}])\n"
    namespace = {"math": math, "np": np}
    exec(source, namespace)
    return namespace["f"]


def of_any_size(x, s, n):
    out = np.empty(n)
    for k in range(n):
        out[k] = math.sin((k + 1) * x[0]) * x[1] / (s + k)
    return out
