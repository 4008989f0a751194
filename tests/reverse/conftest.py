"""What tests of the adjoint's memory begin with, and what they leave as it was."""

import pytest
from numba.core.runtime import _nrt_python

from numbad.errors import TapeLimitError
from numbad.reverse.loops import replayable
from numbad.reverse.memory import pool_bytes, release_pool, set_tape_limit


@pytest.fixture(scope="package", autouse=True)
def small_programs_run_again():
    """Let loops run again where that records half as much: those of tests are shorter than a user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replayable, "MANY", replayable.LEAST)
        yield


@pytest.fixture(scope="module")
def counts():
    """Let Numba count its allocations."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.fixture
def limit():
    """Restore the limit, and begin and end without pooled memory."""
    before = TapeLimitError.limit
    release_pool()
    yield before
    set_tape_limit(before)
    release_pool()
    assert pool_bytes() == 0
