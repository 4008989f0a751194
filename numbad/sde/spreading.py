"""Blocks of paths spread over threads or processes, in an order that changes nothing."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import typeof

from numbad.executors import opened
from numbad.interrupts import interruptible
from numbad.sde.ensemble_source import Ensemble, plan_of
from numbad.sde.grid import grid

_PARTS = 64


@dataclass(frozen=True)
class Chunk:
    """What becomes of some blocks: what an executor runs, in a thread or, compiled there, in a process.

    `code(plan, y0, args)` is the compiled function for types, `more` its last arguments.
    """

    code: object
    plan: Ensemble
    y0: object
    args: object
    times: np.ndarray
    key: np.uint64
    paths: int
    more: tuple = ()

    @cached_property
    def given(self):
        """The compiled code and what it is given of all blocks."""
        problem, types_ = self.plan.problem, (typeof(self.y0), typeof(self.args))
        steps = (self.times, self.times) if problem.goes_alone else grid(self.times, problem.dt)
        channels, size = plan_of(self.plan, *types_)(self.y0, self.times, self.args, steps[1].size)
        return self.code(self.plan, *types_), steps, channels, size

    @property
    def outputs(self):
        return self.given[1][0].size

    @property
    def size(self):
        """How many paths a block has."""
        return self.given[-1]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "given"}

    def __call__(self, start, stop):
        code, steps, channels, size = self.given
        given = self.y0, self.args, steps, channels, size, self.key, self.paths, start, stop
        return code(*given, *self.more)

    def parts(self, run, progress):
        """What comes of all blocks, part after part; `run` is `map`, or an executor's."""
        blocks = -(-self.paths // self.size)
        starts = range(0, blocks, max(1, blocks // _PARTS))
        stops = [min(start + starts.step, blocks) for start in starts]
        return _shown(run(self, starts, stops), len(starts), progress)


@contextmanager
def mapping(executor):
    """`map` over what `ensemble` takes as an executor."""
    with interruptible, opened(executor) as pool:
        yield map if pool is None else pool.map


def _shown(parts, count, progress):
    """The parts, with a bar on standard error where that is a terminal."""
    if not progress or sys.stderr is None:
        return parts
    from tqdm import tqdm

    return tqdm(parts, total=count, desc="paths", file=sys.stderr, disable=None)
