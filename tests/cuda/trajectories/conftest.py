"""Tests of trajectories: all of them run on the CPU."""

import pytest


@pytest.fixture(autouse=True)
def kernels_on_the_cpu(twin):
    """Nobody has to ask for it."""
