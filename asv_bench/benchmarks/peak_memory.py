"""Memory that a gradient takes at its peak beyond what the process held before, its result included.

The kernel's high-water mark of resident memory, set back after a small call that compiles; in a process
of its own, since what an allocator has kept from earlier calls would hide a part. The kernel counts
resident pages in batches, so what is below a few MiB is counted by the page faults instead.
"""

import math
import os
from pathlib import Path

from . import imports, problems

PROCESS = Path("/proc/self")
SCRIPT = """
from asv_bench.benchmarks import peak_memory
print(*peak_memory.mebibytes({problem!r}, {contender!r}))
"""
BATCHES = 2.0  # MiB below which the high-water mark is too coarse
# Large blocks come from and go back to the system, however many there were.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def _status(name):
    lines = (PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def _faults():
    """Pages that this process has touched for the first time."""
    import resource  # only where there is a /proc

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def mebibytes(problem, contender):
    """As `of_call`, for the first full call of a contender."""
    call = problems.contenders(problem)[contender]
    return of_call(problems.module(problem), call, problems.load()[problem])


def of_call(source, call, arguments):
    """MiB that a call takes after a small one, and those of the arrays that it returns.

    NaN where the system does not tell.
    """
    small = source.shorten(arguments)
    call(*small), call(*small)
    try:
        (PROCESS / "clear_refs").write_text("5")
        before, touched = _status("VmRSS"), _faults()
        result = call(*arguments)
        touched, peak = _faults() - touched, _status("VmHWM")
    except (OSError, ImportError):
        return math.nan, math.nan
    mark = (peak - before) / 1024
    taken = mark if mark > BATCHES else touched * os.sysconf("SC_PAGE_SIZE") / 2**20
    return taken, _array_bytes(result) / 2**20


def _array_bytes(result):
    if isinstance(result, tuple):
        return sum(map(_array_bytes, result))
    return getattr(result, "nbytes", 0)


def in_new_process(problem, contender):
    script = SCRIPT.format(problem=problem, contender=contender)
    environment = imports.environment(imports.Path.home()) | ENVIRONMENT
    last = imports.run("-c", script, env=environment).splitlines()[-1]
    return tuple(map(float, last.split()))
