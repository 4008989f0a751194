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


def compiled(problem):
    """Fresh copies of a function and of its gradient, and the arguments of both."""
    import numbad as nd

    arguments, source = problems.load()[problem], fresh(problem)
    if problem != "P3":
        return source.primal, problems.gradient(problem, fresh(problem)), arguments
    # One observation's residual: the loop around its Jacobian is not the derivative's.
    cams, X, w, obs, feats = arguments
    camera, point, feature = (tuple(x.tolist()) for x in (cams[obs[0, 0]], X[obs[0, 1]], feats[0]))
    arguments = camera, point, float(w[0]), feature
    jacobian = nd.jacobian(fresh(problem).residual, source.ARGNUMS, mode="reverse")
    return numba.njit(source.residual), jacobian, arguments


def timing(problem, samples):
    """The gradient's compile times, and the primal's right before each."""
    result = measure.Timing()
    for turn in range(samples + 1):
        function, gradient, arguments = compiled(problem)
        primal, own = seconds(function, arguments), seconds(gradient, arguments)
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
