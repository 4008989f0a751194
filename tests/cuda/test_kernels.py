"""Derivatives in CUDA kernels: compiled to PTX, for which no driver is needed, and run on the CPU."""

import math

import numpy as np
import pytest
from numba import njit, types

import numbad as nd
from asv_bench.benchmarks.problems import lotka_volterra
from numbad.forward.access import partial, unit

from .assembler import usage

cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed (extra: cuda)")
dispatcher = pytest.importorskip(
    "numba.cuda.dispatcher", reason="this numba.cuda has no dispatcher module"
)

X, Y = 0.3, 0.7


def model(x, y):
    s = 0.0
    while s < 5.0:
        s += math.exp(x * y) + max(x, y) ** 2 + math.hypot(x, y) - math.erf(-x)
    return s / (x + 1.0)


def gradient_of(compiled):
    """The device function, or its CPU twin, that returns both partials."""

    def gradient(x, y):
        result = compiled(unit(x, 0, 2, 0), unit(y, 1, 2, 0))
        return partial(result, 0), partial(result, 1)

    return gradient


def kernel_of(gradient):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0], out[i, 1] = gradient(x[i], Y)

    return kernel


@pytest.fixture
def capability(monkeypatch):
    """The compute capability that nested device functions ask of a GPU, where there is none."""
    device = type("Device", (), {"compute_capability": (8, 0)})
    if not cuda.is_available():
        monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    return (8, 0)


def test_kernel_over_dual_numbers_compiles_to_ptx(capability):
    device_model = cuda.jit(device=True)(model)
    kernel = kernel_of(cuda.jit(device=True)(gradient_of(device_model)))
    ptx, returned = cuda.compile_ptx(kernel, (types.float64[:], types.float64[:, :]), cc=capability)
    assert returned == types.void
    assert ".visible .entry" in ptx
    assert "fma.rn.f64" in ptx  # the partials, which may be contracted


def test_cpu_twin_has_the_derivative_of_central_differences():
    twin = njit(gradient_of(njit(model)))
    h = 1e-5
    by_x = (model(X + h, Y) - model(X - h, Y)) / (2 * h)
    by_y = (model(X, Y + h) - model(X, Y - h)) / (2 * h)
    np.testing.assert_allclose(twin(X, Y), (by_x, by_y), rtol=1e-8)


@pytest.mark.skipif(not cuda.is_available(), reason="no CUDA GPU on this machine")
def test_kernel_gives_what_the_cpu_twin_gives():
    device_model = cuda.jit(device=True)(model)
    kernel = cuda.jit(kernel_of(cuda.jit(device=True)(gradient_of(device_model))))
    twin = njit(gradient_of(njit(model)))
    x = np.linspace(0.1, 0.9, 40)
    out = np.zeros((x.size, 2))
    kernel[2, 32](x, out)
    np.testing.assert_allclose(out, [twin(xi, Y) for xi in x], rtol=1e-12)


# -- reverse mode -----------------------------------------------------------------------------


@njit
def kepler(e, M):
    E = M + e * math.sin(M)
    step = 1.0
    while abs(step) > 1e-13:
        step = (E - e * math.sin(E) - M) / (1.0 - e * math.cos(E))
        E -= step
    return E


def kepler_exactly(e, M):
    """E, dE/de and dE/dM, by differentiating Kepler's equation E - e sin E = M."""
    E = kepler.py_func(e, M)
    slope = 1.0 / (1.0 - e * math.cos(E))
    return E, math.sin(E) * slope, slope


def lotka_volterra_arguments(lanes):
    """Parameters and initial values of a number of cases of P1, and what they share."""
    rng = np.random.default_rng(1)
    p = np.array([1.5, 1.0, 3.0, 1.0]) * rng.uniform(0.9, 1.1, (lanes, 4))
    y0 = rng.uniform(0.8, 1.2, (lanes, 2))
    return p, y0, 1e-2, 100, np.array([1.1]), np.array([0.9])


@pytest.fixture(scope="module")
def device():
    pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
    import numbad.cuda

    return numbad.cuda


@pytest.fixture(scope="module")
def lotka_volterra_kernel(device):
    gradient = device.value_and_grad(lotka_volterra.primal, (0, 1))

    def kernel(p, y0, dt, n, xd, yd, loss, dp, dy):
        i = cuda.grid(1)
        if i < loss.size:
            loss[i], _ = gradient(p[i], y0[i], dt, n, xd, yd, dp[i], dy[i])

    return kernel


@pytest.fixture(scope="module")
def kepler_kernel(device):
    gradient = device.value_and_grad(kepler, (0, 1))

    def kernel(e, M, E, de, dM):
        i = cuda.grid(1)
        if i < E.size:
            E[i], (de[i], dM[i]) = gradient(e[i], M[i])

    return kernel


VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
LOTKA_VOLTERRA = (
    MATRIX,
    MATRIX,
    types.float64,
    types.int64,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
)


def check_ptx(ptx, device):
    assert ".visible .entry" in ptx
    assert f".local .align 16 .b8 \t__local_depot0[{device.TAPE_BYTES}]" in ptx
    assert "st.local" in ptx  # the forward sweep records
    assert "ld.local" in ptx  # the reverse sweep reads
    assert ".extern" not in ptx  # no allocator, no runtime


@pytest.mark.parametrize("kernel", ["lotka_volterra_kernel", "kepler_kernel"])
def test_ptx_of_gradients_assembles_without_spills(capability, kernel, request, tmp_path):
    argtypes = LOTKA_VOLTERRA if kernel == "lotka_volterra_kernel" else (VECTOR,) * 5
    ptx, _ = cuda.compile_ptx(request.getfixturevalue(kernel), argtypes, cc=capability)
    assert usage(ptx, tmp_path).spilled == 0


def test_gradient_of_lotka_volterra_compiles_to_ptx(capability, device, lotka_volterra_kernel):
    ptx, _ = cuda.compile_ptx(lotka_volterra_kernel, LOTKA_VOLTERRA, cc=capability)
    check_ptx(ptx, device)


def test_gradient_of_a_while_loop_compiles_to_ptx(capability, device, kepler_kernel):
    ptx, _ = cuda.compile_ptx(kepler_kernel, (VECTOR,) * 5, cc=capability)
    check_ptx(ptx, device)


def test_gradients_compile_as_device_functions(capability, device):
    gradient = device.grad(kepler, (0, 1))
    ptx, returned = cuda.compile(
        lambda e, M: gradient(e, M), (types.float64,) * 2, device=True, abi="numba", cc=capability
    )
    assert returned == types.UniTuple(types.float64, 2)
    assert ".visible .func" in ptx


@pytest.mark.dear
def test_code_for_the_gpu_gives_the_gradient_of_lotka_volterra(capability, device):
    """The code that becomes PTX, run on the CPU, the adjoint by hand, and the CPU's own."""
    from .on_cpu import DeviceFunction

    gradient = device.value_and_grad(lotka_volterra.primal, (0, 1))
    run = DeviceFunction(
        lambda p, y0, dt, n, xd, yd, dp, dy: gradient(p, y0, dt, n, xd, yd, dp, dy)[0],
        (VECTOR, VECTOR, *LOTKA_VOLTERRA[2:6], VECTOR, VECTOR),
    )
    p, y0, *others = lotka_volterra_arguments(3)
    for lane in range(3):
        dp, dy = np.empty(4), np.empty(2)
        code, (loss,) = run(p[lane], y0[lane], *others, dp, dy)
        expected, by_hand = lotka_volterra.adjoint(p[lane], y0[lane], *others)
        twin = nd.grad(lotka_volterra.primal, (0, 1), mode="reverse")(p[lane], y0[lane], *others)
        assert code == 0
        np.testing.assert_allclose(loss, expected, rtol=1e-13)
        np.testing.assert_allclose(np.hstack([dp, dy]), np.hstack(by_hand), rtol=1e-11)
        np.testing.assert_allclose(np.hstack([dp, dy]), np.hstack(twin), rtol=1e-11)


def test_code_for_the_gpu_gives_the_gradient_of_a_while_loop(capability, device):
    from .on_cpu import DeviceFunction

    gradient = device.value_and_grad(kepler, (0, 1))
    run = DeviceFunction(lambda e, M: gradient(e, M), (types.float64,) * 2)
    twin = nd.value_and_grad(kepler, (0, 1), mode="reverse")
    for e, M in [(0.0, 0.3), (0.1, 1.0), (0.6, 2.5), (0.9, 0.1), (0.3, 6.0)]:
        code, found = run(e, M)
        assert code == 0
        np.testing.assert_allclose(found, kepler_exactly(e, M), rtol=1e-12)
        np.testing.assert_allclose(found, np.hstack(twin(e, M)), rtol=1e-12)


gpu = pytest.mark.skipif(not cuda.is_available(), reason="no CUDA GPU on this machine")


@gpu
def test_lotka_volterra_on_the_gpu(lotka_volterra_kernel):
    p, y0, *others = lotka_volterra_arguments(1000)
    loss, dp, dy = np.zeros(1000), np.zeros((1000, 4)), np.zeros((1000, 2))
    cuda.jit(lotka_volterra_kernel)[8, 128](p, y0, *others, loss, dp, dy)
    for lane in range(0, 1000, 37):
        expected, by_hand = lotka_volterra.adjoint(p[lane], y0[lane], *others)
        np.testing.assert_allclose(loss[lane], expected, rtol=1e-12)
        np.testing.assert_allclose(np.hstack([dp[lane], dy[lane]]), np.hstack(by_hand), rtol=1e-10)


@gpu
def test_a_while_loop_on_the_gpu(kepler_kernel):
    rng = np.random.default_rng(2)
    e, M = rng.uniform(0.0, 0.9, 1000), rng.uniform(0.0, 6.2, 1000)
    found = np.zeros((3, 1000))
    cuda.jit(kepler_kernel)[8, 128](e, M, *found)
    expected = np.transpose([kepler_exactly(*pair) for pair in zip(e, M, strict=True)])
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@gpu
@pytest.mark.parametrize("debug", [False, True])
def test_a_full_tape_on_the_gpu(device, debug):
    gradient = device.grad(kepler, (0, 1), tape=8)

    def kernel(e, M, de, dM):
        i = cuda.grid(1)
        if i < e.size:
            de[i], dM[i] = gradient(e[i], M[i])

    e, M, found = np.full(32, 0.5), np.full(32, 2.0), np.zeros((2, 32))
    launch = cuda.jit(kernel, debug=debug, opt=not debug)[1, 32]
    if debug:
        with pytest.raises(nd.errors.TapeLimitError, match="tape="):
            launch(e, M, *found)
    else:
        launch(e, M, *found)
        assert np.isnan(found).all()
