"""Sensitivities that SUNDIALS publishes: the outputs that come with the examples of CVODES.

github.com/LLNL/sundials, examples/cvodes/serial: cvsRoberts_FSA_dns (forward sensitivities of Robertson's
problem), cvsRoberts_ASAi_dns (adjoint of an integral), cvsHessian_ASA_FSA (second order). Their tolerances
are about 1e-4, their digits five.
"""

import numpy as np
import pytest

import numbad as nd

RATES = 0.04, 1e4, 3e7

# time: by each of the three rates, the slopes of y1, y2, y3
BY_RATES = {
    0.4: (
        (-3.5595e-01, 3.9025e-04, 3.5556e-01),
        (9.5431e-08, -2.1309e-10, -9.5218e-08),
        (-1.5833e-11, -5.2900e-13, 1.6362e-11),
    ),
    40.0: (
        (-4.2475e00, 4.5913e-05, 4.2475e00),
        (1.3731e-05, -2.3573e-10, -1.3730e-05),
        (-2.2883e-09, -1.1380e-13, 2.2884e-09),
    ),
    4000.0: (
        (-4.7501e00, -5.9938e-06, 4.7501e00),
        (1.8809e-05, 2.3126e-11, -1.8809e-05),
        (-3.1348e-09, -1.8758e-14, 3.1348e-09),
    ),
}

# time: the integral's slopes by the rates, and by the initial values
OF_INTEGRAL = {
    50.0: ((1.7341e02, -5.0591e-04, 8.4323e-08), (8.4191e00, 1.6097e01, 1.6097e01)),
    4e7: ((7.6842e05, -3.0691e00, 5.1145e-04), (3.9967e07, 3.9967e07, 3.9967e07)),
}


def _robertson(t, y, p1, p2, p3):
    first, second = p1 * y[0] - p2 * y[1] * y[2], p3 * y[1] * y[1]
    return -first, first - second, second


def _with_integral(t, y, p1, p2, p3):
    first, second = p1 * y[0] - p2 * y[1] * y[2], p3 * y[1] * y[1]
    return -first, first - second, second, y[2]


@pytest.mark.dear
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_forward_sensitivities_of_robertsons_problem(mode):
    solve = nd.ode.solver(_robertson, method="Rodas5P", rtol=1e-7, atol=1e-13)
    ts = 0.0, *BY_RATES

    def states(rates):
        return solve((1.0, 0.0, 0.0), ts, (rates[0], rates[1], rates[2]))[1:]

    slopes = nd.jacobian(states, mode=mode)(np.array(RATES))
    for found, expected in zip(slopes, BY_RATES.values(), strict=True):
        np.testing.assert_allclose(found.T, expected, rtol=5e-4)


@pytest.mark.dear
@pytest.mark.parametrize("adjoint", ["discrete", "interpolating"])
@pytest.mark.parametrize("end", OF_INTEGRAL)
def test_adjoint_sensitivities_of_an_integral(end, adjoint):
    solve = nd.ode.solver(_with_integral, method="Rodas5P", rtol=1e-8, atol=1e-12, adjoint=adjoint)

    def integral(y0, rates):
        start = y0[0], y0[1], y0[2], 0.0
        return solve(start, (0.0, end), (rates[0], rates[1], rates[2]))[1, 3]

    by_start, by_rates = nd.grad(integral, (0, 1), mode="reverse")(
        np.array([1.0, 0.0, 0.0]), np.array(RATES)
    )
    np.testing.assert_allclose(by_rates, OF_INTEGRAL[end][0], rtol=1e-3)
    np.testing.assert_allclose(by_start, OF_INTEGRAL[end][1], rtol=1e-3)


def _three(t, y, p1, p2):
    return (
        -p1 * y[0] * y[0] - y[2],
        -y[1],
        -p2 * p2 * y[1] * y[2],
        0.5 * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]),
    )


@pytest.mark.dear
def test_second_order_sensitivities_of_an_integral():
    solve = nd.ode.solver(_three, rtol=1e-10, atol=1e-12)

    def integral(p):
        return solve((1.0, 1.0, 1.0, 0.0), (0.0, 2.0), (p[0], p[1]))[1, 3]

    at = np.array([1.0, 2.0])
    assert integral(at) == pytest.approx(5.3088e-01, rel=1e-4)
    np.testing.assert_allclose(nd.grad(integral)(at), [-1.2838e-01, 1.8036e-02], rtol=2e-4)
    found = nd.hessian(integral)(at)
    np.testing.assert_allclose(found[0], [1.5628e-01, -7.8678e-02], rtol=2e-4)
    # CVODES gives 1.1093e-01 here, and 8.9446e-02 by the differences that its example checks it with.
    np.testing.assert_allclose(found[1], [-7.8678e-02, 8.9446e-02], rtol=5e-3)
