"""Methods of implicit stages: stiff systems, and their derivatives, against closed forms and other codes."""

import math

import numpy as np
import pytest
import scipy.integrate

import numbad as nd
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.integrate import Problem, make_integrate
from numbad.ode.methods import find_method
from numbad.ode.solving import as_dispatcher
from tests.ode.problems import settings
from tests.ode.test_rosenbrock import (
    MIXED,
    ROBERTSON,
    SLOPES,
    TIMES,
    VALUES,
    as_algebraic,
    mixed,
    robertson,
)
from tests.ode.test_sparsity_pattern import brusselator

BOTH = ["RadauIIA5", pytest.param("KenCarp4", marks=pytest.mark.deep)]
START = (1.0, 0.0, 0.0)


@pytest.mark.deep
@pytest.mark.parametrize(("method", "allowed"), [("RadauIIA5", 1e-7), ("KenCarp4", 2e-5)])
def test_robertson_and_its_sensitivities(method, allowed):
    """Partials do not choose steps: values are the same with and without them."""
    solve = nd.ode.solver(robertson, method=method, rtol=1e-8, atol=1e-12)

    def end(k):
        return solve(START, TIMES, (k[0], k[1], k[2]))

    rates = np.array(ROBERTSON)
    values, run = end(rates), nd.jvp(end, argnums=(0,))
    np.testing.assert_allclose(values[1:], VALUES, rtol=allowed)
    for k, direction in enumerate(np.eye(3)):
        again, slope = run((rates,), (direction,))
        np.testing.assert_array_equal(again, values)
        np.testing.assert_allclose(slope[1:], SLOPES[:, :, k], rtol=10.0 * allowed)


def prothero_robinson(t, y, stiffness, rate):
    """y = cos(rate t), which the solution of another start approaches at the rate `stiffness`."""
    return -stiffness * (y - math.cos(rate * t)) - rate * math.sin(rate * t)


def even_steps(h):
    return settings(rtol=1e-9, atol=1e30, first_step=h, max_step=h)


@pytest.mark.dear
@pytest.mark.parametrize("method", BOTH)
def test_order_where_it_is_not_stiff_and_where_it_is(method):
    """Of value, and of the derivative by the rate.

    A stiffly accurate method of stage order q has the error h**(q + 1) / z where it is stiff, with
    z = h * stiffness (Hairer & Wanner, II, IV.15); q is 3 for RadauIIA5 and 2 for KenCarp4.
    """
    tableau = find_method(method)
    integrate = make_integrate(Problem(as_dispatcher(prothero_robinson), tableau, False, False))
    times = (0.0, 1.0)
    run = nd.jvp(
        lambda rate, stiffness, chosen: integrate(1.0, times, (stiffness, rate), chosen)[0][-1, 0],
        argnums=(0,),
    )

    def errors(stiffness, steps):
        value, slope = run((2.0, stiffness, even_steps(1.0 / steps)), (1.0,))
        return abs(value - math.cos(2.0)), abs(slope + math.sin(2.0))

    for stiffness, steps, order in (
        (1.0, 8, tableau.order),
        (1e6, 8, 3 if method == "RadauIIA5" else 2),
    ):
        found = np.log2(np.divide(errors(stiffness, steps), errors(stiffness, 2 * steps)))
        assert (np.abs(found - order) < 0.5).all(), (stiffness, found)


@pytest.mark.deep
def test_second_derivatives():
    """Of the end by the first rate, against those of another method."""

    def second(method):
        solve = nd.ode.solver(robertson, method=method, rtol=1e-8, atol=1e-12)
        slope = nd.derivative(lambda k: solve(START, TIMES, (k, 3e7, 1e4))[-1])
        return nd.derivative(slope)(0.04)

    np.testing.assert_allclose(second("RadauIIA5"), second("Rodas5P"), rtol=1e-6)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("fun", "start", "mass"),
    [(as_algebraic, START, np.diag([1.0, 1.0, 0.0])), (mixed, np.array(START), MIXED)],
)
def test_mass_matrices(fun, start, mass):
    solve = nd.ode.solver(fun, method="RadauIIA5", rtol=1e-8, atol=1e-12, mass_matrix=mass)

    def end(k):
        return solve(start, TIMES, (k[0], k[1], k[2]))

    rates = np.array(ROBERTSON)
    np.testing.assert_allclose(end(rates)[1:], VALUES, rtol=1e-7)
    np.testing.assert_allclose(nd.jacobian(end)(rates)[1:], SLOPES, rtol=1e-6)


def test_what_is_refused():
    with pytest.raises(nd.ArgumentError, match="not go with KenCarp4, which has an explicit"):
        nd.ode.solver(robertson, method="KenCarp4", mass_matrix=np.eye(3))
    with pytest.raises(ValueError, match="do not match"):
        ImplicitTableau(
            name="Wrong",
            source="none",
            order=1,
            embedded_order=0,
            dense_order=1,
            a=((1.0,),),
            b=(0.5,),
            error=(0.0,),
            c=(1.0,),
            interpolant=((1.0,), (0.0,)),
        )


@pytest.mark.deep
@pytest.mark.parametrize(
    "is_sparse", [True, pytest.param(False, marks=pytest.mark.deep)], ids=["sparse", "dense"]
)
def test_large_systems_in_place(is_sparse):
    options = dict(method="RadauIIA5", inplace=True, rtol=1e-7, atol=1e-9)
    y, p = np.linspace(0.5, 3.0, 24), np.array([1.0, 3.0, 0.02])
    pattern = nd.sparsity(brusselator, 1, out=2)(0.0, y, np.empty_like(y), p)
    if is_sparse:
        options["jac_sparsity"] = pattern
    ys = nd.ode.solver(brusselator, **options)(y, (0.0, 2.0), (p,))

    def rhs(t, y, p):
        dy = np.empty_like(y)
        brusselator(t, y, dy, p)
        return dy

    found = scipy.integrate.solve_ivp(
        rhs, (0.0, 2.0), y, "Radau", args=(p,), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(ys[-1], found.y[:, -1], rtol=1e-6)


def van_der_pol(t, y, mu):
    return y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]


@pytest.mark.deep
def test_scipys_name_and_statistics():
    """Van der Pol's oscillator, against SciPy's code of the same method; Jacobians and factors are kept."""
    given = dict(t_span=(0.0, 2000.0), y0=[2.0, 0.0], method="Radau", rtol=1e-7, atol=1e-9)
    own = nd.ode.solve_ivp(van_der_pol, args=(1e3,), **given)
    other = scipy.integrate.solve_ivp(van_der_pol, args=(1e3,), **given)
    assert own.success
    np.testing.assert_allclose(own.y[:, -1], other.y[:, -1], rtol=1e-4)
    assert own.njev < len(own.t) - 1
    assert own.nlu < 2 * (len(own.t) - 1)
    assert 3 * (len(own.t) - 1) < own.nfev < 12 * len(own.t)


@pytest.mark.dear
def test_failures_have_the_time_and_the_reason():
    def explodes(t, y):
        return (y[0] ** 2,)

    solve = nd.ode.solver(explodes, method="RadauIIA5")
    with pytest.raises(nd.IntegrationError, match=r"at t = 1\.000|at t = 0\.999"):
        solve((1.0,), (0.0, 2.0))
    few = nd.ode.solver(explodes, method="RadauIIA5", max_steps=3)
    with pytest.raises(nd.IntegrationError, match="max_steps"):
        few((1.0,), (0.0, 0.9999))


def amplifier(t, y):
    """Eight voltages; a matrix of rank 5 without rows of zeros: Hairer & Wanner, II, VI.1, (1.14)."""
    source, battery, amplified, base, collector = (
        0.1 * math.sin(200.0 * math.pi * t),
        6.0,
        0.99,
        1e3,
        9e3,
    )
    first = 1e-6 * (math.exp((y[1] - y[2]) / 0.026) - 1.0)
    second = 1e-6 * (math.exp((y[4] - y[5]) / 0.026) - 1.0)
    return (
        (y[0] - source) / base,
        (2.0 * y[1] - battery) / collector + (1.0 - amplified) * first,
        y[2] / collector - first,
        (y[3] - battery) / collector + amplified * first,
        (2.0 * y[4] - battery) / collector + (1.0 - amplified) * second,
        y[5] / collector - second,
        (y[6] - battery) / collector + amplified * second,
        y[7] / collector,
    )


AMPLIFIED = (
    -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
    0.2704617865010554e1, 0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1,
)  # fmt: skip
"""At t = 0.2: F. Mazzia, C. Magherini, "Test Set for Initial Value Problem Solvers", 2008, II-1."""


@pytest.mark.dear
@pytest.mark.parametrize("method", ["RadauIIA5", "BDF"])
def test_steps_after_newtons_method_has_failed(method):
    """Exponentials overflow in steps that are too long, at any tolerance; nothing of that remains."""
    C = 1e-6 * np.array([1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0])
    mass = -np.diag(C)
    for i, j in (0, 1), (3, 4), (6, 7):
        mass[i, j] = mass[j, i] = C[i]
    start = (0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0)
    for tolerance in 1e-3, 1e-5, 1e-7:
        given = dict(method=method, rtol=tolerance, atol=tolerance, mass_matrix=mass)
        found = nd.ode.solver(amplifier, **given)(start, (0.0, 0.2))[-1]
        np.testing.assert_allclose(found, AMPLIFIED, atol=20.0 * tolerance)
