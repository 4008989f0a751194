"""What takes `executor=`: a number of threads, or an executor of the user's."""

import operator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from numbad.errors import ArgumentError


@contextmanager
def opened(executor):
    """The executor, one of so many threads for a number, or None."""
    if executor is None or isinstance(executor, Executor):
        yield executor
        return
    with ThreadPoolExecutor(_threads(executor)) as pool:
        yield pool


def _threads(executor):
    try:
        count = operator.index(executor)
    except TypeError:
        count = 0
    if count < 1:
        raise ArgumentError(
            f"executor is a number of threads, 1 or more, or an executor, not {executor!r}"
        )
    return count
