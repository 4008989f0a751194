"""Random programs about dictionaries, as `test_random_programs` has them of floats and arrays."""

import pytest

from tests.reverse import three_way
from tests.reverse.dictionary_programs import GIVEN, STATEMENTS, random_dictionary_program

PARTS, SIZE = 12, 2
SECOND_ORDER = 6  # one program in so many


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.deep) for k in range(1, PARTS))]
)
@pytest.mark.dear
def test_random_programs(part):
    tally = three_way.Tally()
    for number in range(part * SIZE, (part + 1) * SIZE):
        program = random_dictionary_program(number)
        three_way.compare(program, tally, number % SECOND_ORDER == 0, GIVEN.by_some(number))
    assert not tally.refused, tally.refusals()
    assert tally.not_by_duals == 0
    assert tally.aside.total() <= 1, tally.aside


def test_programs_have_every_statement():
    drawn = [random_dictionary_program(n) for n in range(100)]
    assert set().union(*(program.used for program in drawn)) == STATEMENTS.keys()
