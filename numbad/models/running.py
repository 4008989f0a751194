"""Model files as Python code: read, run, and searched for the names that they define."""

import ast
import hashlib
import sys
import types
from contextlib import contextmanager

from numbad.errors import ModelError


def read_source(path):
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not UTF-8 text ({error.reason})") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from None


def run(path, source):
    location = str(path.resolve())
    digest = hashlib.sha256(location.encode()).hexdigest()[:12]
    module = types.ModuleType(f"numbad_model_{digest}")
    module.__file__ = location
    previous = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        with _imports_from(str(path.resolve().parent)):
            exec(compile(source, location, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        if previous is not None:
            sys.modules[module.__name__] = previous
        line = _line_at_fault(error, location)
        place = f"{path}, line {line}" if line else str(path)
        text = error.msg if isinstance(error, SyntaxError) else error
        raise ModelError(f"{place}: {type(error).__name__}: {text}") from error
    return module


@contextmanager
def _imports_from(folder):
    """Let a model file import what lies beside it, as a script does."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _line_at_fault(error, location):
    """Return the line of the model file that raised, the innermost where there are several."""
    if isinstance(error, SyntaxError) and error.filename == location:
        return error.lineno
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == location:
            line = step.tb_lineno
        step = step.tb_next
    return line


def definitions(source):
    """Return name -> line of what a file defines at its top level."""
    return {name: node.lineno for name, node, _ in _assignments(ast.parse(source))}


def _assignments(tree):
    """Give the names that a file defines at its top level, the statement of each, whether it stands alone."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node, True
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            members = getattr(target, "elts", [target])  # particles, seed = 100, 3
            for member in members:
                if isinstance(member, ast.Name):
                    yield member.id, node, member is target


def unused(source):
    """Return the names that a file assigns values to at its top level, and never reads."""
    tree = ast.parse(source)
    values = ast.Assign | ast.AnnAssign
    # Of several at once, one may be there for the others' sake.
    assigned = {
        name for name, node, alone in _assignments(tree) if alone and isinstance(node, values)
    }
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return assigned - {node.id for node in names if isinstance(node.ctx, ast.Load)}
