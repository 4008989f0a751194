"""Colourings are valid, by brute force, and the best there are for bands."""

import numpy as np
import pytest
from scipy import sparse

import numbad as nd
from numbad.patterns.colouring import colour_columns, colour_symmetric
from numbad.patterns.compression import by_rows, of_symmetric
from numbad.patterns.pattern import pattern_of


def coloured(matrix):
    colours, count = colour_columns(pattern_of("test", matrix))
    dense = sparse.coo_array(matrix).toarray() != 0
    assert colours.shape == (dense.shape[1],)
    assert count == colours.max(initial=-1) + 1
    for i in range(dense.shape[1]):
        for j in range(i):
            if colours[i] == colours[j]:
                assert not (dense[:, i] & dense[:, j]).any(), (i, j)
    return count


@pytest.mark.parametrize("seed", range(12))
def test_no_two_columns_of_a_colour_share_a_row(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 40, 2)
    coloured(sparse.random_array((rows, columns), density=rng.choice([0.02, 0.1, 0.5]), rng=rng))


@pytest.mark.parametrize("width", [0, 1, 2, 4])
def test_bands_need_as_many_colours_as_they_are_wide(width):
    band = sum(sparse.eye_array(50, k=k) for k in range(-width, width + 1))
    assert coloured(band) == 2 * width + 1


def brusselator(n):
    """A ring of `n` cells of two species, one species after the other."""
    i, rows, columns = np.arange(n), [], []
    for first, other in ((0, n), (n, 0)):
        rows += [i + first] * 4
        columns += [first + (i - 1) % n, first + i, first + (i + 1) % n, other + i]
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_array((np.ones(8 * n), (rows, columns)), shape=(2 * n, 2 * n))


def test_saturation_finds_what_the_order_of_columns_hides():
    """Column by column, one species takes three colours and the other one three more."""
    assert coloured(brusselator(40)) == 4
    assert coloured(brusselator(41)) <= 6


def test_saturation_with_more_than_64_colours():
    dense = np.zeros((3, 200))
    dense[0, ::2] = dense[1, 1::2] = 1
    dense[2, :70] = 1
    assert coloured(dense) >= 100


def stars(matrix):
    """The number of colours, after it was seen that no path of four takes turns between two."""
    colours, count = colour_symmetric(pattern_of("test", matrix))
    dense = sparse.coo_array(matrix).toarray() != 0
    np.fill_diagonal(dense, False)
    assert count == colours.max(initial=-1) + 1
    for b, c in zip(*np.nonzero(dense), strict=True):
        assert colours[b] != colours[c]
        for a in np.flatnonzero(dense[b]):
            for d in np.flatnonzero(dense[c]):
                path = len({a, b, c, d}) == 4
                assert not path or colours[a] != colours[c] or colours[b] != colours[d]
    return count


def symmetric(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    matrix = sparse.random_array((n, n), density=rng.choice([0.05, 0.1, 0.4]), rng=rng)
    return matrix + matrix.T


@pytest.mark.parametrize("seed", range(12))
def test_star_colourings(seed):
    matrix = symmetric(seed)
    stars(matrix + sparse.eye_array(matrix.shape[0]))


def test_star_colourings_of_bands_and_hubs():
    assert stars(sum(sparse.eye_array(50, k=k) for k in (-1, 0, 1))) == 3
    for hub in (0, 7, 19):
        dense = np.eye(20)
        dense[hub] = dense[:, hub] = 1.0
        assert stars(dense) == 2
    assert stars(np.ones((6, 6))) == 6
    assert stars(sparse.csr_array((0, 0))) == 0


def decompressed(compression, product):
    """The entries, read off a product with one column for each colour."""
    lines = np.repeat(np.arange(compression.starts.size - 1), np.diff(compression.starts))
    read = product[lines, compression.slots]
    return read if compression.order is None else read[compression.order]


@pytest.mark.parametrize("seed", range(12))
def test_every_entry_is_read_where_it_is_alone(seed):
    rng = np.random.default_rng(seed)
    given = symmetric(seed).toarray() != 0
    half = rng.normal(size=given.shape)
    matrix = (half + half.T) * given
    oblong = sparse.random_array((12, 7), density=0.2, rng=rng).toarray()
    for make, each, lines in ((of_symmetric, matrix, matrix), (by_rows, oblong, oblong.T)):
        how = make(pattern_of("test", each))
        seeds = (how.colours[:, None] == np.arange(how.count)).astype(float)
        found = decompressed(how, lines @ seeds)
        np.testing.assert_allclose(found, each[each != 0], atol=1e-14)


def test_dense_and_empty():
    assert coloured(np.ones((3, 7))) == 7
    assert coloured(sparse.csr_array((4, 5))) == 1
    assert coloured(sparse.csr_array((4, 0))) == 0
    assert coloured(sparse.csr_array((0, 4))) == 1


def test_what_is_stored_counts_and_comes_once():
    twice = sparse.coo_array(([0.0, 1.0, 1.0], ([1, 0, 0], [2, 1, 1])), shape=(2, 3))
    pattern = pattern_of("test", twice)
    assert pattern.indptr.tolist() == [0, 1, 2]
    assert pattern.indices.tolist() == [1, 2]
    assert pattern.transposed().rows().tolist() == [1, 2]


@pytest.mark.parametrize("given", [3, None, [[1, 0]], sparse.coo_array(np.ones(3))])
def test_other_things_are_no_patterns(given):
    with pytest.raises(nd.SparsityError):
        pattern_of("test", given)
