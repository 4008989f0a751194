"""`grad` and `value_and_grad` for use in kernels.

What they return is called in a kernel or a device function; the adjoint is compiled for the types of
the arguments, with the flags of the kernel, when the call is typed.
"""

from llvmlite import ir
from numba.core import types
from numba.cuda import cgutils
from numba.cuda.core.imputils import impl_ret_borrowed

from ..compilation.memo import remembered
from ..errors import ArgumentError
from ..forward.retyped import named_tuple
from ..operators.operator_dispatcher import as_dispatcher, parameter_names, starred
from ..rules.registry import generation
from . import tape as t
from .bound_call import bind
from .compiler import in_debug_mode
from .gradient_on_cpu import DeviceGradient, on_cpu
from .pullback import device_pullback


def grad(f, argnums=0, *, tape=t.TAPE_BYTES):
    """The gradient of a function with a scalar result, as a device function.

    Call it in a kernel (`@cuda.jit`) with the arguments of `f`, all by position, and after them one
    array for each array in `argnums`, of its type and shape, which the gradient is written into::

        gradient = nd.cuda.grad(f, argnums=(0, 1))

        @cuda.jit
        def kernel(x, p, dx, dp):
            i = cuda.grid(1)
            if i < x.size:
                dx[i], _ = gradient(x[i], p[i], dp[i])

    `f` is a Python function or an `@njit` dispatcher, as are the functions that it calls; it
    allocates no arrays, which a GPU has no memory for: give it those it needs as arguments.

    Arguments: `f`; `argnums`, one number or a tuple; `tape`, the bytes of local memory a thread in
    which the forward sweep records what the reverse sweep needs (some of every value that a loop
    changes, an iteration). With `tape=None` the last argument of the call is that memory, a
    contiguous array of any type: a slice for each thread of a workspace in global memory.

    Returns a function that returns the gradient with the structure of the argument, or a tuple of
    those; for an array, the array that was given for it. Where all floats among the arguments are
    float32, literals in `f` are, too: `2.0 * x` is a float32.

    Where the tape is full, the value and the gradient are NaN throughout; in a kernel with
    `debug=True`, `TapeLimitError` is raised. What `f` raises is raised as numba-cuda does: in
    a kernel without `debug=True`, the thread ends there.

    Raises (when the kernel is compiled) ArgumentError for arguments that do not fit,
    UnsupportedError for what cannot be differentiated.
    """
    return _device_operator("grad", f, argnums, tape)


def value_and_grad(f, argnums=0, *, tape=t.TAPE_BYTES):
    """As `grad`; the device function returns the value of `f` and the gradient, `(value, gradient)`."""
    return _device_operator("value_and_grad", f, argnums, tape)


def _device_operator(name, f, argnums, tape):
    f = as_dispatcher(f"nd.cuda.{name}", getattr(f, "py_func", f) if _is_cuda(f) else f)
    single = not isinstance(argnums, tuple)
    numbers = (argnums,) if single else argnums
    _check(name, f, numbers, tape)
    known = remembered(f, "cuda")
    key = generation(), name, argnums, tape
    if key not in known:
        known[key] = _make(name, f, numbers, single, tape)
    return known[key]


def _is_cuda(f):
    return type(f).__module__.startswith("numba.cuda")


def _check(name, f, numbers, tape):
    if starred(f.py_func) is not None:
        raise ArgumentError(f"nd.cuda.{name} takes functions without *args")
    count = len(parameter_names(f.py_func))
    for k in numbers:
        if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < count:
            raise ArgumentError(
                f"nd.cuda.{name}: argnums={k!r} is no number of an argument of "
                f"{f.py_func.__name__}, which has {count}"
            )
    if tape is not None and (isinstance(tape, bool) or not isinstance(tape, int) or tape < 8):
        raise ArgumentError(f"nd.cuda.{name}: tape is {tape!r}; expected bytes (8 or more) or None")


def _make(name, f, numbers, single, tape):
    def operator(typingctx, *arguments):
        call = bind(f"nd.cuda.{name}", f, numbers, tape is None, arguments)
        pull = device_pullback(f, tuple(sorted(set(numbers))))
        argument, shadows = call.tuples()
        value, adjoints = pull.result(argument, shadows, call.value)
        parts = [
            call.types[call.buffers[k]] if k in call.buffers else _named(call.types[k], adjoints[k])
            for k in numbers
        ]
        gradient = parts[0] if single else types.BaseTuple.from_types(parts)
        result = gradient if name == "grad" else types.Tuple((value, gradient))

        def codegen(context, builder, sig, args):
            given = cgutils.unpack_tuple(builder, args[0], len(call.types))
            made = _Evaluation(context, builder, call, pull, tape, given)
            members = [made.gradient(k) for k in numbers]
            out = members[0] if single else context.make_tuple(builder, gradient, members)
            if name == "value_and_grad":
                out = context.make_tuple(builder, result, [made.value, out])
            return impl_ret_borrowed(context, builder, result, out)

        return result(types.StarArgTuple.from_types(call.types)), codegen

    operator.__name__ = f"{name}_{f.py_func.__name__}"
    operator.__doc__ = f"nd.cuda.{name} of {f.py_func.__name__}, for kernels."
    made = DeviceGradient.of(operator, on_cpu(name, f, numbers, single, tape))
    made.numbad_gradient = f"nd.cuda.{name}", numbers, tape  # for `batch`
    return made


def _named(argument, adjoint):
    """The type of an adjoint, with the namedtuples of the argument: the same members in memory."""
    if not isinstance(argument, types.BaseTuple) or not isinstance(adjoint, types.BaseTuple):
        return adjoint
    members = [_named(*pair) for pair in zip(argument, adjoint, strict=True)]
    if isinstance(argument, types.BaseNamedTuple):
        found = named_tuple(members, argument.instance_class)
    else:
        found = types.BaseTuple.from_types(members)
    uniform = types.UniTuple | types.NamedUniTuple
    return found if isinstance(found, uniform) == isinstance(adjoint, uniform) else adjoint


class _Evaluation:
    """The code that evaluates an adjoint, and the LLVM values that it gives."""

    def __init__(self, context, builder, call, pull, tape, given):
        self.context, self.builder = context, builder
        self.call, self.pull, self.given = call, pull, given
        self.arrays = [(call.types[k], given[k]) for k in call.buffers.values()]
        self._fill(0.0)
        workspace = None
        if tape is None:
            workspace = t.workspace_of(context, builder, call.types[-1], given[-1])
        state = t.new_tape(builder, tape, workspace)
        argument, shadows = call.tuples()
        passed = [
            state,
            context.make_tuple(builder, argument, given[: call.count]),
            context.make_tuple(builder, shadows, [self._shadow(k) for k in range(call.count)]),
            context.get_constant(call.value, 1.0),
        ]
        self.result, returned = self._call(passed, argument, shadows)
        self.value = builder.extract_value(returned, 0)
        self.adjoints = builder.extract_value(returned, 1)

    def gradient(self, k):
        if k in self.call.buffers:
            return self.given[self.call.buffers[k]]
        return self.builder.extract_value(self.adjoints, k)

    def _shadow(self, k):
        if k in self.call.buffers:
            return self.given[self.call.buffers[k]]
        return self.context.get_dummy_value()

    def _call(self, passed, argument, shadows):
        context, builder = self.context, self.builder
        compiled = self.pull.compile(argument, shadows, self.call.value)
        context.active_code_library.add_linking_library(compiled.library)
        status, returned = context.call_internal_no_propagate(
            builder, compiled.fndesc, compiled.signature, passed
        )
        slot = cgutils.alloca_once_value(builder, returned)
        with cgutils.if_unlikely(builder, status.is_error):
            self._failed(compiled, status)
            builder.store(_nan(returned.type), slot)
            self._fill(float("nan"))
        return compiled.signature.return_type, builder.load(slot)

    def _failed(self, compiled, status):
        """Leave the function for errors of `f`, and in debug mode for a full tape."""
        builder, conv = self.builder, self.context.fndesc.call_conv
        helper = conv._get_call_helper(builder)
        if helper is None:
            return  # the C ABI reports no errors: NaN throughout says it
        full = t.is_full(builder, status.code)
        if in_debug_mode():
            helper.exceptions.update(t.errors())
            with builder.if_then(full):
                conv.return_status_propagate(builder, status)
        with builder.if_then(builder.not_(full)):
            for code, raised in compiled.call_helper.exceptions.items():
                with builder.if_then(builder.icmp_signed("==", status.code, _code(code))):
                    builder.ret(_code(helper._add_exception(*raised)))
            conv.return_status_propagate(builder, status)

    def _fill(self, x):
        """Set every element of the arrays that the gradient goes into."""
        context, builder = self.context, self.builder
        for ty, value in self.arrays:
            array = context.make_helper(builder, ty, value)
            shape = cgutils.unpack_tuple(builder, array.shape, ty.ndim)
            item = _constant(context.get_data_type(ty.dtype), x)
            with cgutils.loop_nest(builder, shape, ir.IntType(64)) as indices:
                pointer = cgutils.get_item_pointer(context, builder, ty, array, indices)
                builder.store(item, pointer)


def _code(number):
    return ir.IntType(32)(number)


def _nan(ty):
    return _constant(ty, float("nan"))


def _constant(ty, x):
    """A constant of an LLVM type whose floats are all `x`, and whose integers and pointers zero."""
    if isinstance(ty, ir.FloatType | ir.DoubleType):
        return ty(x)
    if isinstance(ty, ir.ArrayType):
        return ty([_constant(ty.element, x)] * ty.count)
    if isinstance(ty, ir.BaseStructType):
        return ty([_constant(member, x) for member in ty.elements])
    return ty(None) if isinstance(ty, ir.PointerType) else ty(0)
