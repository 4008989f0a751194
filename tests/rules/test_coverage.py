import math
import operator

import numpy as np

from numbad.rules import CONSTANT, SCALAR, STRUCTURAL, coverage


def test_nothing_that_numba_supports_on_floats_is_missing():
    assert coverage.missing() == []


def test_the_search_would_notice_a_function_without_rule(monkeypatch):
    for fn in (math.sin, np.hypot, operator.mul):
        monkeypatch.delitem(SCALAR, fn)
    monkeypatch.delitem(STRUCTURAL, divmod)
    assert set(coverage.missing()) == {math.sin, np.hypot, operator.mul, divmod}


def test_no_reason_is_given_for_nothing():
    for fn, reason in coverage.WITHOUT_RULE.items():
        assert coverage._takes_floats(fn), fn
        assert reason
        assert fn not in (*SCALAR, *CONSTANT, *STRUCTURAL)


def test_integers_and_dates_are_told_from_floats():
    for fn in (np.bitwise_and, np.gcd, np.left_shift, np.isnat, operator.xor, len):
        assert not coverage._takes_floats(fn)
