"""NVIDIA's assembler, which needs no driver: registers, stack and spills of a kernel."""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Usage:
    """Registers of a thread; bytes that it stores for want of registers; bytes of local memory."""

    registers: int
    spilled: int
    stack: int


def assembler():
    """The path of `ptxas`; the test is skipped without it."""
    nvidia = importlib.util.find_spec("nvidia")
    packaged = [
        path / "cuda_nvcc" / "bin"
        for path in map(Path, nvidia.submodule_search_locations if nvidia else ())
    ]
    found = shutil.which("ptxas") or shutil.which("ptxas", path=os.pathsep.join(map(str, packaged)))
    return found or pytest.skip("no ptxas on this machine")


def usage(ptx, folder):
    """What the one kernel in a PTX text uses, on the architecture that it is for."""
    text, made = folder / "kernel.ptx", folder / "kernel.cubin"
    text.write_text(ptx)
    (architecture,) = re.findall(r"\.target (sm_\w+)", ptx)
    command = [assembler(), "-v", f"-arch={architecture}", "-o", made, text]
    done = subprocess.run(command, capture_output=True, text=True)
    if "Unsupported .version" in done.stderr:
        pytest.skip("ptxas is older than the toolkit that wrote the PTX")
    assert done.returncode == 0, done.stderr
    registers = re.findall(r"Used (\d+) registers", done.stderr)
    found = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr
    )
    assert found  # a line for the kernel, and for each function that is not put in place
    stacks, stores, loads = zip(*(map(int, line) for line in found), strict=True)
    return Usage(max(map(int, registers)), sum(stores) + sum(loads), max(stacks))
