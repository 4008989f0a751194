"""Every test and every example runs after one commit or another."""

import pytest

from tests import shares

NAMES = [f"docs/page_{k}.md::page_{k}.md" for k in range(40)]


@pytest.mark.parametrize("name", NAMES[:8])
def test_an_example_runs_in_one_of_sixteen_parts(name, monkeypatch):
    runs = []
    for part in range(64):
        monkeypatch.setattr(shares, "SHARE", f"{part}/64")
        runs.append(shares.in_turn(name))
    assert any(runs[:16])
    assert runs == (runs[:16] * 4)
    assert sum(runs[:16]) == 1


def test_all_and_none(monkeypatch):
    monkeypatch.setattr(shares, "SHARE", "all")
    assert all(map(shares.in_turn, NAMES))
    monkeypatch.setattr(shares, "SHARE", "none")
    assert 0 < sum(map(shares.in_turn, NAMES)) < 15


def test_parts_of_what_is_deep_hold_each_test_once():
    for name in NAMES[:5]:
        assert sum(shares.in_share(name, f"{part}/64") for part in range(64)) == 1
