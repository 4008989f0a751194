"""Which tests each optimisation of reverse mode has a part in: a plugin of pytest for `.ci/switches`.

    pytest -p tests.reverse.affected --affected-into FILE ...   # find them: runs all tests given
    pytest -p tests.reverse.affected --affected-by NAME --affected-in FOLDER ...   # run those alone

Whenever a test compiles an adjoint, its blocks are made once more without each optimisation. Where
they come out the same, the code is the same, and the test need not run without that optimisation.
"""

import json
import os
import re
import subprocess
import sys
import weakref
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from numba.core import ir
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from numbad.compilation.caching import SWITCHED_OFF
from numbad.reverse import switches
from numbad.reverse.pipeline import PairPart, Pull
from numbad.rules.registry import renew

ALL = "all"  # everything switched off at once
CHOICES = {**{name: name for name in switches.SWITCHES}, ALL: ",".join(switches.SWITCHES)}
CACHE = "NUMBAD_CACHE_DIR"

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_NUMBERED = re.compile(r"[\w$.]*\d[\w$.]*")


def pytest_addoption(parser):
    group = parser.getgroup("affected")
    group.addoption("--affected-into", help="the file to note down what affects which test in")
    group.addoption("--affected-by", choices=CHOICES, help="run the tests that this affects")
    group.addoption("--affected-in", help="the folder of what was noted down")


def pytest_configure(config):
    if config.option.affected_into:
        os.environ[CACHE] = "off"  # what is loaded is not compiled
        config.pluginmanager.register(Recorder(Path(config.option.affected_into)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    name = config.option.affected_by
    if not name:
        return
    noted = read(Path(config.option.affected_in))
    unknown = [item.nodeid for item in items if item.nodeid not in noted]
    if unknown:
        raise pytest.UsageError(f"nothing noted of {len(unknown)} tests, {unknown[0]} for one")
    others = [item for item in items if name not in noted[item.nodeid]]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if name in noted[item.nodeid]]


def read(folder):
    """The names of what affects a test, for each test noted in the files of a folder."""
    noted = {}
    for file in folder.glob("*.json"):
        noted |= json.loads(file.read_text())
    return noted


class Recorder:
    """Notes down, test by test, without which optimisations the code would be another."""

    trying = False  # whether blocks are being made that nobody will run

    def __init__(self, file):
        self.file, self.noted, self.here = file, {}, set()
        self.inside = False
        self.dispatchers = weakref.WeakSet()
        self._watch_dispatchers()
        self._watch_blocks(Pull)
        self._watch_blocks(PairPart)
        self._watch_processes()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        """One test, with nothing left over from the tests before it."""
        self._watch_questions()
        self._forget()
        self.here = set()
        yield
        self.noted[item.nodeid] = sorted(self.here)

    def pytest_sessionfinish(self):
        self.file.write_text(json.dumps(self.noted, indent=1))

    def _watch_dispatchers(self):
        created = CPUDispatcher.__init__

        def init(dispatcher, *args, **kwargs):
            created(dispatcher, *args, **kwargs)
            self.dispatchers.add(dispatcher)

        CPUDispatcher.__init__ = init

    def _forget(self):
        """Drop compiled code of tests, and have derivatives built anew."""
        for dispatcher in list(self.dispatchers):
            module = dispatcher.py_func.__module__ or "tests"  # None where a test wrote the source
            again = dispatcher._can_compile  # not where the signatures are given
            if module.partition(".")[0] == "tests" and dispatcher.overloads and again:
                dispatcher._make_finalizer()()
                dispatcher._reset_overloads()
        renew()

    def _watch_questions(self):
        """A switch that something else than a pipeline asks for counts as a part of the test."""

        def enabled(name):
            if not self.inside:
                self.here.add(name)
            return asked(name)

        asked = switches.enabled
        if not hasattr(asked, "recorded"):
            enabled.recorded = True
            for module in list(sys.modules.values()):
                if vars(module).get("enabled") is asked:
                    module.enabled = enabled

    def _watch_processes(self):
        """Nothing is known of what another process compiles."""
        started = subprocess.Popen.__init__

        def init(process, *args, **kwargs):
            self.here.update(CHOICES)
            started(process, *args, **kwargs)

        subprocess.Popen.__init__ = init

    def _watch_blocks(self, cls):
        made = cls.blocks

        def blocks(pull, state, scope):
            if self.trying:
                return made(pull, state, scope)
            make = partial(made, pull, state)
            with self._inside():
                others = self._without_each(pull, make, scope)
                found = _attempt(make, scope)
            code = text(pull, found)
            self.here |= {name for name, other in others.items() if other != code}
            if isinstance(found, Exception):
                raise found
            return found

        cls.blocks = blocks

    @contextmanager
    def _inside(self):
        before, self.inside = self.inside, True
        try:
            yield
        finally:
            self.inside = before

    def _without_each(self, pull, make, scope):
        """The code without each optimisation, of those whose part in the test is not known yet."""
        before = os.environ.get(SWITCHED_OFF, "")
        Recorder.trying = True
        try:
            codes = {}
            for name in CHOICES.keys() - self.here:
                os.environ[SWITCHED_OFF] = f"{before},{CHOICES[name]}"
                codes[name] = text(pull, _attempt(make, ir.Scope(None, scope.loc)))
            return codes
        finally:
            Recorder.trying = False
            os.environ[SWITCHED_OFF] = before


def _attempt(make, scope):
    """The blocks, or the error that says why there are none."""
    try:
        return make(scope)
    except NumbaError as error:
        return error


def text(pull, blocks):
    """Code as text, which is the same for the same code: numbers in names count from the first on."""
    if isinstance(blocks, Exception):
        return str(blocks)
    lines = [repr((pull.strict, pull.checked, pull.natural))]
    for label, block in sorted(blocks.items()):
        lines += [f"{label}:", *map(str, block.body)]
    known = {}
    return _NUMBERED.sub(
        lambda found: known.setdefault(found.group(), f"_{len(known)}"),
        _ADDRESS.sub("", "\n".join(lines)),
    )
