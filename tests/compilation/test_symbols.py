"""Functions of one name that different processes have compiled, together in one cache."""

import subprocess
import sys

import pytest

from .processes import run
from .test_caching import TWO_OF_ONE_NAME


@pytest.mark.dear
def test_functions_of_one_name_from_different_processes(tmp_path):
    """The linker must not take one for the other where both are called from compiled code."""

    def found(*names):
        program = tmp_path / "program.py"
        program.write_text(TWO_OF_ONE_NAME.format(names=names))
        return run(program, tmp_path / "cache")

    assert found("square")["square"][0] == 6.0
    assert found("cube")["cube"][0] == 27.0
    for names in (("square", "cube", "both"), ("cube", "square", "both"), ("both", "cube")):
        results = found(*names)
        assert results["both"][0] == 2706.0
        assert results["both"][1] == ["both"], "the gradients were compiled anew"


FORKED = """
import os
import numbad as nd
from tests.compilation.counting import record, report

square = nd.grad(lambda x: x * x, mode="reverse")
cube = nd.grad(lambda x: x * x * x, mode="reverse")
for gradient in (square, cube):
    if os.fork() == 0:
        gradient(3.0)
        os._exit(0)
    os.wait()
report()
"""


@pytest.mark.deep
def test_functions_of_one_name_from_forked_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FORKED)
    run(program, tmp_path / "cache")
    program.write_text(TWO_OF_ONE_NAME.format(names=["both"]))
    assert run(program, tmp_path / "cache")["both"][:2] == [2706.0, ["both"]]


@pytest.mark.dear
def test_the_names_of_another_process_are_as_long():
    """They stand in texts of LLVM's that say how long they are."""
    script = (
        "import numbad.ode\n"
        "from numba.core.bytecode import FunctionIdentity as f; print(next(f._unique_ids))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True) for _ in "ab"
    ]
    numbers = [int(run.stdout) for run in runs]
    assert numbers[0] != numbers[1]
    assert [len(str(number)) for number in numbers] == [19, 19]
