"""Functions that tests give rules to."""

import pytest
from numba import njit

from numbad.rules import (
    JVP,
    SCALAR,
    VJP,
    on_register,
)


@pytest.fixture
def function():
    """A function of two numbers, its rules forgotten afterwards."""

    @njit
    def product(x, y):
        return x * y

    yield product
    for table in (SCALAR, JVP, VJP):
        table.pop(product, None)


@pytest.fixture
def heard():
    """The functions that a hook hears of."""
    functions = []
    on_register.append(functions.append)
    yield functions
    on_register.remove(functions.append)
