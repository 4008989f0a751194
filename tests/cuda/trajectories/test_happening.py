"""Changes by events that return no state."""

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_event_march import TIMES, free_fall, height


@pytest.mark.dear
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, y, gravity, kept: (y[0], y[1], 0.0), "as long as the one it is given"),
        (lambda t, y, gravity, kept: None, "written out"),
    ],
)
def test_a_change_that_returns_no_state_is_refused(change, message):
    solve = nd.ode.solver(free_fall, events=nd.ode.event(height, change=change))
    with pytest.raises(nd.ModelError, match=message):
        device.ensemble(solve, (1.0, 0.0), TIMES, (10.0, 0.9))
