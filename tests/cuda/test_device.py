"""The GPU: what is said where it is too old."""

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

from numbad.cuda import device
from numbad.errors import DeviceError


def test_a_gpu_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    old = type("Device", (), {"compute_capability": (3, 0)})
    monkeypatch.setattr(cuda, "get_current_device", lambda: old)
    with pytest.raises(DeviceError, match="capability 3.0.*compiles for"):
        device.capability()
