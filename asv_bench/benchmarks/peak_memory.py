"""Memory that a gradient takes at its peak beyond what the process held before, its result included.

The kernel's high-water mark of resident memory, set back after a small call that compiles; in a process
of its own, since what an allocator has kept from earlier calls would hide a part.
"""

import math
from pathlib import Path

from . import imports, problems

PROCESS = Path("/proc/self")
SCRIPT = """
from asv_bench.benchmarks import peak_memory
print(peak_memory.mebibytes({problem!r}, {contender!r}))
"""
# Large blocks come from and go back to the system, however many there were.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def _status(name):
    lines = (PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def mebibytes(problem, contender):
    """MiB that the first full call takes, after a small one; NaN where the system does not tell."""
    call = problems.contenders(problem)[contender]
    arguments = problems.load()[problem]
    small = problems.module(problem).shorten(arguments)
    call(*small), call(*small)
    try:
        (PROCESS / "clear_refs").write_text("5")
        before = _status("VmRSS")
        result = call(*arguments)
        peak = _status("VmHWM")
    except OSError:
        return math.nan
    del result
    return (peak - before) / 1024


def in_new_process(problem, contender):
    script = SCRIPT.format(problem=problem, contender=contender)
    environment = imports.environment(imports.Path.home()) | ENVIRONMENT
    return float(imports.run("-c", script, env=environment).splitlines()[-1])
