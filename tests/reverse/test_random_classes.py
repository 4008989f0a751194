"""Random programs over users' types, as `test_random_programs` has them of floats and arrays."""

import re

import pytest

from tests.reverse import class_programs, three_way
from tests.reverse.class_programs import random_class_program
from tests.reverse.classes import given

PARTS, SIZE = 32, 1
SECOND_ORDER = 6  # one program in so many


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(k, marks=pytest.mark.deep) for k in range(1, PARTS))]
)
@pytest.mark.dear
def test_random_programs(part):
    tally = three_way.Tally()
    for number in range(part * SIZE, (part + 1) * SIZE):
        program = random_class_program(number)
        called_with = given(program).by_some(number)
        three_way.compare(program, tally, number % SECOND_ORDER == 0, called_with)
    assert len(tally.refused) <= 1, tally.refusals()
    assert tally.aside.total() <= 2, tally.aside


def test_programs_have_every_construct():
    drawn = [random_class_program(n) for n in range(400)]
    used = set().union(*(program.used for program in drawn))
    assert {"value", "alter", "hold", "gather", "visit", "instances", "read"} <= used
    text = "\n".join(program.text for program in drawn)
    for forms in (class_programs.MADE, class_programs.READ, class_programs.CHANGED):
        for form in (form for several in forms.values() for form in several):
            assert re.search(re.sub(r"\\\{\w+\\\}", ".*", re.escape(form)), text), form
