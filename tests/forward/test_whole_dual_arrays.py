"""NumPy's functions of whole arrays in forward mode; the programs are those of reverse mode."""

import copy

import numba
import pytest

import numbad as nd
from tests.forward.compare import same_bits
from tests.reverse.oracle import assert_numbers, exact_gradient
from tests.rules.arrays.whole_arrays import programs

pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
REVERSE_ALONE = ("complex_reductions", "complex_products")
shared = [p for p in programs if p.f.__name__ not in REVERSE_ALONE]


@pytest.mark.dear
@pytest.mark.deep(
    but=[
        "sum_along_an_axis_of_run_time",
        "extrema",
        "product_with_zeros",
        "matrix_products",
    ]
)
@pytest.mark.parametrize("program", shared, ids=[p.f.__name__ for p in shared])
def test_gradient(program):
    primal = numba.njit(program.f)
    compiled = nd.value_and_grad(program.f, program.wrt, mode="forward")
    for args in program.runs[:2]:
        value, gradient = compiled(*copy.deepcopy(args))
        assert same_bits(value, primal(*copy.deepcopy(args)))
        chosen = program.chosen(args)
        assert_numbers(gradient, chosen, exact_gradient(program, args), program.rtol)
