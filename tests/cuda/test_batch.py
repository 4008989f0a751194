"""`nd.cuda.batch`: its kernels run on the CPU thread by thread, and compile for a GPU."""

import math

import numpy as np
import pytest
from numba import njit

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda
from numbad.errors import ArgumentError, DeviceError, UnsupportedError

from .batches import E, P, X, energy, pair, rows


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_numbers(host, dtype):
    x = np.arange(10, dtype=dtype)[::2]
    product, (total, three) = nd.cuda.batch(pair, in_axes=(0, None))(x, 0.5)
    np.testing.assert_array_equal(product, 0.5 * x)
    np.testing.assert_array_equal(total, x + 1.0)
    assert (product.dtype, total.dtype, three.tolist()) == (dtype, dtype, [3] * 5)


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
