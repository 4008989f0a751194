"""What the driver of a GPU says, told in a sentence."""

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError

from numbad.cuda import device as gpu
from numbad.cuda.trajectories.accelerator import Accelerator
from numbad.errors import DeviceError


def refusing(code):
    def make(*given, **options):
        raise CudaAPIError(code, "as the driver says")

    return make


def test_a_full_gpu_is_told_in_a_sentence(monkeypatch):
    """Of a batch, and of an ensemble where less is free than there was."""
    monkeypatch.setattr(gpu, "free_bytes", lambda: 12_345_678)
    monkeypatch.setattr(cuda, "device_array", refusing(2))
    monkeypatch.setattr(cuda, "to_device", refusing(2))
    for make in (
        lambda: gpu.empty((10**9, 3), np.float32, 0),
        lambda: Accelerator().empty((10**9, 3), np.float32),
    ):
        with pytest.raises(DeviceError, match=r"array of 12\.0 GB: 12\.3 MB are free.*fewer"):
            make()
    for make in (
        lambda: gpu.on_device(np.zeros(1000), 0),
        lambda: Accelerator().copied(np.zeros(1000), np.float64),
    ):
        with pytest.raises(DeviceError, match=r"array of 8\.0 KB"):
            make()


def test_other_errors_of_the_driver_stay_what_they_are(monkeypatch):
    monkeypatch.setattr(cuda, "device_array", refusing(700))
    with pytest.raises(CudaAPIError, match="700"):
        gpu.empty((3,), np.float32, 0)
