"""Derivatives follow what `recompile` makes of a function, and rules that are given later."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

import numbad as nd

MODES = "forward", "reverse"


def _scaled():
    """x -> k x², with the k of `names`, through a helper that the derivative compiles as well."""
    names = {"k": 2.0}
    exec("def helper(x):\n    return k * x", names)
    helper = njit(names["helper"])

    @njit
    def f(x):
        return helper(x) * x

    return names, helper, f


@pytest.fixture(autouse=True, params=["kept on disk", "not kept"])
def _folder(request, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off" if request.param == "not kept" else str(tmp_path))


@pytest.mark.deep(but=["kept on disk-reverse", "not kept-forward"])
@pytest.mark.parametrize("mode", MODES)
def test_recompile(mode):
    names, helper, f = _scaled()
    gradient, second = nd.grad(f, mode=mode), nd.hessian(f)
    assert (f(3.0), gradient(3.0), second(3.0)) == (18.0, 12.0, 4.0)
    for before, k in ((2.0, 5.0), (5.0, 7.0)):
        names["k"] = k
        assert (f(3.0), gradient(3.0)) == (9 * before, 6 * before)
        helper.recompile()
        f.recompile()
        assert (f(3.0), gradient(3.0), second(3.0)) == (9 * k, 6 * k, 2 * k)
        assert nd.grad(f, mode=mode)(3.0) == 6 * k
        assert nd.jvp(f)((3.0,), (1.0,)) == (9 * k, 6 * k)


@pytest.mark.deep(but=["kept on disk-reverse", "not kept-forward"])
@pytest.mark.parametrize("mode", MODES)
def test_a_derivative_compiled_for_other_types(mode):
    """As Numba's functions: each signature holds the globals of the time when it was compiled."""
    names, _, f = _scaled()
    gradient = nd.grad(f, mode=mode)
    assert gradient(3.0) == 12.0
    names["k"] = 5.0
    assert gradient(np.float32(3.0)) == 30.0
    assert gradient(3.0) == 12.0


def test_a_helper_that_waits():
    names, _, _ = _scaled()
    exec("def constant(n):\n    return n * k", names)
    helper = njit(names["constant"])

    @njit
    def f(x, n):
        return x * helper(n)

    assert nd.grad(f, 0, mode="reverse")(1.0, 3) == 6.0
    names["k"] = 5.0
    helper.recompile()
    assert helper(3) == 15.0
    assert f(1.0, 3) == 15.0
    assert nd.grad(f, 0, mode="reverse")(1.0, 3) == 15.0


@pytest.mark.deep
def test_solvers_of_differential_equations():
    names = {"rate": 1.0}
    exec("def decay(t, y):\n    return (-rate * y[0],)", names)
    decay = njit(names["decay"])

    def end():
        return nd.ode.solve_ivp(decay, (0.0, 1.0), (1.0,), rtol=1e-10, atol=1e-12).y[0, -1]

    assert end() == pytest.approx(np.exp(-1.0), rel=1e-8)
    names["rate"] = 2.0
    decay.recompile()
    assert end() == pytest.approx(np.exp(-2.0), rel=1e-8)


@pytest.mark.deep(but=["not kept"])
def test_a_rule_given_after_a_solver_was_built():
    rate = njit(lambda y: 2.0 * y)
    decay = njit(lambda t, y: (-rate(y[0]),))

    def sensitivity():
        solve = nd.ode.solver(decay, rtol=1e-10, atol=1e-12)
        end = njit(lambda y: solve((y,), np.array([0.0, 1.0]))[1, 0])
        return nd.derivative(end)(1.0)

    assert sensitivity() == pytest.approx(np.exp(-2.0), rel=1e-8)
    nd.scalar_rule(rate, lambda ans, y: 3.0)  # wrong on purpose, to be seen
    assert sensitivity() == pytest.approx(np.exp(-3.0), rel=1e-8)


@pytest.mark.deep(but=["kept on disk-reverse", "not kept-forward"])
@pytest.mark.parametrize("mode", MODES)
def test_a_rule_given_to_a_callee_of_a_callee(mode):
    inner = njit(lambda x: 2.0 * x)
    between = njit(lambda x: inner(x))
    f, g = njit(lambda x: between(x) * x), njit(lambda x: 3.0 * between(x))
    assert nd.grad(f, mode=mode)(1.0) == 4.0
    nd.scalar_rule(inner, lambda ans, x: 5.0)  # wrong on purpose, to be seen
    assert nd.grad(f, mode=mode)(1.0) == 7.0
    assert nd.grad(g, mode=mode)(1.0) == 15.0


@pytest.mark.deep(but=["not kept-given1"])
@pytest.mark.parametrize("given", ["detect", np.eye(4)])
def test_a_sparse_jacobian(given):
    """Its pattern is of the code as well: x[i]² + x[i + shift]."""
    names = {"np": np, "shift": 0}
    source = "def f(x):\n    return x * x + np.concatenate((x[shift:], x[:shift]))"
    exec(source, names)
    f, x = njit(names["f"]), np.arange(1.0, 5.0)
    jacobian = nd.jacobian(f, sparsity=given)
    assert np.array_equal(jacobian(x).toarray(), np.diag(2.0 * x + 1.0))
    names["shift"] = 1
    f.recompile()
    if isinstance(given, str):
        assert np.array_equal(
            jacobian(x).toarray(), np.diag(2.0 * x) + np.roll(np.eye(4), 1, axis=1)
        )
    else:
        with pytest.raises(nd.SparsityError):
            jacobian(x)


@pytest.mark.parametrize(
    "call",
    [
        "nd.grad(lambda x: x * x)",
        "nd.checkpoint(lambda x: x * x)",
        "nd.inspect_adjoint(lambda x: x * x, 1.0)",
        "nd.random.key(1)",
    ],
)
def test_what_is_not_compiled_is_told(call):
    program = f"import numbad as nd\n{call}"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "NUMBAD_CACHE_DIR": "off"}
    found = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "ArgumentError: Numba compiles nothing while NUMBA_DISABLE_JIT is set" in found.stderr
