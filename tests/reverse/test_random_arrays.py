"""Random programs of whole-array statements, as `test_random_programs` has them of scalar ones.

`NUMBAD_RANDOM_ARRAYS` says how many, `NUMBAD_RANDOM_SEED` which.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

from tests.reverse import array_programs, three_way
from tests.reverse.array_programs import ArrayWriter, random_array_program

COUNT = int(os.environ.get("NUMBAD_RANDOM_ARRAYS", "20"))
SEED = int(os.environ.get("NUMBAD_RANDOM_SEED", "0"))
PARTS = 20
SHARES = [0, *(pytest.param(k, marks=pytest.mark.deep) for k in range(1, PARTS))]
SECOND_ORDER = 8  # one program in so many


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
    @given(
        program=array_programs.array_programs(),
        second=st.integers(1, SECOND_ORDER),
        wrt=st.integers(0, 99),
    )
    def run(program, second, wrt):
        note(program.text)
        given = array_programs.GIVEN.by_some(wrt)
        note(f"by {given.wrt}")
        three_way.compare(program, tally, second == SECOND_ORDER, given)

    run()
    tally.check()


def test_programs_have_every_statement():
    used = set().union(*(random_array_program(n).used for n in range(300)))
    written = {name.removeprefix("_write_") for name in vars(ArrayWriter) if "_write_" in name}
    assert written <= used
