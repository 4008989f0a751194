"""Ends a worker of pytest-xdist that holds much memory, between two tests; another takes its place.

A process keeps the code that LLVM has compiled for it, some 9 GiB in a whole run. A worker over
`LIMIT` leaves word of the test that it was given next, and ends; its crash is then no failure, and the
test runs elsewhere. The last test of a worker runs where it is: when all workers are at their last ones,
pytest-xdist has begun to end, and takes a worker that ends otherwise then for an error of its own.
"""

import contextlib
import hashlib
import itertools
import os
import sys
import tempfile
from pathlib import Path

import pytest

try:
    import resource
except ImportError:  # Windows does not tell in this way
    resource = None

LIMIT = 1.3 * 2**30  # bytes; one test adds up to 0.2 GiB
RESTARTS = "1000"
_started = itertools.count()


def peak():
    """The largest size of this process so far, in bytes."""
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def pytest_configure(config):
    if getattr(config.option, "maxworkerrestart", "") is None:
        config.option.maxworkerrestart = RESTARTS


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    run = getattr(item.config, "workerinput", {}).get("testrunuid")
    if not run or nextitem is None:
        return
    if peak() > LIMIT and next(_started):  # one test at least, else it would go on forever
        _word(run, item.nodeid).touch()
        sys.stdout.flush()
        os._exit(0)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """What is sent to a worker that has ended, before it is known, goes to another when it is."""
    send = node.sendcommand

    def sendcommand(name, **arguments):
        with contextlib.suppress(OSError):
            send(name, **arguments)

    node.sendcommand = sendcommand


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem, report, sched):
    word = _word(report.node.workerinput["testrunuid"], crashitem)
    if word.exists():
        word.unlink()
        report.outcome, report.when, report.longrepr = "passed", "setup", None
        sched.mark_test_pending(crashitem)


def _word(run, name):
    """The file that says that a worker ended before a test, of its own will."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"numbad-{run}-{digest}"
