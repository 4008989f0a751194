"""Ctrl-C put off while something must not stop half-way, and told apart from errors."""

import signal
import threading
from contextlib import ContextDecorator, contextmanager


@contextmanager
def put_off():
    """Whatever Ctrl-C does happens at the end of the block.

    LLVM cannot be interrupted, and Python would raise between two of its steps, or in what LLVM calls
    back, where the exception is lost.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # Python raises in its main thread alone
        return
    heard = []
    signal.signal(signal.SIGINT, lambda *call: heard.append(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])


class Interruptible(ContextDecorator):
    """Raises KeyboardInterrupt where Ctrl-C is behind an error.

    One that comes while compiled code raises an exception is turned into a SystemError by Python.
    """

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        cause = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if cause is not error and isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error


interruptible = Interruptible()
