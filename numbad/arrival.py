"""What is to happen once a module has been imported, which may be long after numbad."""

import sys
from importlib.util import find_spec


class _Finder:
    """Finds one module as others do, and has something done when it has been loaded."""

    def __init__(self, name, action):
        self.name, self.action = name, action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (load(module), self.action())
        return spec


def once_imported(name, action):
    """Call `action` after the import of a module: at once where it is there."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Finder(name, action))
