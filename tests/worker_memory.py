"""Bounds the memory of a worker of pytest-xdist: tests run in a fork of it, in the next when that is full.

A process keeps the code that LLVM has compiled for it, some 9 GiB in a whole run. The worker imports and
collects all tests (11 s of CPU), compiles none, and forks; a fork that has grown over `LIMIT` tears its
fixtures down and ends between two tests, and another begins at once where the worker stands. What a fork
tells of its tests goes through the worker as it is. A fork that crashes takes the worker with it, so that
pytest-xdist reports the test and starts another worker. Where there is no `fork` (Windows) nothing is done.

A fork does not collect garbage, which would take a tenth of its time: its end frees all at once.
"""

import gc
import multiprocessing
import os
import sys
import traceback
import warnings

import pytest
from _pytest.reports import TestReport
from _pytest.runner import CallInfo
from numba import cuda

try:
    import resource
except ImportError:  # Windows does not tell in this way
    resource = None

LIMIT = 1.3 * 2**30  # bytes; one test adds up to 0.2 GiB
ENDS, GOES_ON = "ends", "goes on"


def peak():
    """The largest size of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def pytest_configure(config):
    # A driver for GPUs that has begun in a worker cannot go on in a fork of it.
    if hasattr(config, "workerinput") and hasattr(os, "fork") and not cuda.is_available():
        config.pluginmanager.register(Forks(config))


class Forks:
    """The forks of a worker, one after another; in a fork, the loop over what it is asked to run."""

    def __init__(self, config):
        self.config = config
        self.process = self.connection = self.filters = None
        self.in_fork = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self):
        self.filters = list(warnings.filters)  # those of a single test are added where it runs

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.in_fork:
            return None
        items, interactor = item.session.items, _interactor(self.config)
        if self.process is None:
            self._fork(items, interactor)
        self.connection.send((interactor.item_index, nextitem and interactor.nextitem_index))
        try:
            while (said := self.connection.recv()) not in (ENDS, GOES_ON):
                interactor.channel.send(said)
        except EOFError:
            sys.stdout.flush()
            os._exit(1)  # the test counts as crashed
        if said == ENDS:
            os.waitpid(self.process, 0)
            self.process = None
        return True

    def _fork(self, items, interactor):
        self.connection, its = multiprocessing.Pipe()
        self.process = os.fork()
        if self.process:
            its.close()
            return
        try:
            self.connection.close()
            self.in_fork = True
            interactor.channel = its
            warnings.filters[:] = self.filters
            gc.disable()
            self._run(items, interactor, its)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _run(self, items, interactor, connection):
        said = GOES_ON
        while said != ENDS:
            try:
                index, following = connection.recv()
            except EOFError:  # the worker has ended
                return
            interactor.item_index = index
            item = items[index]
            nextitem = None if following is None else items[following]
            self.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            if nextitem is None or peak() > LIMIT:
                _tear_down(item)
                said = ENDS
            connection.send(said)


def _interactor(config):
    """What talks to pytest-xdist in a worker; its class is none that can be imported."""
    plugins = config.pluginmanager.get_plugins()
    return next(plugin for plugin in plugins if type(plugin).__name__ == "WorkerInteractor")


def _tear_down(item):
    """Tear down what fixtures of modules and of the session have set up; tell of it where that fails."""
    ended = CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(None), "teardown")
    if ended.excinfo:
        item.ihook.pytest_runtest_logreport(report=TestReport.from_item_and_call(item, ended))
