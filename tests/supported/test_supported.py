"""The table of supported features: complete, and as the probes show it.

Compiling all probes takes minutes. Here run one in six of those that are refused and one in twenty of
the others, half of these with the deep tests. All of them run where Numba is newer than the table, where
NUMBAD_ALL_PROBES is set, and in `python -m tests.supported --check`. An older Numba lacks features of the
table: there it is not checked.
"""

import fnmatch
import os
from collections import Counter

import pytest

import numbad as nd

from . import names, table
from .sections import SECTIONS
from .status import CONSTANT, DIFFERENTIATED, REFUSED, expectation, status, statuses

EVERY = {REFUSED: 6, DIFFERENTIATED: 20, CONSTANT: 20}
PROGRAMS = list(table.programs(SECTIONS))
COMMITTED = table.committed()


def statuses_in_table(section, probe):
    return COMMITTED.get((section.title, table.shown(probe.feature)), (None, None))


def chosen(mode):
    """The programs that run in this mode."""
    column = table.MODES.index(mode)
    everything = "NUMBAD_ALL_PROBES" in os.environ or table.age() > 0
    counts = Counter()
    for name, section, probes in PROGRAMS:
        expected = statuses_in_table(section, probes[0])[column]
        counts[expected] += 1
        turn, rest = divmod(counts[expected], EVERY.get(expected, 1))
        if everything or rest == 0:
            marks = [] if everything or turn % 2 == 0 else [pytest.mark.deep]
            yield pytest.param(section, probes, mode, id=f"{mode}-{name}", marks=marks)


of_this_numba = pytest.mark.skipif(table.age() < 0, reason="the table is of a newer Numba")


@pytest.mark.dear
@of_this_numba
@pytest.mark.parametrize(("section", "probes", "mode"), [p for m in table.MODES for p in chosen(m)])
def test_the_table_says_what_the_probe_shows(section, probes, mode):
    column = table.MODES.index(mode)
    expected = {p.feature: statuses_in_table(section, p)[column] for p in probes}
    found = dict(zip(expected, statuses(probes, mode), strict=True))
    assert found == expected, "python -m tests.supported writes the table anew"


def test_every_probe_has_a_row_and_every_row_a_probe():
    probes = {(s.title, table.shown(p.feature)) for s in SECTIONS for p in s.probes}
    assert set(COMMITTED) == probes


def test_no_row_is_wrong():
    assert {found for row in COMMITTED.values() for found in row} <= {
        DIFFERENTIATED,
        CONSTANT,
        REFUSED,
    }


@of_this_numba
def test_every_feature_of_numba_has_a_row():
    probed = [name for s in SECTIONS for p in s.probes for name in p.names]
    missing = {
        name
        for name in names.supported()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in probed)
    }
    assert not missing
    assert not names.unknown_types()


def test_names_that_are_missing_are_found():
    found = names.supported()
    assert {"numpy.kron", "Array.repeat", "str.zfill", "Generator.wald", "random.gauss"} <= found
    assert len(found) > 600


@pytest.mark.dear
@of_this_numba
@pytest.mark.parametrize("section", SECTIONS, ids=table.key)
def test_every_probe_shows_something(section):
    """Under the interpreter: its derivative is not zero, and a constant's factor is all there is."""
    for probe in section.probes:
        if not probe.seeded and probe.feature not in STEPS:
            expectation(probe)


STEPS = {
    f"`Generator.{name}` by a parameter"
    for name in ("binomial", "geometric", "logseries", "poisson", "zipf")
}
"""Draws that are integers: they have no derivative by a parameter, and must be refused."""


def test_a_wrong_derivative_is_seen(monkeypatch):
    probe = SECTIONS[0].probes[0]
    assert status(probe, "forward") == DIFFERENTIATED
    true = nd.value_and_grad(probe.function, mode="forward")
    wrong = lambda f, mode: lambda x: (true(x)[0], true(x)[1] * 1.000001)  # noqa: E731
    monkeypatch.setattr(nd, "value_and_grad", wrong)
    assert status(probe, "forward").startswith("WRONG")
    monkeypatch.setattr(nd, "value_and_grad", lambda f, mode: lambda x: (true(x)[0], 0.0))
    assert status(probe, "forward").startswith("WRONG")
