"""Model files as Python code, whose functions other processes get."""

import pickle

from numbad.models import load_model
from tests.models.test_model_file import DECAY


def test_functions_can_be_pickled_and_keep_their_module(write):
    path = write(DECAY)
    rhs = load_model(path).rhs
    assert pickle.loads(pickle.dumps(rhs)) is rhs
    assert load_model(path).rhs.__module__ == rhs.__module__
    assert load_model(write(DECAY, "other.py")).rhs.__module__ != rhs.__module__
