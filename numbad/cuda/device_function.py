"""Dispatchers of the CPU's in code for a GPU: what stands for a function among duals, what operators return.

numba-cuda compiles the Python function of a dispatcher that device code calls. Those of numbad have a stub
there, or code for plain numbers; here they are given what numba-cuda finds for them.
"""

from numba.cuda.core.targetconfig import ConfigStack
from numba.cuda.descriptor import cuda_target
from numba.cuda.dispatcher import CUDADispatcher

from ..compilation.memo import remembered
from ..errors import UnsupportedError
from ..forward.dualize import DualDispatcher
from ..ode.compiling import GenericDispatcher
from ..operators.operator_dispatcher import OperatorDispatcher
from ..reverse.pipeline import PullDispatcher, SweepDispatcher
from .compiler import HELD, DeviceCode
from .dual_code import DualCode, parameters_of, untyped_ir


class DeviceFunction(CUDADispatcher):
    """A function whose code numbad gives to numba-cuda, with the flags of one kernel."""

    _fold_args = True

    def __init__(self, py_func, code):
        super().__init__(py_func, {"device": True})
        self.code = code
        self.under_way = set()

    def compile_device(self, args, return_type=None):
        if args not in self.overloads:
            if args in self.under_way:
                raise UnsupportedError(
                    f"{self.py_func.__name__} calls itself, which numba-cuda does not compile; write "
                    "the recursion as a loop"
                )
            self.under_way.add(args)
            try:
                self.overloads[args] = made = self.code.compile(args)
            finally:
                self.under_way.discard(args)
            context = cuda_target.target_context
            context.insert_user_function(made.entry_point, made.fndesc, [made.library])
        return self.overloads[args]


class OperatorCode(DeviceCode):
    """The code of an operator's result, as the operator writes it for the CPU."""

    stands_for = DualDispatcher, OperatorDispatcher, PullDispatcher, SweepDispatcher

    def __init__(self, dispatcher):
        self.operator = dispatcher.operator
        stub = dispatcher.py_func
        super().__init__(
            stub.__name__,
            parameters_of(stub),
            self._blocks,
            dispatcher.targetoptions.get("fastmath", False),
            self.operator.f.py_func,
        )

    def _blocks(self, argtypes):
        function = self.operator.generate(cuda_target.typing_context, argtypes)
        return untyped_ir(function, argtypes).blocks


def device_function(code_of):
    """The property that gives numba-cuda a device function for a dispatcher, one for each set of flags."""

    def given(dispatcher):
        flags = ConfigStack.top_or_none()
        known = remembered(dispatcher, "cuda")
        key = flags and flags.summary()
        if key not in known:
            known[key] = DeviceFunction(dispatcher.py_func, code_of(dispatcher))
        return known[key]

    return property(given)


def _refuse(dispatcher):
    if isinstance(dispatcher, GenericDispatcher):
        raise UnsupportedError(
            f"{dispatcher.py_func.__name__}: solvers allocate arrays and run on the CPU only; in a kernel, "
            "write the steps of the method as a loop"
        )
    raise UnsupportedError(
        f"{dispatcher.py_func.__name__}: derivatives in reverse mode that are made for the CPU cannot "
        "run on a GPU; call what nd.cuda.grad returns from the kernel itself"
    )


setattr(DualDispatcher, HELD, device_function(DualCode))
setattr(OperatorDispatcher, HELD, device_function(OperatorCode))
for _kind in (PullDispatcher, SweepDispatcher, GenericDispatcher):
    setattr(_kind, HELD, property(_refuse))
