"""Ctrl-C put off while something must not stop half-way."""

import signal
import threading
from contextlib import contextmanager


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
