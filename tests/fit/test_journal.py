import json
import os
import signal
import sys
import time

import numpy as np
import pytest

from numbad.errors import DataError, NumbadWarning
from numbad.fit.journal import Journal
from numbad.fit.local import LocalFit

DIGESTS = {"model": "m", "data": "d", "starts": 3, "seed": 0}
AWKWARD = (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3)


def fit(index, cost=1.25):
    return LocalFit(index, AWKWARD, AWKWARD[::-1], cost, 7, True, "ende gut, alles gut: ½")


def written(path, fits):
    with Journal(path, DIGESTS) as journal:
        for one in fits:
            journal.append(one)
    return path.read_bytes()


def finished(path, digests=DIGESTS):
    with Journal(path, digests) as journal:
        return journal.finished


def test_what_was_written_comes_back_to_the_bit(tmp_path):
    path = tmp_path / "journal"
    fits = [fit(2), fit(0, np.inf), fit(1, 1 / 3)]
    written(path, fits)
    back = finished(path)
    assert list(back.values()) == fits
    assert repr(back[2].values) == repr(fit(2).values)


def test_is_on_the_disk_when_append_returns(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, DIGESTS) as journal:
        journal.append(fit(0))
        assert len(path.read_bytes().splitlines()) == 2


def test_cut_at_any_byte_it_keeps_every_whole_line_and_goes_on(tmp_path):
    path = tmp_path / "journal"
    content = written(path, [fit(0), fit(1)])
    for length in range(len(content)):
        path.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        assert sorted(finished(path)) == list(range(max(whole - 1, 0)))
        written(path, [fit(index) for index in range(max(whole - 1, 0), 2)])
        assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"t,y\n0,1\n1,2\n", b"one line", b"[1]\n", b"{}\n", b"\xff\n"])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match="data.csv: this file is not a journal"):
        finished(path)
    assert path.read_bytes() == content


def test_a_journal_of_another_problem_is_refused_saying_what_differs(tmp_path):
    path = tmp_path / "journal"
    content = written(path, [fit(0)])
    with pytest.raises(DataError, match="belongs to another fit: data, seed differ"):
        finished(path, {**DIGESTS, "data": "other", "seed": 1})
    assert path.read_bytes() == content


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "journal"
    lines = written(path, [fit(0), fit(1)]).splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:20] + b"\n" + lines[2])
    with pytest.raises(DataError, match="journal, line 2: damaged"):
        finished(path)


def test_a_journal_of_a_later_format_is_refused(tmp_path):
    path = tmp_path / "journal"
    path.write_text(json.dumps({"numbad journal": 99, **DIGESTS}) + "\n")
    with pytest.raises(DataError, match="format 99"):
        finished(path)


def test_a_path_that_cannot_be_opened_says_why(tmp_path):
    with pytest.raises(DataError, match="No such file or directory"):
        finished(tmp_path / "nowhere" / "journal")


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_two_runs_cannot_write_one_journal(tmp_path):
    path = tmp_path / "journal"
    child = os.fork()
    if not child:
        with Journal(path, DIGESTS):
            time.sleep(60)
        os._exit(0)
    try:
        while not (path.exists() and path.read_bytes().endswith(b"\n")):
            time.sleep(0.001)
        with pytest.raises(DataError, match="another running fit is writing it"):
            finished(path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert finished(path) == {}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_ends_the_journal_and_not_the_fit(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, DIGESTS) as journal:
        journal.append(fit(0))
        journal.file.flush()
        full = os.open("/dev/full", os.O_RDWR)
        os.dup2(full, journal.file.fileno())
        os.close(full)
        with pytest.warns(NumbadWarning, match="No space left.*the fit goes on"):
            journal.append(fit(1))
        journal.append(fit(2))
        assert sorted(journal.finished) == [0, 1, 2]
    assert sorted(finished(path)) == [0]
