"""What `solve_ivp` returns: SciPy's fields and shapes."""

import pytest

from tests.ode.test_ivp import ARGUMENTS, SPAN, START, both, predators


@pytest.mark.dear
def test_fields_and_shapes():
    ours, theirs = both(predators, SPAN, START, args=ARGUMENTS, dense_output=True)
    assert set(ours) >= set(theirs) - {"t_events", "y_events"}
    assert ours.t_events is None
    assert ours.y_events is None
    assert ours.success is True
    assert (ours.status, ours.message) == (theirs.status, theirs.message)
    assert ours.y.shape == (2, len(ours.t))
    assert ours.t[0] == SPAN[0]
    assert ours.t[-1] == SPAN[1]
    assert 0.5 < ours.nfev / theirs.nfev < 1.5
    assert ours.njev == ours.nlu == 0
    assert ours["t"] is ours.t
    assert "success" in repr(ours)
    with pytest.raises(AttributeError):
        _ = ours.missing
