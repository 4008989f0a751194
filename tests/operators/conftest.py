"""Operators whose choices are looked at."""

import pytest


@pytest.fixture
def compiled_anew(monkeypatch):
    """Code from the cache on disk takes no choice that could be looked at."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
