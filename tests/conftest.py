"""Settings for all tests."""

import fnmatch
import gc
import os
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem, DoctestModule
from hypothesis import settings

import numbad as nd
from numbad.compilation.interpreter import with_room_for_frames
from numbad.reverse.switches import off
from numbad.rules import registry
from tests import shares

pytest_plugins = ["tests.worker_memory"]

# A first call compiles, so no example has a deadline; CI draws the same examples every time.
settings.register_profile("numbad", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("numbad"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "numbad")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no doctests: to look for some takes each worker a second."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_collection_finish(session):
    """What is there before the first test stays: collections of garbage need not walk over it.

    Where tests run in forks, each begins with what the first gradient in a process compiles.
    """
    if hasattr(session.config, "workerinput"):
        for mode in ("forward", "reverse"):
            nd.grad(_square, mode=mode)(1.0)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _square(x):
    return x * x


@pytest.hookimpl(tryfirst=True)
@with_room_for_frames
def pytest_pyfunc_call(pyfuncitem):
    """Call a test as pytest does, with memory for the frames of the compilers that it calls."""
    pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    return True


def pytest_runtest_setup(item):
    """Skip what tests an optimisation that `NUMBAD_REVERSE_OFF` leaves out: see `.ci/switches`."""
    asked = {name for mark in item.iter_markers("shows") for name in mark.args or off()}
    missing = sorted(asked & off())
    if missing:
        pytest.skip(f"shows what {', '.join(missing)} does, which is switched off")


def pytest_collection_modifyitems(config, items):
    """Leave out what is marked `deep`, but for a share: `NUMBAD_DEEP=1/4`, the second of four, or `all`.

    Of examples, and of what is marked `dear`, all but a sixteenth are left out, others for each part; those
    of README and of most pages of the docs run in any case.

    `deep(but=[...])` marks all cases of a parametrised test but those with these ids (or patterns of
    ids, as of file names). What is asked for by name (`path::test`, a page, `-k`, `-m`) runs.
    """
    pages = all(argument.endswith(".md") for argument in config.args)
    asked = pages or any("::" in argument for argument in config.args)
    shares.asked_by_name = bool(asked or config.option.keyword or config.option.markexpr)
    if shares.asked_by_name:
        return
    _check_exceptions(items)
    left_out = [item for item in items if _is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    left_out = set(left_out)
    items[:] = [item for item in items if item not in left_out]


_LONG_PAGES = "ode", "sde"  # of most of a minute


def _is_left_out(item):
    if isinstance(item, DoctestItem):
        page = Path(item.nodeid.split("::")[0])
        runs = page.suffix == ".md" and page.stem not in _LONG_PAGES
        return not runs and not shares.in_turn(item.nodeid)
    if _is_deep(item):
        return not shares.in_share(item.nodeid)
    return item.get_closest_marker("dear") is not None and not shares.in_turn(item.nodeid)


def _is_deep(item):
    """Whether a test is marked `deep` and its case is none of the exceptions."""
    return any(
        not any(fnmatch.fnmatchcase(_case(item), pattern) for pattern in mark.kwargs.get("but", ()))
        for mark in item.iter_markers("deep")
    )


def _case(item):
    """The id of a test's case: what stands in brackets after its name."""
    return item.callspec.id if hasattr(item, "callspec") else ""


def _check_exceptions(items):
    """A renamed case must not become deep unseen: every exception of a mark names a case."""
    cases = {}
    for item in items:
        for mark in item.iter_markers("deep"):
            for pattern in mark.kwargs.get("but", ()):
                cases.setdefault((item.nodeid.partition("[")[0], pattern), []).append(_case(item))
    for (test, pattern), ids in cases.items():
        if not any(fnmatch.fnmatchcase(name, pattern) for name in ids):
            raise pytest.UsageError(f"{test}: no case is named {pattern!r}, as deep(but=...) says")


@pytest.fixture
def rules_of_the_test():
    """Rules given within a test end with it."""
    tables = registry.SCALAR, registry.JVP, registry.VJP, registry.GIVEN
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)
