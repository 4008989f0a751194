"""The Brownian path at any time: its law, Chen's relation, the same whatever is asked first."""

import itertools

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.sde.brownian import WAY, _up_to, _up_to_at_once
from numbad.sde.brownian_tree import ahead, draw, nothing_kept

KEY = nd.random.key(21)


@njit
def _pairs(key, path, dt, begins, ends, kept):
    """(W, H) of intervals, shape (2, intervals), of channel 0."""
    out, w, h = np.empty((2, begins.shape[0])), np.empty((1, 1)), np.empty((1, 1))
    for k in range(begins.shape[0]):
        begin = np.int64(begins[k, 0]), begins[k, 1]
        draw(kept, key, path, dt, 1.0, begin, (np.int64(ends[k, 0]), ends[k, 1]), w, h, 0)
        out[0, k], out[1, k] = w[0, 0], h[0, 0]
    return out


def _places(positions):
    positions = np.asarray(positions, float)
    return np.stack([np.floor(positions), positions % 1.0], axis=1)


@njit
def _sample(key, dt, begins, ends, paths):
    out = np.empty((paths, 2 * begins.shape[0]))
    for p in range(paths):
        out[p] = _pairs(key, p, dt, begins, ends, nothing_kept(1)).ravel()
    return out


_INTERVALS = (
    (0.1, 0.375),
    (0.375, 0.8),
    (0.1, 0.8),
    (0.8, 2.3),
    (0.0, 0.5),
    (0.25, 0.5),
    (-0.4, 1.5),
)


def _covariance(intervals):
    """Of W and then H of intervals: integrals of products of their weights of dW."""
    knots = sorted(set(itertools.chain(*intervals)))

    def weights(r, low, high):
        for a, b in intervals:
            yield 1.0 if a <= low and high <= b else 0.0
        for a, b in intervals:
            yield (b - r) / (b - a) - 0.5 if a <= low and high <= b else 0.0

    total = 0.0
    for low, high in itertools.pairwise(knots):  # Simpson's rule, exact for products of lines
        for r, share in ((low, 1.0), (0.5 * (low + high), 4.0), (high, 1.0)):
            column = np.array(list(weights(r, low, high)))
            total = total + share / 6.0 * (high - low) * np.outer(column, column)
    return total


@pytest.mark.dear
def test_law_of_adjacent_and_nested_intervals():
    """Covariances of W and H within a cell and across cells, 40,000 paths."""
    begins, ends = (_places([interval[k] for interval in _INTERVALS]) for k in (0, 1))
    dt, paths = 2.0, 40_000
    found = _sample(KEY, dt, begins, ends, paths)
    expected = dt * _covariance(_INTERVALS)
    scale = np.sqrt(np.diag(expected))
    assert np.abs(found.mean(axis=0) / scale).max() < 4.5 / paths**0.5
    np.testing.assert_allclose(
        np.cov(found.T) / np.outer(scale, scale), expected / np.outer(scale, scale), atol=0.025
    )


def test_chens_relation():
    """The pairs of two parts, put together, are the pair of the whole."""
    rng, dt = np.random.default_rng(3), 0.7
    points = np.sort(rng.uniform(-2.0, 3.0, (300, 3)), axis=1)
    points[::2] = np.round(points[::2] * 64.0) / 64.0 + [0.0, 1.0, 2.0]  # places that a tree has
    a, b, c = (_places(column) for column in points.T)
    (w1, h1), (w2, h2), (w, h) = (
        _pairs(KEY, 4, dt, begin, end, nothing_kept(1)) for begin, end in ((a, b), (b, c), (a, c))
    )
    l1, l2 = (dt * (points[:, k + 1] - points[:, k]) for k in (0, 1))
    integral = l1 * (h1 + w1 / 2.0) + l2 * w1 + l2 * (h2 + w2 / 2.0)
    np.testing.assert_allclose(w, w1 + w2, atol=1e-12)
    np.testing.assert_allclose(h, integral / (l1 + l2) - w / 2.0, atol=1e-12)


def test_the_order_of_questions_does_not_matter():
    """Steps with rejections, one after the other, against each asked for alone."""
    rng = np.random.default_rng(4)
    place, begins, ends = (np.int64(-1), 0.3), [], []
    for _ in range(2000):
        to = ahead(place, 3.0 * rng.random() ** 6 + 1e-7)
        assert to > place
        begins, ends = [*begins, place], [*ends, to]
        if rng.random() < 0.7:
            place = to
    begins, ends = np.array(begins), np.array(ends)
    in_turn = _pairs(KEY, 0, 0.5, begins, ends, nothing_kept(1))
    alone = np.stack(
        [
            _pairs(KEY, 0, 0.5, begins[k : k + 1], ends[k : k + 1], nothing_kept(1))[:, 0]
            for k in range(begins.shape[0])
        ],
        axis=1,
    )
    assert (in_turn == alone).all()


@njit
def _both_ways(key, points, dt, way):
    """W and its integral up to points of a cell, node by node and by all nodes at once."""
    out = np.empty((points.size, 2, 2))
    for k in range(points.size):
        out[k, 0] = _up_to(key, 3, 1, 5, points[k], dt, None)
        out[k, 1] = _up_to_at_once(key, 3, 1, 5, points[k], dt, way)
    return out


def test_nodes_at_once_are_the_same_to_the_last_bit():
    """Points within leaves, at their ends, at few halvings, at both ends of the cell."""
    inside = np.random.default_rng(2).uniform(size=50)
    points = np.concatenate([inside, np.round(inside * 2.0**30) / 2.0**30, [0.0, 0.5, 0.375, 1.0]])
    found = _both_ways(KEY, points, 0.7, np.empty(2 * WAY))
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


@pytest.mark.dear
@pytest.mark.parametrize("method", ["EulerMaruyama", "SRIW1"])
def test_outputs_within_steps_do_not_depend_on_who_else_is_drawn(method):
    """Several in one cell, of paths one by one and in blocks; the tree finds the same increments."""
    ts = np.array([0.0, 0.11, 0.13, 0.17, 0.4, 0.61, 0.7])
    solve = nd.sde.solver(lambda t, y: (0.0, 0.0), lambda t, y: (1.0, 2.0), method=method, dt=0.2)
    block = nd.sde.ensemble(solve, (0.0, 0.0), ts, (), KEY, 20)
    alone = [solve((0.0, 0.0), ts, (), (KEY, p)) for p in range(20)]
    np.testing.assert_array_equal(block, alone)
    adaptive = nd.sde.brownian_path((KEY, 7), ts, dt=0.2)
    np.testing.assert_allclose(block[7, :, 0], adaptive, atol=1e-14)
