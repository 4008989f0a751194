"""What Numba compiles in a process: imported by the programs that the tests run, before anything else."""

import json

from numba.core import codegen, event

lowered, optimised, results = [], [], {}


class _Passes(event.Listener):
    def on_start(self, e):
        pass

    def on_end(self, e):
        if "lowering" in e.data["name"]:
            lowered.append(e.data["qualname"])


event.register("numba:run_pass", _Passes())
_optimise = codegen.CPUCodeLibrary._optimize_final_module


def _counted(library):
    if library.name != "nrt":  # Numba's own run-time module, which every process links
        optimised.append(library.name.partition("$")[0])
    return _optimise(library)


codegen.CPUCodeLibrary._optimize_final_module = _counted


def record(name, function, *args):
    """Note what a call returns and what was compiled for it."""
    before = len(lowered), len(optimised)
    value = function(*args)
    results[name] = plain(value), lowered[before[0] :], optimised[before[1] :]


def plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return value


def report():
    print(json.dumps(results))
