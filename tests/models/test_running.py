"""Model files as Python code, whose functions other processes get."""

import pickle
import sys

import pytest

import numbad as nd
from numbad.models import load_model
from tests.models.test_model_file import DECAY


def test_functions_can_be_pickled_and_keep_their_module(write):
    path = write(DECAY)
    rhs = load_model(path).rhs
    assert pickle.loads(pickle.dumps(rhs)) is rhs
    assert load_model(path).rhs.__module__ == rhs.__module__
    assert load_model(write(DECAY, "other.py")).rhs.__module__ != rhs.__module__


def test_a_model_imports_what_lies_beside_it(write):
    write("RATE = 0.5\n", "constants_of_decay.py")
    before = sys.path.copy()
    path = write("from constants_of_decay import RATE\n" + DECAY)
    assert load_model(path).rhs is not None
    assert sys.path == before


def test_a_model_that_ends_the_program_is_told(write):
    path = write("import sys\nsys.exit(3)\n" + DECAY)
    with pytest.raises(nd.ModelError, match=r"decay\.py, line 2: SystemExit: 3"):
        load_model(path)
