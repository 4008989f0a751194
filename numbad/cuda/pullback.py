"""The adjoint of a function as device code, from the blocks that reverse mode makes for all targets."""

from functools import cache

from numba.core import ir

from ..reverse.pipeline import Pipeline
from ..reverse.value_tape import tape_type
from .compiler import DeviceCode
from .frontend import cpu_target


class DevicePullback:
    """`(tape, arguments, shadows, seed) -> (value, adjoints)` of `f`, on the GPU."""

    def __init__(self, f, wrt):
        self.f, self.wrt = f, wrt
        self.code = DeviceCode(
            f"adjoint_of_{f.py_func.__name__}".replace("<lambda>", "lambda"),
            ("tape", "args", "shadows", "seed"),
            self.blocks,
            f.targetoptions.get("fastmath", False),
            f.py_func,
        )

    def blocks(self, argtypes):
        """Both sweeps, as Numba's IR; the stages before the emitter ask Numba's CPU target."""
        code = self.f.py_func.__code__
        scope = ir.Scope(None, ir.Loc(code.co_filename, code.co_firstlineno))
        with cpu_target():
            pipeline = Pipeline(self.f, tuple(argtypes[1]), self.wrt, allocates=False)
            return pipeline.run(scope)

    def compile(self, arguments, shadows, seed):
        return self.code.compile((tape_type, arguments, shadows, seed))

    def result(self, arguments, shadows, seed):
        """The types of value and adjoints."""
        return self.compile(arguments, shadows, seed).signature.return_type


@cache
def device_pullback(f, wrt):
    return DevicePullback(f, wrt)
