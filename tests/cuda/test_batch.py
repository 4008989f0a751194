"""`nd.cuda.batch`: its kernels run on the CPU thread by thread, and compile for a GPU."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, typeof

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda
from numbad.cuda import batch_sums, device
from numbad.cuda.launch import launch_for, resident
from numbad.errors import ArgumentError, DeviceError, UnsupportedError

from .on_cpu import CAPABILITY, run_kernel, without_gpu

Model = namedtuple("Model", "rate scale")


class Host:
    """Takes the place of the GPU: NumPy arrays for those on the device, launches on the CPU."""

    shape = 2, 3  # blocks, threads

    def __init__(self, monkeypatch):
        self.streams = []
        names = "capability on_device is_on_device on_host empty launch stream_of"
        for name in names.split():
            monkeypatch.setattr(device, name, getattr(self, name))

    def capability(self):
        return CAPABILITY

    def stream_of(self, stream):
        return stream

    def on_device(self, array, stream):
        return array

    def is_on_device(self, array):
        return isinstance(array, np.ndarray)

    def on_host(self, array, stream):
        return array

    def empty(self, shape, dtype, stream):
        return np.full(shape, 77, dtype)

    def launch(self, kernel, threads, count, arguments, stream):
        self.streams.append(stream)
        arguments = np.int64(count), *arguments
        run_kernel(kernel.py_func, tuple(map(typeof, arguments)), arguments, *self.shape)


@pytest.fixture
def host(monkeypatch):
    without_gpu(monkeypatch)
    return Host(monkeypatch)


def energy(x, p):
    s = 0.0
    for i in range(x.size):
        s += p.scale * math.exp(p.rate * x[i])
    return s


X = np.linspace(-1.0, 1.0, 21).reshape(7, 3)
P = Model(0.5, 2.0)
E = P.scale * np.exp(P.rate * X)


def test_values_and_gradients_of_rows(host):
    gradient = nd.cuda.value_and_grad(energy, (0, 1))
    values, (by_x, by_p) = nd.cuda.batch(gradient, in_axes=(0, None))(X, P, stream=5)
    np.testing.assert_allclose(values, E.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(by_x, P.rate * E, rtol=1e-14)
    np.testing.assert_allclose(by_p.rate, (X * E).sum(axis=1), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(by_p.scale, E.sum(axis=1) / P.scale, rtol=1e-14)
    assert host.streams == [5]


def test_values_into_given_arrays(host):
    gradient = nd.cuda.value_and_grad(energy)
    batched = nd.cuda.batch(gradient, in_axes=(0, None))
    out = np.zeros(7), np.zeros((7, 3))
    assert batched(X, P, out=out) is out
    np.testing.assert_allclose(out[0], E.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(out[1], P.rate * E, rtol=1e-14)
    alone = nd.cuda.batch(nd.cuda.grad(energy), in_axes=(0, None))(X, P)
    np.testing.assert_array_equal(alone, out[1])
    for wrong in (out[::-1], out[:1], (np.zeros(7), np.zeros((7, 3), np.float32))):
        with pytest.raises(ArgumentError, match="out="):
            batched(X, P, out=wrong)


def pair(x, y):
    return x * y, (x + 2.0 * y, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_numbers(host, dtype):
    x = np.arange(10, dtype=dtype)[::2]
    product, (total, three) = nd.cuda.batch(pair, in_axes=(0, None))(x, 0.5)
    np.testing.assert_array_equal(product, 0.5 * x)
    np.testing.assert_array_equal(total, x + 1.0)
    assert (product.dtype, total.dtype, three.tolist()) == (dtype, dtype, [3] * 5)


def rows(x, k):
    return x[0] * x[1], k * x[1] ** 2


def test_jacobians_by_rows_and_what_is_shared(host):
    x, k = X[:, :2].copy(), np.arange(7.0)
    by_x, by_k = nd.cuda.batch(nd.cuda.jacobian(rows, (0, 1)))(x, k)
    np.testing.assert_allclose(by_x[:, 0], x[:, ::-1], rtol=1e-14)
    np.testing.assert_allclose(by_x[:, 1, 1], 2 * k * x[:, 1], rtol=1e-14)
    assert by_x.shape == (7, 2, 2)
    assert not by_x[:, 1, 0].any()
    np.testing.assert_array_equal(by_k[0], np.zeros(7))
    np.testing.assert_allclose(by_k[1], x[:, 1] ** 2, rtol=1e-14)


def rhs(y, dy, k):
    dy[0] = -k * y[0]
    dy[1] = y[0] * y[1]


def test_jacobians_of_what_is_written(host):
    y, dy, k = X[:, :2].copy(), np.zeros((7, 2)), 3.0
    by_y, by_k = nd.cuda.batch(nd.cuda.jacobian(rhs, (0, 2), out=1), in_axes=(0, 0, None))(y, dy, k)
    expected = np.zeros((7, 2, 2))
    expected[:, 0, 0], expected[:, 1, 0], expected[:, 1, 1] = -k, y[:, 1], y[:, 0]
    np.testing.assert_array_equal(by_y, expected)
    np.testing.assert_array_equal(by_k, np.stack([-y[:, 0], np.zeros(7)], axis=1))
    np.testing.assert_array_equal(dy[:, 0], -k * y[:, 0])


def test_directions(host):
    v = np.cos(X)
    value, along = nd.cuda.batch(nd.cuda.jvp(energy, 0), in_axes=((0, None), 0))((X, P), (v,))
    np.testing.assert_allclose(value, E.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(along, (P.rate * E * v).sum(axis=1), rtol=1e-13, atol=1e-15)
    (product,) = nd.cuda.batch(nd.cuda.hvp(energy, 0), in_axes=((0, None), 0))((X, P), (v,))
    np.testing.assert_allclose(product, P.rate**2 * E * v, rtol=1e-13)


def test_no_elements_are_no_launch(host):
    found = nd.cuda.batch(pair, in_axes=(0, None))(np.zeros(0), 0.5)
    assert found[0].shape == (0,)
    assert not host.streams


@njit
def allocating(x):
    y = np.zeros(3)
    y[0] = x
    return y[0]


@pytest.mark.parametrize(
    ("op", "axes", "args", "kind", "message"),
    [
        (
            pair,
            0,
            (X[:, 0], np.zeros(3)),
            ArgumentError,
            "argument 1 has 3 elements.*argument 0 has 7",
        ),
        (pair, 0, (X[:, 0], 0.5), ArgumentError, "argument 1 holds no elements.*None for it"),
        (pair, (0,), (X[:, 0], 0.5), ArgumentError, "1 entries, and 2 arguments"),
        (
            nd.cuda.jvp(energy, 0),
            ((0,), 0),
            ((X, P), (X,)),
            ArgumentError,
            "a tuple of 2.*has \\(0,\\)",
        ),
        (pair, None, (1.0, 0.5), ArgumentError, "no argument has 0"),
        (allocating, 0, (X[:, 0],), UnsupportedError, "new arrays"),
        (lambda x: x, 0, (X,), ArgumentError, "returns array.*each element has a row"),
        (nd.cuda.grad(energy, tape=None), (0, None), (X, P), UnsupportedError, "tape=16384"),
    ],
)
def test_calls_that_do_not_fit_are_refused(host, op, axes, args, kind, message):
    with pytest.raises(kind, match=f"(?s){message}"):
        nd.cuda.batch(op, axes)(*args)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"in_axes": 1}, "leading axis"),
        ({"in_axes": (0, True)}, "True"),
        ({"threads": 0}, "threads"),
    ],
)
def test_wrong_options_are_refused_at_once(options, message):
    with pytest.raises(ArgumentError, match=message):
        nd.cuda.batch(pair, **options)


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_what_to_do():
    with pytest.raises(DeviceError, match="finds none; on the CPU, nd.batch"):
        nd.cuda.batch(pair)(X[:, 0], X[:, 1])


def test_a_gpu_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    old = type("Device", (), {"compute_capability": (3, 0)})
    monkeypatch.setattr(cuda, "get_current_device", lambda: old)
    with pytest.raises(DeviceError, match="capability 3.0.*compiles for"):
        device.capability()


def test_launches_hold_as_many_threads_as_registers_allow():
    # CUDA occupancy: 65,536 registers and 2,048 threads a multiprocessor.
    assert [resident(r, 128) for r in (32, 48, 96, 128, 168, 255)] == [
        2048,
        1280,
        640,
        512,
        384,
        256,
    ]
    assert launch_for(10, 32, 132).blocks == 1
    many = launch_for(8_388_608, 96, 132)
    assert many.blocks % 132 == 0
    assert many.blocks * many.threads < 8_388_608
    assert resident(96, many.threads) == 640
    assert launch_for(1000, 32, 132, threads=64).blocks == 16


@pytest.mark.skipif(not cuda.is_available(), reason="no CUDA GPU on this machine")
def test_on_a_gpu():
    gradient = nd.cuda.batch(nd.cuda.value_and_grad(energy, (0, 1)), in_axes=(0, None))
    stream = cuda.stream()
    values, (by_x, by_p) = gradient(cuda.to_device(X), P, stream=stream)
    stream.synchronize()
    np.testing.assert_allclose(values.copy_to_host(), E.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(by_x.copy_to_host(), P.rate * E, rtol=1e-13)
    np.testing.assert_allclose(by_p[1].copy_to_host(), E.sum(axis=1) / P.scale, rtol=1e-13)
    many = np.tile(X, (10_000, 1))
    op = nd.cuda.value_and_grad(energy, 1)
    value, by_p = nd.cuda.batch(op, in_axes=(0, None), reduce="mean")(many, P)
    expected = np.mean([E.sum(axis=1), (X * E).sum(axis=1), E.sum(axis=1) / P.scale], axis=1)
    np.testing.assert_allclose([value, *by_p], expected, rtol=1e-12)


def scaled(x, y):
    for i in range(x.size):
        y[i] = 2.0 * x[i]


def test_functions_that_write(host):
    y = np.zeros((7, 3))
    assert nd.cuda.batch(scaled)(X, y) is None
    np.testing.assert_array_equal(y, 2 * X)


def weighted(x, w):
    s = 0.0
    for i in range(x.size):
        s += w[i] * x[i] ** 2
    return s


def test_gradients_come_in_the_order_of_argnums(host):
    w = np.array([1.0, -2.0, 0.5])
    by_w, by_x = nd.cuda.batch(nd.cuda.grad(weighted, (1, 0)), in_axes=(0, None))(X, w)
    np.testing.assert_allclose(by_w, X**2, rtol=1e-14)
    np.testing.assert_allclose(by_x, 2 * w * X, rtol=1e-14)


def drawn(x, key, path):
    for i in range(4):
        x *= math.exp(0.1 * x * nd.random.normal(key, 4 * path + i))
    return x


def test_paths_of_random_numbers_are_those_of_the_cpu(host):
    axes, args = (None, None, 0), (0.7, nd.random.key(3), np.arange(5))
    found = nd.cuda.batch(nd.cuda.value_and_grad(drawn), in_axes=axes)(*args)
    np.testing.assert_allclose(
        found, nd.batch(nd.value_and_grad(drawn), in_axes=axes)(*args), rtol=1e-13
    )


# -- sums -------------------------------------------------------------------------------------------


def misfit(x, y, weights, rate):
    s = 0.0
    for i in range(x.size):
        s += weights[i] * math.exp(-rate * x[i])
    return (s - y) ** 2


WEIGHTS, RATE, Y = np.array([0.4, -0.3, 0.9]), 0.7, np.linspace(0.0, 2.0, 7)


def misfits():
    """Values and derivatives by y, weights and rate of the elements, in closed form."""
    e = np.exp(-RATE * X)
    off = e @ WEIGHTS - Y
    return off**2, -2.0 * off, 2.0 * off[:, None] * e, -2.0 * off * ((X * e) @ WEIGHTS)


@pytest.mark.parametrize("parts", [3, 100])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_sums_by_what_all_share(host, reduce, parts, monkeypatch):
    monkeypatch.setattr(batch_sums, "_MOST_PARTS", parts)
    monkeypatch.setattr(batch_sums, "_FEWEST_PARTS", 1)
    monkeypatch.setattr(batch_sums, "_ROWS", 2)
    op = nd.cuda.value_and_grad(misfit, (3, 1, 2))
    batched = nd.cuda.batch(op, in_axes=(0, 0, None, None), reduce=reduce)
    value, (by_rate, by_y, by_weights) = batched(X, Y, WEIGHTS, RATE)
    values, exact_y, exact_weights, exact_rate = misfits()
    taken = getattr(np, reduce)
    np.testing.assert_allclose(value, taken(values), rtol=1e-14)
    np.testing.assert_allclose(by_y, exact_y, rtol=1e-14)
    np.testing.assert_allclose(by_weights, taken(exact_weights, axis=0), rtol=1e-13)
    np.testing.assert_allclose(by_rate, taken(exact_rate), rtol=1e-13)
    assert np.shape(value) == np.shape(by_rate) == ()


def test_sums_of_what_a_function_returns(host):
    x = np.arange(10, dtype=np.float32)
    product, (total, three) = nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(x, 0.5)
    assert (product, total, three) == (22.5, 55.0, 30.0)
    assert type(product) is np.float64


def test_sums_in_float32_are_float64(host):
    op = nd.cuda.value_and_grad(energy, 1)
    rows = np.tile(X.astype("f4"), (40, 1))
    value, by_p = nd.cuda.batch(op, in_axes=(0, None), reduce="sum")(rows, P)
    np.testing.assert_allclose(value, 40 * E.sum(), rtol=1e-6)
    np.testing.assert_allclose(by_p, [40 * (X * E).sum(), 40 * E.sum() / P.scale], rtol=1e-6)
    assert value.dtype == by_p.rate.dtype == np.float64
    assert type(by_p) is Model


def test_sums_that_there_are_none_of(host):
    with pytest.raises(ArgumentError, match="reduce is None, 'sum' or 'mean', not 'max'"):
        nd.cuda.batch(pair, reduce="max")
    with pytest.raises(ArgumentError, match="no element to take the sum of"):
        nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(np.zeros(0), 0.5)
    with pytest.raises(ArgumentError, match="out="):
        nd.cuda.batch(pair, in_axes=(0, None), reduce="sum")(np.ones(2), 0.5, out=np.ones(2))
    with pytest.raises(UnsupportedError, match="reduce= adds.*not.*jacobian"):
        nd.cuda.batch(nd.cuda.jacobian(energy), in_axes=(0, None), reduce="sum")(X, P)
