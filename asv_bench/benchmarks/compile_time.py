"""Seconds that the compiler takes for the problems and for their gradients in reverse mode.

Each sample compiles fresh copies of the functions, helpers included, in a process whose cache on disk
is off. A first round, which compiles what Numba and numbad need themselves, is not counted.
"""

import importlib.util
import json

import numba

from . import imports, measure, problems

SCRIPT = """
from asv_bench.benchmarks import compile_time
compile_time.report({problem!r}, {samples}, {processor_time})
"""


def fresh(problem):
    """A new copy of a problem's module: nothing of it is compiled."""
    path = problems.module(problem).__file__
    spec = importlib.util.spec_from_file_location(f"fresh_{problem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds(dispatcher, arguments):
    """Seconds to compile for the types of these arguments."""
    signature = tuple(map(numba.typeof, arguments))
    start = measure.Clock.now()
    dispatcher.compile(signature)
    return measure.Clock.now() - start


def timing(problem, samples):
    """The gradient's compile times, and the primal's right before each."""
    arguments = problems.load()[problem]
    result = measure.Timing()
    for turn in range(samples + 1):
        primal = seconds(fresh(problem).primal, arguments)
        own = seconds(problems.gradient(problem, fresh(problem)), arguments)
        if turn:
            result.base.append(primal)
            result.own.append(own)
    return result


def report(problem, samples, processor_time):
    """Print the timing as JSON, for the process that started this one."""
    measure.pin()
    if processor_time:
        measure.Clock.use_processor_time()
    print(json.dumps(vars(timing(problem, samples))))


def in_new_process(problem, samples=5):
    processor_time = measure.Clock.now is measure.time.process_time
    script = SCRIPT.format(problem=problem, samples=samples, processor_time=processor_time)
    environment = imports.environment(imports.Path.home()) | {"NUMBAD_CACHE_DIR": "off"}
    return measure.Timing(**json.loads(imports.run("-c", script, env=environment).splitlines()[-1]))
