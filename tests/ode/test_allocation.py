"""What the solver takes from the heap: the output, for arrays a start and one workspace as well.

Numba counts one allocation more for each array that comes from Python: ts, and y0 where it is one.
"""

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import numbad as nd
from tests.ode.problems import VOLTERRA_PARAMETERS, volterra


@pytest.fixture(autouse=True, scope="module")
def statistics():
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


def allocations(solve, y0, ts):
    before = rtsys.get_allocation_stats().alloc
    ys = solve(y0, ts, VOLTERRA_PARAMETERS)
    count = rtsys.get_allocation_stats().alloc - before
    assert np.isfinite(ys).all()
    return count


def volterra_in_place(t, y, dy, a, b, c, d):
    dy[0] = (a - b * y[1]) * y[0]
    dy[1] = (d * y[0] - c) * y[1]


@pytest.mark.deep(but=["tuple"])
@pytest.mark.parametrize(
    ("options", "y0", "most"),
    [
        pytest.param(dict(fun=volterra), (1.0, 1.0), 2, id="tuple"),
        pytest.param(dict(fun=volterra), np.ones(2), 5, id="array"),
        pytest.param(dict(fun=volterra_in_place, inplace=True), np.ones(2), 5, id="in place"),
    ],
)
def test_allocations_do_not_depend_on_the_number_of_steps(options, y0, most):
    solve = nd.ode.solver(rtol=1e-8, **options)
    solve(y0, np.array([0.0, 1.0]), VOLTERRA_PARAMETERS)
    short = allocations(solve, y0, np.array([0.0, 1.0]))
    long = allocations(solve, y0, np.linspace(0.0, 100.0, 1000))
    assert short == long <= most


@pytest.mark.dear
def test_nothing_leaks():
    solve = nd.ode.solver(volterra_in_place, rtol=1e-8, inplace=True)
    solve(np.ones(2), np.array([0.0, 1.0]), VOLTERRA_PARAMETERS)
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        solve(np.ones(2), np.array([0.0, 5.0]), VOLTERRA_PARAMETERS)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


@pytest.mark.deep
def test_a_gradient_leaks_nothing_and_allocates_no_more_for_more_steps():
    """Its tables grow by doubling; 40 steps and 50 fit the same ones."""
    solve = nd.ode.solver(volterra_in_place, rtol=1e-8, inplace=True)
    gradient = nd.grad(lambda y0, ts: solve(y0, ts, VOLTERRA_PARAMETERS)[-1].sum(), mode="reverse")
    counts = []
    for end in (1.0, 1.0, 1.2):
        y0, ts = np.ones(2), np.linspace(0.0, end, 5)
        before = rtsys.get_allocation_stats()
        gradient(y0, ts)
        after = rtsys.get_allocation_stats()
        counts.append(after.alloc - before.alloc)
        assert after.alloc - before.alloc == after.free - before.free > 0
    assert counts[1] == counts[2]


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["gauss", "interpolating"])
def test_a_continuous_adjoint_of_a_stiff_method_allocates_nothing_for_a_step(adjoint):
    """The Jacobian of the adjoint system is evaluated once a step: 500 and 1000 times."""
    step = dict(method="Rodas5P", first_step=0.01, max_step=0.01, rtol=0.1, atol=0.1)
    solve = nd.ode.solver(volterra_in_place, inplace=True, adjoint=adjoint, **step)
    gradient = nd.grad(
        lambda y0, ts, a: solve(y0, ts, (a, 1.5, 1.0, 3.0))[-1].sum(), (0, 2), "reverse"
    )
    counts = []
    for end in (5.0, 5.0, 10.0):
        before = rtsys.get_allocation_stats().alloc
        gradient(np.ones(2), np.array([0.0, end]), 1.0)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    assert counts[2] - counts[1] < 50  # tables of the dense output that grow by doubling
