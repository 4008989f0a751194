"""What the tests of elementary functions share."""

import pytest


@pytest.fixture(autouse=True)
def _compiled_here(monkeypatch):
    """Code from the disk cannot be inspected."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
