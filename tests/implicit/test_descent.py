"""The way down to a minimum, and where there is none."""

import math

import numpy as np
import pytest

import numbad as nd

from .test_root import close


@pytest.mark.dear
def test_rosenbrock_from_its_bad_start():
    def banana(x, a):
        return (a - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2

    close(nd.minimize(banana, np.array([-1.2, 1.0]), (1.0,)), (1.0, 1.0))


def test_far_from_a_convex_region():
    """Where the second derivative is negative, the way down is followed."""
    close(nd.minimize(lambda x, a: -a / (1.0 + x * x), 3.0, (2.0,)), 0.0)


def test_no_minimum_inside_of_the_bracket():
    with pytest.raises(nd.ConvergenceError, match="no minimum"):
        nd.minimize_scalar(lambda x, a: a * x, (0.0, 1.0), (2.0,))


def test_a_maximum_is_none():
    with pytest.raises(nd.ConvergenceError, match="no minimum"):
        nd.minimize(lambda x, a: a * math.cos(x), 0.0, (1.0,))
