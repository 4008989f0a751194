"""What `grad` and `value_and_grad` return, where the CPU calls it: to try a kernel's code without a GPU."""

from numba.core import types
from numba.core.registry import cpu_target
from numba.cuda.extending import _Intrinsic

from ..errors import ArgumentError
from ..operators import value_and_grad
from ..operators.operator_dispatcher import Operator, build, parameter_names
from ..source import define
from .bound_call import bind


class DeviceGradient(_Intrinsic):
    """An intrinsic of kernels that Python and `@njit` code call as well, by `on_cpu`."""

    on_cpu = None

    @classmethod
    def of(cls, definition, on_cpu):
        made = cls(definition.__name__, definition)
        made._register()
        made.on_cpu = on_cpu
        cpu_target.typing_context.insert_global(made, types.Dispatcher(on_cpu))
        return made

    def __call__(self, *args):
        return self.on_cpu(*args)


class GradientOnCPU(Operator):
    """Takes and returns what a kernel's call does; its tape has all the memory that it needs."""

    has_pullback = False

    def __init__(self, f, numbers, single, *, name, tape):
        self.name = f"cuda.{name}"
        super().__init__(f)
        self.argnums, self.single, self.tape = numbers, single, tape

    def key(self):
        return self.name, self.argnums, self.single, self.tape

    def parameters(self):
        return "*args", {}

    def given(self, args):
        return args[: len(parameter_names(self.f.py_func))]

    def generate(self, typingctx, argtypes):
        operator, (given,) = f"nd.{self.name}", argtypes
        call = bind(operator, self.f, self.argnums, self.tape is None, tuple(given))
        lines, parts = [], []
        for i, k in enumerate(self.argnums):
            parts.append(f"found[{i}]")
            if k in call.buffers:
                parts[i] = place = f"args[{call.buffers[k]}]"
                told = f"{operator}: the array for the gradient by '{call.names[k]}' must have its shape"
                lines += [
                    f"if {place}.shape != args[{k}].shape: raise ArgumentError({told!r})",
                    f"{place}[...] = found[{i}]",
                ]
        arguments = ", ".join(f"args[{k}]" for k in range(call.count))
        returned = parts[0] if self.single else f"({''.join(f'{part}, ' for part in parts)})"
        returned = returned if self.name == "cuda.grad" else f"value, {returned}"
        lines = [f"value, found = gradient({arguments})", *lines, f"return {returned}"]
        gradient = value_and_grad(self.f, self.argnums, mode="reverse")
        names = {"gradient": gradient, "ArgumentError": ArgumentError}
        return define("def call(*args):\n" + "".join(f"    {x}\n" for x in lines), names)


def on_cpu(name, f, numbers, single, tape):
    """The dispatcher for calls on the CPU."""
    return build(GradientOnCPU(f, numbers, single, name=name, tape=tape))
