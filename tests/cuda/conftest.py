"""Kernels that run on the CPU, thread by thread."""

import pytest


@pytest.fixture
def twin(monkeypatch):
    """Lets ensembles run on the CPU; the kernels that ran."""
    # A numba-cuda without an IR of its own lacks what is imported: only tests that need it ask for it.
    from numba import cuda

    from numbad.cuda.trajectories import ensemble_call

    from .on_cpu import without_gpu
    from .twin_device import TwinDevice

    if not cuda.is_available():
        without_gpu(monkeypatch)
    launched = []
    monkeypatch.setattr(ensemble_call, "Accelerator", TwinDevice)
    monkeypatch.setattr(TwinDevice, "launched", launched)
    return launched
