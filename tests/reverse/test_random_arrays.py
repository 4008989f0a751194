"""Random programs of whole-array statements, as `test_random_programs` has them of scalar ones.

`NUMBAD_RANDOM_ARRAYS` says how many, `NUMBAD_RANDOM_SEED` which.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from numba import njit

from tests.reverse import array_programs, three_way
from tests.reverse.array_programs import ArrayWriter, random_array_program

COUNT = int(os.environ.get("NUMBAD_RANDOM_ARRAYS", "20"))
SEED = int(os.environ.get("NUMBAD_RANDOM_SEED", "0"))
PARTS = 20
SHARES = [0, *(pytest.param(k, marks=pytest.mark.deep) for k in range(1, PARTS))]
SECOND_ORDER = 8  # one program in so many


@njit
def twice(b):
    return b + np.sin(b)


@njit
def mixed(b, c):
    return np.where(b > c, 0.5 * b, c * c)


@njit
def bump(b, s):
    b *= 0.5
    b[:1] += s


@njit
def halved(b):
    b *= 0.5
    return b


NAMES = {f.py_func.__name__: f for f in (twice, mixed, bump, halved)}
GIVEN = replace(three_way.PLAIN, names=three_way.PLAIN.names | NAMES)


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("part", SHARES)
def test_random_programs(part):
    tally = three_way.Tally()

    @seed(PARTS * SEED + part)
    @settings(
        max_examples=-(-COUNT // PARTS),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(program=array_programs.array_programs(), second=st.integers(1, SECOND_ORDER))
    def run(program, second):
        note(program.text)
        three_way.compare(program, tally, second == SECOND_ORDER, GIVEN)

    run()
    tally.check()


def test_programs_have_every_statement():
    used = set().union(*(random_array_program(n).used for n in range(300)))
    written = {name.removeprefix("_write_") for name in vars(ArrayWriter) if "_write_" in name}
    assert written <= used
