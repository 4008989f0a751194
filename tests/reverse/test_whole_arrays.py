"""NumPy's functions of whole arrays in reverse mode, first and second order."""

from tests.reverse.oracle import check_gradient, check_second_order
from tests.whole_arrays import programs


@programs.parametrize()
def test_gradient(program):
    check_gradient(program)


@programs.parametrize()
def test_second_order(program):
    check_second_order(program)
