"""The plugin that finds which tests an optimisation has a part in."""

import json
import os
import subprocess
import sys

import pytest

from numbad.compilation.caching import SWITCHED_OFF

FILE = "tests/operators/test_reverse_calls.py"
TESTS = f"{FILE}::test_from_njit", f"{FILE}::test_from_cfunc"  # of one derivative


DECLARED = "tests/ir/test_signatures.py::test_members_of_tuples_are_converted"  # of two modes


def run(*options, tests=TESTS):
    """What becomes of the tests, with the plugin."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.reverse.affected", *tests]
    plain = {**os.environ, "PYTEST_ADDOPTS": "", SWITCHED_OFF: ""}  # its own output is read
    return subprocess.run([*command, *options], capture_output=True, text=True, env=plain)


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    file = tmp_path_factory.mktemp("noted") / "loops.json"
    done = run("--affected-into", file)
    assert done.returncode == 0, done.stdout
    return file


@pytest.mark.deep
def test_every_test_is_noted_as_if_it_were_the_only_one(noted):
    affected = json.loads(noted.read_text())
    assert affected.keys() == set(TESTS)
    for names in affected.values():
        assert {"all", "counted"} <= set(names)
        assert not {"parallel", "replay", "stencils", "stack"} & set(names)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "chosen"), [("counted", TESTS), ("replay", ())])
def test_what_is_affected_is_chosen(noted, name, chosen):
    done = run("--affected-by", name, "--affected-in", noted.parent, "--collect-only")
    found = [line for line in done.stdout.splitlines() if "::" in line]
    assert found == list(chosen)


@pytest.mark.deep
def test_a_test_that_was_not_noted_is_an_error(noted, tmp_path):
    done = run("--affected-by", "counted", "--affected-in", tmp_path, "--collect-only")
    assert done.returncode == 4
    assert "nothing noted of 2 tests" in done.stdout + done.stderr


@pytest.mark.deep
def test_functions_of_given_signatures_stay_compiled(tmp_path):
    done = run("--affected-into", tmp_path / "declared.json", tests=[DECLARED])
    assert done.returncode == 0, done.stdout
