"""What Numba says of a program that it does not compile, with the way out."""

import subprocess
import sys

import numba
import numpy as np
import pytest

import numbad as nd


def square(x):
    return x * x


LIST = [1.0, 2.0]
TABLE = {"k": 2.0}


class Box:
    def weighed(self, x):
        return 2.0 * x

    def __init__(self):
        self.k = 2.0


BOX = Box()
MESSAGES = [
    (
        lambda x: square(x),
        r"Untyped global name 'square'(.|\n)*Way out: .*square = numba.njit\(square\)",
    ),
    (lambda x: x * LIST[1], r"'LIST'(.|\n)*Way out: make it an array, LIST = np.array\(LIST\)"),
    (lambda x: x * TABLE["k"], r"'TABLE'(.|\n)*Way out: .*pass the numbers that you need of it"),
    (lambda x: x * BOX.k, r"'BOX'(.|\n)*Way out: .*pass the numbers that you need of it"),
]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "message"), MESSAGES)
def test_a_global_without_a_type(f, message, mode):
    with pytest.raises(numba.TypingError, match=message):
        nd.grad(f, mode=mode)(1.0)


@pytest.mark.parametrize("value", [{"k": 1.0}, BOX])
def test_an_object_as_the_argument(value):
    named = f"which is an object of class .*{type(value).__name__}; it must hold floats: pass"
    with pytest.raises(nd.ArgumentError, match=named) as told:
        nd.grad(lambda p: p)(value)
    assert "\n" not in str(told.value)


def test_a_method():
    with pytest.raises(nd.ArgumentError, match="Box.weighed, a method of an object"):
        nd.grad(BOX.weighed)


def test_special_functions_that_are_imported_late():
    program = """
import numbad as nd
print(nd.grad(lambda x: x * x)(3.0))
import scipy.special as sp
print(nd.grad(lambda x: sp.gammaln(x))(2.5), float(sp.digamma(2.5)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    first, found, exact = map(float, ran.stdout.split())
    np.testing.assert_allclose((first, found), (6.0, exact), rtol=1e-12)
