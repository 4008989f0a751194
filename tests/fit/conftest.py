"""A fit that several modules look at."""

import pytest


@pytest.fixture(scope="session")
def result():
    """Hare and lynx, fitted once; nobody changes it."""
    from .test_ode import fitted

    return fitted()
