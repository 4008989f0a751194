"""Kernels that run on the CPU, thread by thread."""

import pytest

# A numba-cuda without an IR of its own lacks what fixtures import: only tests that need it ask for them.


@pytest.fixture
def no_gpu(monkeypatch):
    """Lets device functions compile where there is no GPU."""
    from numba import cuda

    from .on_cpu import without_gpu

    if not cuda.is_available():
        without_gpu(monkeypatch)


@pytest.fixture
def twin(monkeypatch, no_gpu):
    """Lets ensembles run on the CPU; the kernels that ran."""
    from numbad.cuda.trajectories import ensemble_call

    from .twin_device import TwinDevice

    launched = []
    monkeypatch.setattr(ensemble_call, "Accelerator", TwinDevice)
    monkeypatch.setattr(TwinDevice, "launched", launched)
    return launched


@pytest.fixture
def host(monkeypatch):
    """Lets batches run on the CPU."""
    from .batches import Host
    from .on_cpu import without_gpu

    without_gpu(monkeypatch)
    return Host(monkeypatch)
