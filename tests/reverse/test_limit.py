"""The limit of the tape's memory, as the environment says it."""

import subprocess
import sys

import pytest

from numbad.errors import ArgumentError
from numbad.reverse import memory

pytestmark = pytest.mark.usefixtures("counts", "limit")


@pytest.mark.parametrize(
    ("text", "size"), [("123", 123), ("5K", 5120), (" 2m ", 2**21), ("3G", 3 * 2**30)]
)
def test_limit_in_bytes(text, size):
    assert memory.limit_from(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5G", "lots", "1T", "9999999999G"])
def test_malformed_limit_is_refused(text):
    with pytest.raises(ArgumentError, match="NUMBAD_TAPE_LIMIT"):
        memory.limit_from(text)


@pytest.mark.dear
def test_limit_is_read_from_the_environment():
    code = "import numbad.reverse.value_tape, numbad; print(numbad.TapeLimitError.limit)"

    def run(value):
        env = {"NUMBAD_TAPE_LIMIT": value, "PYTHONPATH": ":".join(filter(None, sys.path))}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert run("7K").stdout.strip() == "7168"
    assert "ArgumentError: NUMBAD_TAPE_LIMIT is 'x'" in run("x").stderr


CACHED = """
import sys
import numpy as np
from numba import njit
from numbad.reverse.memory import set_tape_limit
from numbad.reverse.value_tape import call_guarded, push_frame, tape_start

@njit
def inner(tape, args, shadows, seed):
    top = tape_start(tape)
    for i in range(args[0]):
        top = push_frame(tape, top, "cached, line 7", i)
    return seed * args[0]

@njit(cache=True)
def outer(n):
    return call_guarded(inner, (n,), None, 2.0)

print(outer(100_000))
set_tape_limit(int(sys.argv[1]))
try:
    outer(100_000)
except MemoryError as error:
    print(error)
print(sum(outer.stats.cache_hits.values()))
"""


@pytest.mark.deep
def test_cached_code_finds_the_limit_of_its_process(tmp_path):
    script = tmp_path / "cached.py"
    script.write_text(CACHED, encoding="utf-8")

    def run(limit):
        env = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path))}
        command = [sys.executable, str(script), str(limit)]
        found = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return found.stdout.splitlines()

    for limit, hits in ((400_000, "0"), (300_000, "1")):
        value, error, found = run(limit)
        assert value == "200000.0"
        assert "cached, line 7" in error
        assert f"limit of {limit} bytes" in error
        assert found == hits
