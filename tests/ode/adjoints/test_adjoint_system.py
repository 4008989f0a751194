"""The adjoint system's scratch memory."""

import pytest
from numba.core import types

from numbad.forward.dual import Dual
from numbad.ode.adjoints.adjoint_system import rows_of_scratch
from numbad.ode.state import vector_type


@pytest.mark.parametrize("n", [1, 3])
def test_rows_of_dual_numbers_have_room_for_a_jacobian_of_values(n):
    """A copy without partials serves methods whose Jacobian is that of values alone."""
    of_duals = rows_of_scratch(vector_type(Dual(types.float64, n, 0)))
    assert of_duals >= rows_of_scratch(vector_type(types.float64))
