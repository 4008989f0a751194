"""What `numbad.fit` loads, and when."""

import subprocess
import sys

import pytest

import numbad as nd

SCRIPT = """
import sys
import numbad as nd
nd.fit.fit_ode
assert not any(name.startswith("numbad.sde") for name in sys.modules), "a fit of an ODE needs none of it"
assert nd.fit.fit_sde.__module__ == "numbad.fit.diffusions"
"""


def test_sdes_are_loaded_when_they_are_fitted():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_every_public_name_is_there():
    assert set(nd.fit.__all__) <= set(dir(nd.fit))
    assert all(getattr(nd.fit, name).__name__ == name for name in nd.fit.__all__)
    with pytest.raises(AttributeError, match="numbad.fit.*fit_sdes"):
        nd.fit.fit_sdes  # noqa: B018
