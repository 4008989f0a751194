"""A second process takes what a reverse-mode operator has compiled from the cache on disk."""

from pathlib import Path

import pytest

from .processes import run

PROGRAM = Path(__file__).with_name("program.py")

# The derivatives by hand.
EXPECTED = {
    "grad": 3 * 3.0 * 2.0**2 * 5.0,
    "grad by an array": [3.0, 12.0, 27.0],
    "value_and_grad": [3 * 8.0 * 5.0, [3 * 3.0 * 4.0 * 5.0, 3 * 8.0]],
    "jacobian": [[3.0, 12.0, 27.0], [2.0, 1.0, 0.0]],
    "value_and_jacobian": [[36.0, 2.0], [[3.0, 12.0, 27.0], [2.0, 1.0, 0.0]]],
    "hessian": [[6.0, 0.0, 0.0], [0.0, 12.0, 0.0], [0.0, 0.0, 18.0]],
    "hvp": [[6.0, 24.0, 54.0]],
    "vjp": [[36.0, 2.0], [[23.0, 22.0, 27.0]]],
    "grad of grad": 12.0,
    "closure": [3.0, 120.0, 2700.0],
    "large arrays": 200_000 * 199_999 / 2 + 90.0,
    "large array in a closure": [6.0, 24.0, 54.0],
    "function as argument": 4 * 8.0,
    "other function as argument": 5.0 * 2.0 * 2.0 + 4.0,  # with what its rule claims
    "lambda": 4 * 8.0,
    "checkpoint": 7 * 2.0**6,
    "rule": 5.0 * 2.0 * 2.0 + 4.0,
    "recursion": 5 * 2.0**4,
    "exception": True,
    "namedtuple": [12.0, 4.0],
    "namedtuple's class": True,
    "dtype": 6.0,
    "cost model": 12.0,
    "jitclass": 12.0,
    "jitclass as argument": 12.0,
    "cell": 32.0,
    "built-in function": 1.0,
    "in vector math": [0.0, 1.0],
    "out of it": [0.0, 1.0],
    "called by njit": 27.0,
    "kept, and called by what is kept": 27.0 + 200_000 * 199_999 / 2 + 180.0,
}
COMPILED_BEFORE = {"namedtuple's class"}  # the case before it has compiled all
USERS_OWN = {"called by njit": ["calls_gradient"]}  # and nobody asked to keep that


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    return [run(PROGRAM, folder) for _ in range(2)]


def test_the_program_and_the_table_agree(runs):
    assert set(runs[0]) == set(EXPECTED) | {"listing"}


@pytest.mark.parametrize("name", EXPECTED)
def test_derivatives(runs, name):
    for results in runs:
        assert results[name][0] == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_second_process_compiles_nothing(runs, name):
    (_, lowered, optimised), (_, *again) = (results[name] for results in runs)
    assert name in COMPILED_BEFORE or (lowered and optimised), "the counters count nothing"
    expected = USERS_OWN.get(name, [])
    assert again == [expected, expected]


def test_listings_are_there_in_a_second_process(runs):
    first, second = (results["listing"][0] for results in runs)
    assert first == second
    assert "reverse sweep" in first
