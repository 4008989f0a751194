"""Drifts and diffusions that write to arrays in args, by the adjoints that call them in another order."""

import numpy as np
import pytest
from numba import njit

import numbad as nd

KEY = nd.random.key(3)


def scratch(t, y, a, work):
    work[0] = a * y
    return work[0]


def latched(t, y, a, work):
    if y > 1.05:
        work[0] = 1
    return a * y if work[0] == 0 else -a * y


def counting(t, y, a, work):
    work[0] += 1
    return a * y + 0.01 * work[0] * y * a


def noise(t, y, a, work):
    return 0.3 * y * a


def noise_from_the_drift(t, y, a, work):
    return 0.3 * work[0]


REMEMBERING = [(latched, noise), (counting, noise), (scratch, noise_from_the_drift)]
EXACT = [
    ("EulerMaruyama", "ito", {"adjoint": "mixed"}),
    ("ReversibleHeun", "stratonovich", {"adjoint": "reversible"}),
    ("EulerMaruyama", "ito", {"adjoint": "forward"}),
    ("EulerMaruyama", "ito", {"checkpoints": 3}),
    ("Milstein", "ito", {"checkpoints": 3}),
]


def options(value):
    return (
        value.__name__
        if callable(value)
        else "-".join(map(str, value.values()))
        if isinstance(value, dict)
        else None
    )


def end_of(drift, diffusion, method, calculus, how, kind=np.float64):
    solve = nd.sde.solver(drift, diffusion, method=method, calculus=calculus, dt=0.05, **how)

    @njit
    def end(a):
        return solve(1.0, (0.0, 1.0, 2.0), (a, np.zeros(2, kind)), KEY)[-1, 0]

    return end


def slope(end, a=0.5, h=1e-5):
    return (end(a + h) - end(a - h)) / (2.0 * h)


@pytest.mark.deep(but=["EulerMaruyama-ito-3", "EulerMaruyama-ito-mixed"])
@pytest.mark.parametrize(("method", "calculus", "how"), EXACT, ids=options)
def test_intermediate_results(method, calculus, how):
    end = end_of(scratch, noise, method, calculus, how)
    assert nd.grad(end, mode="reverse")(0.5) == pytest.approx(slope(end), rel=1e-8)


@pytest.mark.deep(but=["EulerMaruyama-ito-*-latched-noise-float64"])
@pytest.mark.parametrize("kind", [np.float64, np.int64], ids=["float64", "int64"])
@pytest.mark.parametrize(("drift", "diffusion"), REMEMBERING, ids=options)
@pytest.mark.parametrize(("method", "calculus", "how"), EXACT, ids=options)
def test_what_an_earlier_call_has_left(method, calculus, how, drift, diffusion, kind):
    """Either it is known, or the derivative is refused."""
    if kind is np.int64 and drift is scratch:
        pytest.skip("it writes numbers with fractions")
    end = end_of(drift, diffusion, method, calculus, how, kind)
    gradient = nd.grad(end, mode="reverse")
    if how.get("adjoint") in ("mixed", "reversible"):
        name = "the diffusion" if drift is scratch else "the drift"
        with pytest.raises(nd.ModelError, match=f"{name} gives another result"):
            gradient(0.5)
    else:
        assert gradient(0.5) == pytest.approx(slope(end), rel=1e-7)


def test_what_the_array_holds_from_the_beginning():
    """As after a path with the same parameters and key: the same value is written once more."""

    def kept(t, y, a, work):
        if t <= 1.0:
            work[0] = y
            return a * y
        return a * work[0]

    solve = nd.sde.solver(kept, noise, method="EulerMaruyama", dt=0.05, adjoint="mixed")

    @njit
    def end(a, work):
        return solve(1.0, (0.0, 1.0, 2.0), (a, work), KEY)[-1, 0]

    work = np.zeros(1)
    end(0.5, work)
    assert work[0] != 0.0
    with pytest.raises(nd.ModelError, match="reads what an earlier call has left"):
        nd.grad(end, mode="reverse")(0.5, work)


def test_the_jacobian_of_all_outputs_in_one_pass():
    solve = nd.sde.solver(latched, noise, adjoint="mixed", dt=0.05)
    with pytest.raises(nd.ModelError, match="the drift gives another result"):
        nd.jacobian(solve, argnums=0)(1.0, (0.0, 1.0, 2.0), (0.5, np.zeros(2)), KEY)


@pytest.mark.deep
@pytest.mark.parametrize("drift", [latched, counting, scratch], ids=options)
def test_the_jacobian_where_the_solver_chooses_how(drift):
    solve = nd.sde.solver(drift, noise, dt=0.05)

    def last(y0):
        return solve(y0, (0.0, 1.0, 2.0), (0.5, np.zeros(2)), KEY)[-1, 0]

    found = nd.jacobian(solve, argnums=0, mode="reverse")(
        1.0, (0.0, 1.0, 2.0), (0.5, np.zeros(2)), KEY
    )
    assert found[-1, 0] == pytest.approx(slope(last, 1.0), rel=1e-6)
