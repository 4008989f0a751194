"""Paths spread over threads and processes: the same bits."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import numbad as nd
from numbad.sde.spreading import mapping
from tests.sde.test_ensembles import ARGS, KEY, SOLVE, TIMES, _end


@pytest.mark.deep
def test_processes_give_the_same_bits():
    given = SOLVE, 1.0, TIMES, ARGS, KEY, 1000
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = nd.sde.ensemble(*given, reduce=_end, executor=pool)
    assert found == nd.sde.ensemble(*given, reduce=_end)


@pytest.mark.deep
@pytest.mark.parametrize("executor", [1, 2, 5, 16])
def test_any_number_of_threads_gives_the_same_bits(executor):
    given = SOLVE, 1.0, TIMES, ARGS, KEY, 1000
    assert nd.sde.ensemble(*given, reduce=_end, executor=executor) == nd.sde.ensemble(
        *given, reduce=_end
    )


def test_what_is_no_executor_is_told():
    """Dask's client has `submit` and `map`, which give futures of its own; its `get_executor()` is one."""

    class Client:
        submit = map = None

    given = SOLVE, 1.0, TIMES, ARGS, KEY, 10
    with pytest.raises(nd.ArgumentError, match="a number of threads, 1 or more, or an executor"):
        nd.sde.ensemble(*given, reduce=_end, executor=Client())


def test_control_c_is_a_keyboard_interrupt():
    """Python makes a SystemError of one that comes while compiled code raises."""
    with pytest.raises(KeyboardInterrupt), mapping(None):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
