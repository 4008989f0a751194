"""What was compiled around users' functions, and which files are no modules."""

import pytest

from numbad.compilation import template_cache

# programs that tests run in processes of their own
collect_ignore = ["counting.py", "program.py"]


@pytest.fixture
def nothing_kept(monkeypatch):
    """No code around users' functions is there yet, and none stays."""
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
    template_cache._templates.clear()
    yield
    template_cache._templates.clear()


@pytest.fixture
def came(monkeypatch):
    """The lowered code of each function around users' that is compiled or relinked: (how, name, text)."""
    found = []
    relinked, make = template_cache.relinked, template_cache.template_of

    def note(how, compiled):
        found.append((how, compiled.fndesc.qualname, str(compiled.library.lowered())))

    def relink(*given):
        result = relinked(*given)
        if result is not None:
            note("relinked", result)
        return result

    def made(compiled, *given):
        note("afresh", compiled)
        return make(compiled, *given)

    monkeypatch.setattr(template_cache, "relinked", relink)
    monkeypatch.setattr(template_cache, "template_of", made)
    return found
