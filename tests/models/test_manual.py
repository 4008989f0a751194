"""The help of `numbad fit`."""

import pytest

from numbad.cli import main
from tests.command_line import COOLING, TEA


def test_help_shows_the_example_that_the_tests_run(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    for line in (*COOLING.splitlines(), *TEA.splitlines()):
        assert line in said
    for option in ("--starts", "--journal", "--out DIR", "exit status"):
        assert option in said
