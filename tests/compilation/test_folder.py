"""The folder of compiled code: whose it must be, and how much it holds."""

import os
import pickle
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import numbad as nd
from numbad.cli import main
from numbad.compilation import folder
from numbad.compilation.caching import FORMAT
from numbad.errors import CacheWarning

from .processes import environment

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are those of POSIX")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "_told", set())
    monkeypatch.setattr(folder, "_held", {})
    return tmp_path / "cache"


CHECKED = 16  # bytes before what an entry holds


def _entry(place, name, count=100, age=0.0):
    path = place / f"{name}.nbc"
    folder.write(path, b"x" * (count - CHECKED))
    used = time.time() - age
    os.utime(path, (used, used))
    return path


def _names(place):
    return {path.stem for path in place.glob("*.nbc")}


def test_the_longest_unused_go_first(place, monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_LIMIT", "1000")
    for k in range(10):
        _entry(place, k, age=100.0 - k)
    assert folder.read(place / "0.nbc") == b"x" * (100 - CHECKED)  # used, so that it stays
    _entry(place, "new")
    assert _names(place) == {"0", *"3456789", "new"}
    _entry(place, "large", 5000)
    assert _names(place) == {"large"}  # the one just written is never the one to go


def test_the_limit(monkeypatch):
    given = {"": 2**30, "500M": 500 * 2**20, "1.5 GiB": 3 * 2**29, "2000": 2000, "0": 0}
    for text, count in given.items():
        monkeypatch.setenv("NUMBAD_CACHE_LIMIT", text)
        assert folder.limit() == count
    monkeypatch.setenv("NUMBAD_CACHE_LIMIT", "plenty")
    with pytest.warns(CacheWarning, match="NUMBAD_CACHE_LIMIT=plenty is no number of bytes"):
        assert folder.limit() == 2**30


WRITER = """
import sys
from pathlib import Path
from numbad.compilation import folder
place = Path(sys.argv[1])
for k in range(300):
    folder.write(place / f"{sys.argv[2]}-{k}.nbc", b"x" * 1000)
    assert folder.read(place / f"{sys.argv[2]}-{k - 1}.nbc") in (b"", b"x" * 1000)
"""


def test_several_processes(place):
    settings = environment(place, NUMBAD_CACHE_LIMIT="50k")
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(place), name], env=settings)
        for name in "ab"
    ]
    assert [process.wait(300) for process in processes] == [0, 0]
    assert 0 < folder.size(place) <= 1.1 * 50 * 1024
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


@POSIX
def test_it_is_made_for_the_user_alone(place):
    path = _entry(place / "deeper", "entry")
    assert place.joinpath("deeper").stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


class _Evil:
    ran = False

    def __reduce__(self):
        return setattr, (_Evil, "ran", True)


def _derivative():
    k = 3.0
    return nd.grad(lambda x: k * x)(1.0)


@POSIX
@pytest.mark.parametrize("case", ["folder", "entries", "owner"])
def test_what_others_may_have_written_is_not_read(case, place, monkeypatch):
    assert _derivative() == 3.0
    (path,) = place.glob("*.nbc")
    folder.write(path, FORMAT + pickle.dumps(_Evil()))
    assert _derivative() == 3.0
    assert _Evil.ran, "the entry is read where it is trusted"
    _Evil.ran = False
    folder.write(path, FORMAT + pickle.dumps(_Evil()))
    before = path.stat().st_mtime_ns
    if case == "folder":
        place.chmod(0o770)
        told = "can be written by others"
    elif case == "entries":
        path.chmod(0o666)
        told = "can be written by others"
    else:
        other = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
        told = "belongs to user"
    with pytest.warns(CacheWarning, match=told) as warned:
        values = _derivative(), _derivative()
    assert values == (3.0, 3.0)
    assert len(warned) == 1
    assert not _Evil.ran
    if case == "entries":  # it has been written anew
        assert path.stat().st_mode & 0o777 == 0o600
    else:
        assert path.stat().st_mtime_ns == before


def test_the_command(place, capsys, monkeypatch):
    _entry(place, "one", 2048)
    _entry(place, "two", 1024)
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert str(place) in out
    assert "2 entries, 3 KiB of at most 1 GiB" in out
    assert main(["cache", "--clear"]) == 0
    assert "deleted 2 entries" in capsys.readouterr().out
    assert _names(place) == set()
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
    assert main(["cache"]) == 0
    assert "NUMBAD_CACHE_DIR=off" in capsys.readouterr().out


def test_a_trusted_folder_says_nothing(place):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        assert np.array_equal([_derivative(), _derivative()], [3.0, 3.0])


@POSIX
def test_a_warning_that_is_an_error_stays_what_it_is(place):
    assert _derivative() == 3.0
    place.chmod(0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CacheWarning, match="can be written by others"):
            _derivative()
