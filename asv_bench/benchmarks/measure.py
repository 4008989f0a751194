"""Timing that survives a shared machine: one core, interleaved samples, each beside one of a base.

Contenders take turns in one process. Right before every sample of a contender comes a sample of the
base, so a slow phase of the machine falls on both, and what is reported is the median of the paired
ratios. The best of each is reported too: a sample of a millisecond or two often runs undisturbed.
"""

import argparse
import contextlib
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

SAMPLE_SECONDS = 2e-3
CASE_SECONDS = 2.0


class Clock:
    """The clock that samples are taken with; processor time where the machine is shared."""

    now = staticmethod(time.perf_counter)

    @classmethod
    def use_processor_time(cls):
        cls.now = staticmethod(time.process_time)


def pin() -> None:
    """Keep this process on the last of the cores that it may use, where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@dataclass
class Timing:
    """Seconds per call of a contender, and of the base sampled right before each."""

    own: list[float] = field(default_factory=list)
    base: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return float(np.median(self.own))

    @property
    def best(self) -> float:
        return min(self.own)

    @property
    def ratio(self) -> float:
        """Median of the paired ratios to the base."""
        return float(np.median(np.array(self.own) / np.array(self.base)))

    @property
    def best_ratio(self) -> float:
        return min(self.own) / min(self.base)

    @property
    def excess(self) -> float:
        """Median of the paired differences to the base, in seconds."""
        return float(np.median(np.array(self.own) - np.array(self.base)))


def sample(call: Callable, number: int) -> float:
    """Seconds per call over `number` calls in a row."""
    repeats = range(number)
    start = Clock.now()
    for _ in repeats:
        call()
    return (Clock.now() - start) / number


def calls_per_sample(call: Callable, seconds: float) -> int:
    """How many calls fill a sample; the first call, which may compile, is not counted."""
    call()
    once = sample(call, 1)
    number = max(1, min(10_000, math.ceil(seconds / max(once, 1e-9))))
    return number if number == 1 else max(1, math.ceil(seconds / max(sample(call, number), 1e-9)))


def beside(
    base: Callable,
    cases: dict[str, Callable],
    *,
    samples: int = 41,
    seconds: float = SAMPLE_SECONDS,
    case_seconds: float = CASE_SECONDS,
) -> dict[str, Timing]:
    """Time `cases` in turns, a sample of `base` before every sample of theirs.

    A case that takes long gets fewer samples (three at least), about `case_seconds` in all.
    """
    base_number = calls_per_sample(base, seconds)
    numbers = {name: calls_per_sample(call, seconds) for name, call in cases.items()}
    rounds = {
        name: int(np.clip(case_seconds / (sample(call, numbers[name]) * numbers[name]), 3, samples))
        for name, call in cases.items()
    }
    timings = {name: Timing() for name in cases}
    for turn in range(max(rounds.values(), default=0)):
        for name, call in cases.items():
            if turn < rounds[name]:
                timings[name].base.append(sample(base, base_number))
                timings[name].own.append(sample(call, numbers[name]))
    return timings


@dataclass
class Row:
    """A line of the table: what was measured, and the bar it must reach (None: for information)."""

    name: str
    value: float
    unit: str = "ratio"
    bar: float | None = None
    at_least: bool = False
    best: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        if self.bar is None:
            return True
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    @property
    def verdict(self) -> str:
        return "" if self.bar is None else ("ok" if self.met else "MISSED")

    @property
    def bar_text(self) -> str:
        return "" if self.bar is None else f"{'>=' if self.at_least else '<='} {self.bar:g}"


def ratio_row(name: str, timing: Timing, bar: float | None = None, note: str = "") -> Row:
    """The ratio to the base, with the milliseconds of a call beside it."""
    note = f"{timing.median * 1e3:.4g} ms{'; ' if note else ''}{note}"
    return Row(name, timing.ratio, bar=bar, best=timing.best_ratio, note=note)


def print_table(title: str, rows: list[Row]) -> bool:
    """Print `rows` under `title`; true where every bar is met."""
    width = max([len(row.name) for row in rows], default=10)
    print(f"\n{title}\n{'':{width}}  {'median':>10}  {'best':>10}  {'unit':6}  {'bar':>9}")
    for row in rows:
        best = "" if row.best is None else f"{row.best:.4g}"
        cells = f"{row.value:>10.4g}  {best:>10}  {row.unit:6}  {row.bar_text:>9}  {row.verdict:6}"
        print(f"{row.name:{width}}  {cells}  {row.note}".rstrip(), flush=True)
    return all(row.met for row in rows)


@contextlib.contextmanager
def skipping(what: str):
    """Skip a contender whose package is not installed, and say so."""
    try:
        yield
    except ImportError as error:
        print(f"skipped: {what} ({error})", flush=True)


def options(description: str, *, one_core: bool = True) -> argparse.Namespace:
    """The options that every script of the benchmarks has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--samples", type=int, default=41, help="samples of each contender")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count the time on the processor instead of wall time (for a shared machine)",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave out other packages")
    arguments = parser.parse_args()
    if arguments.processor_time:
        Clock.use_processor_time()
    if one_core:
        pin()
    return arguments
