"""The seven problems of the benchmarks: reverse mode and the derivatives by hand, by complex step."""

import functools

import numpy as np
import pytest

import numbad as nd
from asv_bench.benchmarks import problems
from asv_bench.benchmarks.problems import brusselator, bundle_adjustment
from tests.reverse import complex_step

SCALAR = [problem for problem in problems.NAMES if problem != "P3"]


def flat(result):
    if isinstance(result, tuple):
        return np.concatenate([flat(member) for member in result])
    return np.ravel(result)


def small(problem):
    return problems.module(problem).shorten(problems.load()[problem])


def argnums(problem):
    given = problems.module(problem).ARGNUMS
    return given if isinstance(given, tuple) else (given,)


@functools.cache
def gradient(problem):
    return problems.gradient(problem)


@functools.cache
def exact(problem):
    """Value and derivatives by complex step, one array an argument."""
    primal = problems.module(problem).primal
    (value,) = complex_step.value(primal, small(problem))
    derivatives = complex_step.jacobian(primal, small(problem), argnums(problem))
    return value, [derivative[0] for derivative in derivatives]


def assert_exact(found, expected, rtol):
    """Arrays one by one, each relative to its largest number."""
    found = found if isinstance(found, tuple) else (found,)
    for array, derivative in zip(found, expected, strict=True):
        assert array.shape == derivative.shape
        np.testing.assert_allclose(array, derivative, rtol=0, atol=rtol * abs(derivative).max())


@pytest.mark.deep(but=["P4", "P6"])
@pytest.mark.parametrize("problem", SCALAR)
def test_derivative_by_hand(problem):
    value, derivatives = exact(problem)
    by_hand = problems.by_hand(problem)(*small(problem))
    assert by_hand[0] == pytest.approx(value, rel=1e-12)
    assert_exact(by_hand[1], derivatives, 1e-11)


@pytest.mark.dear
@pytest.mark.parametrize("problem", SCALAR)
def test_gradient(problem):
    value, derivatives = exact(problem)
    assert min(abs(derivative).max() for derivative in derivatives) > 0.0
    found, by_adjoint = gradient(problem)(*small(problem))
    assert found == pytest.approx(value, rel=1e-12)
    assert_exact(by_adjoint, derivatives, 1e-11)


@pytest.mark.dear
@pytest.mark.parametrize("problem", problems.NAMES)
def test_full_size_agrees_with_the_derivative_by_hand(problem):
    arguments = problems.load()[problem]
    by_hand = problems.by_hand(problem)(*arguments)[1]
    found = gradient(problem)(*arguments)
    found = found if problem == "P3" else found[1]
    by_hand = by_hand if isinstance(by_hand, tuple) else (by_hand,)
    assert_exact(found, by_hand, 1e-9)


@pytest.mark.dear
def test_both_ways_to_write_the_brusselator():
    arguments = small("P5")
    naive = nd.value_and_grad(brusselator.naive_primal, brusselator.ARGNUMS, mode="reverse")
    found, by_adjoint = naive(*arguments)
    (value,) = complex_step.value(brusselator.naive_primal, arguments)
    derivatives = complex_step.jacobian(brusselator.naive_primal, arguments, brusselator.ARGNUMS)
    assert found == pytest.approx(value, rel=1e-12)
    assert_exact(by_adjoint, [derivative[0] for derivative in derivatives], 1e-11)
    assert_exact(by_adjoint, gradient("P5")(*arguments)[1], 1e-10)


def jacobians_by_complex_step(cams, X, w, obs, feats):
    rows = []
    for k, (camera, point) in enumerate(obs):
        arguments = cams[camera], X[point], float(w[k]), feats[k]
        by = complex_step.jacobian(bundle_adjustment.residual, arguments, (0, 1, 2))
        rows.append(np.column_stack(by))
    return np.array(rows)


def observations(rotation):
    """A few observations; every second camera with or without a rotation."""
    cams, X, w, obs, feats = small("P3")
    cams = cams.copy()
    cams[::2, :3] *= rotation
    return cams, X, w, obs, feats


# A camera without rotation takes the other branch, where the angle has no derivative.
@pytest.mark.dear
@pytest.mark.parametrize("rotation", [1.0, 0.0])
def test_bundle_adjustment(rotation):
    arguments = observations(rotation)
    value, by_hand = bundle_adjustment.jacobian(*arguments)
    expected = jacobians_by_complex_step(*arguments)
    np.testing.assert_allclose(value, bundle_adjustment.primal(*arguments), rtol=1e-12)
    scale = abs(expected).max(axis=(0, 1))
    np.testing.assert_allclose(by_hand / scale, expected / scale, atol=1e-11)
    np.testing.assert_allclose(gradient("P3")(*arguments) / scale, expected / scale, atol=1e-11)
    of_arrays = nd.jacobian(
        bundle_adjustment.residual_of_arrays, bundle_adjustment.ARGNUMS, mode="reverse"
    )
    found = bundle_adjustment.jacobians_of_arrays(of_arrays)(*arguments)
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-11)


def test_the_observations_residual_is_the_primals():
    cams, X, w, obs, feats = small("P3")
    primal = bundle_adjustment.primal(cams, X, w, obs, feats)
    for k, (camera, point) in enumerate(obs):
        alone = bundle_adjustment.residual(cams[camera], X[point], w[k], feats[k])
        np.testing.assert_allclose(alone, primal[k], rtol=1e-12)
