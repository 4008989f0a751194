"""One number and vectors of them: the same bits in every place, and loops over vectors."""

import math

import numpy as np
import pytest

from tests.elementary.compiled import of_arrays
from tests.elementary.test_accuracy import ARGUMENTS, TINY


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_same_bits_alone_and_in_every_place_of_a_vector(name):
    given = ARGUMENTS[name](np.random.default_rng(6), 50)
    given = given if isinstance(given, tuple) else (given,)
    together = of_arrays(name)(*given)
    alone = [of_arrays(name)(*(v[i : i + 1] for v in given))[0] for i in range(together.size)]
    moved = of_arrays(name)(*(np.roll(v, 1) for v in given))
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, np.roll(moved, -1))


def test_loops_become_loops_over_vectors():
    of_arrays("exp")(np.ones(3))
    (text,) = of_arrays("exp").compiled.inspect_llvm().values()
    assert "call <" in text
    assert "@numbad.elementary.exp." in text.split("call <")[1]


@pytest.mark.parametrize("name", ["log", "sin", "pow"])
def test_one_number_beyond_the_formula_leaves_its_neighbours_alone(name):
    odd = {"log": TINY, "sin": 1e30, "pow": -3.0}[name]
    plain = np.linspace(0.5, 3.0, 16)
    mixed = plain.copy()
    mixed[5] = odd
    y = np.full(16, 2.0)
    found, wanted = of_arrays(name)(mixed, y), of_arrays(name)(plain, y)
    kept = np.arange(16) != 5
    np.testing.assert_array_equal(found[kept], wanted[kept])
    assert found[5] == {"log": math.log(TINY), "sin": math.sin(1e30), "pow": 9.0}[name]
