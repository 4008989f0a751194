"""How many threads a kernel is launched with."""

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
from numbad.cuda.launch import launch_for, resident


def test_launches_hold_as_many_threads_as_registers_allow():
    # CUDA occupancy: 65,536 registers and 2,048 threads a multiprocessor.
    assert [resident(r, 128) for r in (32, 48, 96, 128, 168, 255)] == [
        2048,
        1280,
        640,
        512,
        384,
        256,
    ]
    assert launch_for(10, 32, 132).blocks == 1
    many = launch_for(8_388_608, 96, 132)
    assert many.blocks % 132 == 0
    assert many.blocks * many.threads < 8_388_608
    assert resident(96, many.threads) == 640
    assert launch_for(1000, 32, 132, threads=64).blocks == 16
