"""Settings for all tests."""

import os

import pytest
from hypothesis import settings

from numbad.reverse.switches import off

# A first call compiles, so no example has a deadline; CI draws the same examples every time.
settings.register_profile("numbad", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("numbad"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "numbad")


def pytest_runtest_setup(item):
    """Skip what tests an optimisation that `NUMBAD_REVERSE_OFF` leaves out: see `.ci/switches`."""
    asked = {name for mark in item.iter_markers("shows") for name in mark.args or off()}
    missing = sorted(asked & off())
    if missing:
        pytest.skip(f"shows what {', '.join(missing)} does, which is switched off")
