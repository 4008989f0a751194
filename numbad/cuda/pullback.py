"""The adjoint of a function as device code, from the blocks that reverse mode makes for all targets."""

from functools import cache

from numba.core import ir

from ..forward.dual import duals_in
from ..forward.dualize import DualDispatcher
from ..reverse.pipeline import Pipeline
from ..reverse.value_tape import tape_type
from .compiler import DeviceCode
from .frontend import cpu_target
from .precision import in_single, stages_of
from .sweep_of_duals import sweep_of_duals


class PullbackCode(DeviceCode):
    """The code of a pullback, in which functions of dual numbers stand where it is given such."""

    stands_for = (DualDispatcher,)


class DevicePullback:
    """`(tape, arguments, shadows, seed) -> (value, adjoints)` of `f`, on the GPU.

    `stages` are further passes over the code that is captured, before its types are known. Among dual
    numbers the adjoints are such: forward over reverse.
    """

    def __init__(self, f, wrt, stages=()):
        self.f, self.wrt, self.stages = f, wrt, stages
        self.code = PullbackCode(
            f"adjoint_of_{f.py_func.__name__}".replace("<lambda>", "lambda"),
            ("tape", "args", "shadows", "seed"),
            self.blocks,
            f.targetoptions.get("fastmath", False),
            f.py_func,
        )

    def blocks(self, argtypes):
        """Both sweeps, as Numba's IR; the stages before the emitter ask Numba's CPU target."""
        if any(True for ty in argtypes for _ in duals_in(ty)):
            return sweep_of_duals(self, argtypes)
        code = self.f.py_func.__code__
        scope = ir.Scope(None, ir.Loc(code.co_filename, code.co_firstlineno))
        with cpu_target():
            pipeline = Pipeline(self.f, tuple(argtypes[1]), self.wrt, allocates=False)
            single = stages_of(argtypes[1])
            pipeline.stages = (*self.stages, *single)
            blocks = pipeline.run(scope)
        if single:
            _make_single(blocks, pipeline.sweep.e.constants.values())
        return blocks

    def compile(self, arguments, shadows, seed):
        return self.code.compile((tape_type, arguments, shadows, seed))

    def result(self, arguments, shadows, seed):
        """The types of value and adjoints."""
        return self.compile(arguments, shadows, seed).signature.return_type


def _make_single(blocks, constants):
    """Put the numbers that the adjoint has of rules in single precision; the others are so already."""
    names = {var.name for var in constants}
    for block in blocks.values():
        for statement in block.find_insts(ir.Assign):
            if statement.target.name in names and isinstance(statement.value, ir.Const):
                statement.value = ir.Const(in_single(statement.value.value), statement.loc)


@cache
def device_pullback(f, wrt, stages=()):
    return DevicePullback(f, wrt, stages)
