"""What there is to warn of is told wherever the code is used, not only where it is compiled."""

from pathlib import Path

import pytest

from .processes import run


@pytest.mark.dear
def test_code_from_the_disk_warns_as_it_did_when_it_was_compiled(tmp_path):
    program = Path(__file__).with_name("searching.py")
    compiled, told = run(program, tmp_path)
    loaded, told_again = run(program, tmp_path)
    assert (compiled, loaded) == (0, 1)
    assert told_again == told
    assert [name for name, *_ in told] == ["ControlDependenceWarning"]
