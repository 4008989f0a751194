"""Local fits from many starts, on any executor, with a progress bar and a journal."""

import sys
import warnings
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import contextmanager, nullcontext

import numpy as np

from numbad.errors import ModelError, NumbadWarning
from numbad.executors import opened
from numbad.fit.journal import Journal
from numbad.fit.local import LocalFit, first_evaluation, fit_from


def run_starts(problem, starts, seed=0, executor=None, progress=True, journal=None):
    """Return the `LocalFit` of each start, in the order of `starts`, shape (count, k).

    The result depends on the problem and the starts alone, not on the executor, on the order in
    which it finishes, nor on how often the run was killed and resumed from the journal.
    """
    if len(starts) == 1 and executor is None and journal is None:
        return [_fit_from(problem, 0, starts[0])]
    with _open(journal, problem, len(starts), seed) as record:
        finished = {} if record is None else dict(record.finished)
        waiting = [index for index in range(len(starts)) if index not in finished]
        if waiting:
            # Complains of an unusable model before any work, and compiles before workers fork.
            _check(problem, starts[0])
        with (
            _progress(len(starts), len(finished), progress) as advance,
            opened(executor) as pool,
        ):
            for fit in _stream(problem, starts, waiting, pool):
                if record is not None:
                    record.append(fit)
                finished[fit.index] = fit
                advance()
    return [finished[index] for index in range(len(starts))]


def _open(journal, problem, count, seed):
    if journal is None:
        return nullcontext()
    return Journal(journal, {**problem.digests, "starts": count, "seed": seed})


def best(fits):
    """Return the fit of lowest cost, the earliest start among equals."""
    found = min(fits, key=lambda fit: (fit.cost, fit.index))
    if not np.isfinite(found.cost):
        raise ModelError(f"no start could be evaluated; the first says: {fits[0].message}")
    return found


def _fit_from(problem, index, start):
    """Fit from one start: as the problem says, or by least squares."""
    own = getattr(problem, "fit_from", None)
    return fit_from(problem, index, start) if own is None else own(index, start)


def _check(problem, start):
    own = getattr(problem, "check", None)
    return first_evaluation(problem, start) if own is None else own(start)


def run_start(problem, index, start):
    """Fit from one start; a start where the model cannot be evaluated is recorded as failed."""
    try:
        return _fit_from(problem, index, start)
    except ModelError as error:
        start = tuple(map(float, start))
        return LocalFit(index, start, start, np.inf, 1, False, str(error))


def _stream(problem, starts, waiting, executor):
    """Yield fits as they finish: as the problem says, or one by one, or on an executor."""
    own = getattr(problem, "fit_together", None)
    if own is not None:
        yield from own(starts, waiting)
        return
    if executor is None or not waiting:
        yield from (run_start(problem, index, starts[index]) for index in waiting)
        return
    problem.prepare_to_travel()
    futures, lost = {}, []
    try:
        for index in waiting:
            try:
                futures[executor.submit(run_start, problem, index, starts[index])] = index
            except BrokenExecutor:
                lost.append(index)
        for future in as_completed(futures):
            try:
                fit = future.result()
            except BrokenExecutor:
                lost.append(futures[future])
                continue
            yield fit
    finally:  # what has not begun when the run is interrupted need not begin
        for future in futures:
            future.cancel()
    if lost:
        warnings.warn(
            f"a worker ended, killed or out of memory; the {len(lost)} starts that it and the others "
            "had not finished are fitted in this process",
            NumbadWarning,
            stacklevel=2,
        )
    yield from (run_start(problem, index, starts[index]) for index in sorted(lost))


@contextmanager
def _progress(total, done, wanted):
    """Give a function that advances a bar on standard error; silent where that is no terminal."""
    if not wanted or sys.stderr is None:
        yield lambda: None
        return
    from tqdm import tqdm

    options = {"desc": "fit", "unit": "start", "file": sys.stderr, "disable": None}
    with tqdm(total=total, initial=done, **options) as bar:
        yield bar.update
