"""Random programs: the adjoint against dual numbers, and both against the source run by Python.

`NUMBAD_RANDOM_PROGRAMS` says how many, `NUMBAD_RANDOM_SEED` which. A failing program is shrunk and
printed. Programs that reverse mode refuses are counted; more than one in twenty fail the test.
"""

import os
import re

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

from tests.reverse import expressions, three_way
from tests.reverse.programs import Source, Writer, programs, random_program

COUNT = int(os.environ.get("NUMBAD_RANDOM_PROGRAMS", "200"))
SEED = int(os.environ.get("NUMBAD_RANDOM_SEED", "0"))
PARTS = 50
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
    @given(program=programs(), second=st.integers(1, SECOND_ORDER), wrt=st.integers(0, 99))
    def run(program, second, wrt):
        note(program.text)
        given = three_way.PLAIN.by_some(wrt)
        note(f"by {given.wrt}")
        three_way.compare(program, tally, second == SECOND_ORDER, given)

    run()
    tally.check()


def test_programs_have_every_construct():
    drawn = [random_program(n) for n in range(400)]
    used = set().union(*(program.used for program in drawn))
    written = {name.removeprefix("_write_") for name in vars(Writer) if name.startswith("_write_")}
    assert written <= used
    assert {"elif", "break", "continue", "loop else", "reduction", "logic", "closure"} <= used
    text = "\n".join(program.text for program in drawn)
    for form in (*expressions.UNARY, *expressions.BINARY, *expressions.POWERS, *expressions.CALLS):
        pattern = re.sub(r"\\\{\w+\\\}", ".*", re.escape(form))
        assert re.search(pattern, text), form


SAMPLE = """
def program(x, y, a, m, k, p):
    for v in a:
        x = x * v + p.u
    return x * y + m[0, 1]
"""


@pytest.mark.parametrize("way", ["by_adjoint", "by_duals", "second_by_adjoint", "second_by_duals"])
def test_a_wrong_derivative_is_found(monkeypatch, way):
    right = getattr(three_way, way)

    def wrong(*args):
        *others, derivative = right(*args)
        return *others, derivative * (1 + 5e-4)

    wrong.__name__ = way
    monkeypatch.setattr(three_way, way, wrong)
    program = Source(SAMPLE, frozenset())
    with pytest.raises(AssertionError, match=way):
        three_way.compare(program, three_way.Tally(), second=True)


def test_too_many_refusals_fail():
    tally = three_way.Tally(passed=90, refused=[("no lists", {"list"})] * 10)
    tally.seen.update({"list": 12})
    with pytest.raises(AssertionError, match="10 times: no lists\nlist: 10 of 12 refused"):
        tally.check()
    tally = three_way.Tally(passed=60)
    tally.aside["kink"] = 40
    with pytest.raises(AssertionError, match="kink"):
        tally.check()
