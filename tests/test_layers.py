"""Imports go one way (a module imports only from its left), in no circle, and `import numbad` stays light."""

import ast
import graphlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import numbad

PACKAGE = Path(numbad.__file__).parent

# From left to right. Layers on one line may import one another's left, not one another.
LAYERS = (
    ("arrival", "constants", "errors", "interrupts", "source", "__version__"),
    ("data", "keywords", "rules"),
    ("debugging",),
    ("compilation",),
    ("small_arrays",),
    ("executors", "masked_arrays"),
    ("elementary",),
    ("ir", "models"),
    ("lanes", "random"),
    ("forward", "special"),
    ("reverse",),  # adjoints of dual numbers: forward over reverse
    ("patterns",),  # of sparse matrices, from typed code
    ("operators",),
    ("batching", "implicit"),
    ("testing",),
    ("ode",),
    ("sde",),
    ("fit",),
    ("cuda",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Loaded at first use only: each costs more than a good part of `import numba`.
HEAVY = (
    "matplotlib",
    "mpmath",
    "rich",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "tqdm",
)


def _layer(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def _modules():
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def _imported_names(tree, path):
    """Yield (line, parts of the name) of every import of numbad in a module, those in functions included."""
    package = ("numbad", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base = (*base, *(node.module or "").split(".")) if node.module else base
            names = [".".join((*base, alias.name)) for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "numbad":
                yield node.lineno, parts[1:]


def _imported_layers(tree, path):
    """Yield (line, layer) of every import of numbad in a module."""
    for line, parts in _imported_names(tree, path):
        yield line, parts[0] if parts else ""


def _offences(source, path):
    """Return what a module imports from its own side or its right."""
    own = _layer(path)
    found = []
    for line, layer in _imported_layers(ast.parse(source), path):
        if layer == own:
            continue
        if layer not in RANK or RANK[layer] >= RANK[own]:
            found.append(f"{path.name}:{line} imports numbad{'.' + layer if layer else ''}")
    return found


def _name(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_modules(source, path, known):
    """The modules that one imports; `from .a import b` is of `a.b` where that is a module, else of `a`."""
    found = set()
    for _, parts in _imported_names(ast.parse(source), path):
        whole = ".".join(parts)
        found.add(whole if whole in known else ".".join(parts[:-1]))
    return (found & known) - {_name(path)}


def _graph():
    """Module -> the modules that it imports, in functions too."""
    known = {_name(path) for path in _modules()}
    return {
        _name(path): _imported_modules(path.read_text(encoding="utf-8"), path, known)
        for path in _modules()
    }


def _circle(graph):
    """The modules of one circle of imports, in order; None where there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_imports_go_in_no_circle():
    assert _circle(_graph()) is None


def test_a_circle_is_found():
    path = PACKAGE / "rules" / "scalar.py"
    source = "def f():\n    from .registry import find\n    from ..rules import tracing"
    imported = _imported_modules(source, path, {"rules", "rules.registry", "rules.tracing"})
    assert imported == {"rules.registry", "rules.tracing"}
    graph = {"rules.scalar": imported, "rules.registry": {"rules.scalar"}}
    assert set(_circle(graph)) == {"rules.registry", "rules.scalar"}


def test_every_module_has_a_layer():
    assert {_layer(path) for path in _modules()} <= set(RANK)


def test_imports_go_one_way():
    offences = {path: _offences(path.read_text(encoding="utf-8"), path) for path in _modules()}
    assert {path: found for path, found in offences.items() if found} == {}


def test_nothing_imports_cuda():
    for path in _modules():
        if _layer(path) != "cuda":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert "cuda" not in {layer for _, layer in _imported_layers(tree, path)}, path


def test_import_leaves_cuda_to_first_use():
    code = "import numbad.operators, numbad.ode, numbad.fit, numbad.cli, numbad.testing"
    assert not {"numbad.cuda", "numba.cuda"} & set(_loaded_by(code))


@pytest.mark.parametrize(
    "source",
    [
        "import numbad",
        "import numbad.fit",
        "from numbad import fit",
        "from numbad.fit import fit_ode",
        "from ..fit import fit_ode",
        "from .. import fit",
        "def f():\n    from numbad.operators import grad",
    ],
)
def test_a_wrong_import_is_found(source):
    assert len(_offences(source, PACKAGE / "rules" / "scalar.py")) == 1


def test_right_imports_pass():
    source = "import numpy\nfrom numbad.errors import NumbadError\nfrom .registry import find"
    assert _offences(source, PACKAGE / "rules" / "scalar.py") == []


@cache
def _loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize("module", ["", ".operators", ".ode", ".fit", ".cli"])
def test_import_is_light(module):
    loaded = set(_loaded_by(f"import numbad{module}")) - set(_loaded_by("import numba"))
    assert f"numbad{module}" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_import_leaves_numbas_internals_to_first_use():
    loaded = set(_loaded_by("import numbad")) - set(_loaded_by("import numba"))
    assert [name for name in sorted(loaded) if name.startswith("numba.")] == []
