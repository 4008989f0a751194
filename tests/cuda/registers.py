"""How many registers a kernel takes, and what it spills."""

import tempfile
from pathlib import Path

from .assembler import usage


def registers_and_spills(ptx):
    """Registers of a thread and bytes spilled in the kernel of a PTX; the test is skipped without `ptxas`."""
    with tempfile.TemporaryDirectory() as folder:
        found = usage(ptx, Path(folder))
    return found.registers, found.spilled
