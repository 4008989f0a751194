"""What `numba.vectorize` made, on dual numbers: its function, element by element."""

from weakref import WeakKeyDictionary

from numba import njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from ..rules.function_of_ufunc import ruled_function
from ..rules.registry import rules_given
from ..source import define
from . import dual as d
from . import known
from .dual_arrays import as_scalar
from .dual_dispatcher import dualized
from .elementwise import ElementwiseTemplate, broadcasting

_STAND_INS = WeakKeyDictionary()  # ufunc -> rules given so far -> what stands in for it


def stand_in(ufunc):
    """The function that is called in place of a ufunc where duals may be among the arguments."""
    made = _STAND_INS.setdefault(ufunc, {})
    if rules_given() not in made:
        made[rules_given()] = _make(ufunc)
    return made[rules_given()]


class VectorizedTemplate(ElementwiseTemplate):
    """A call with arrays; the types of the elements are those of the ufunc's loop."""

    narrowed = staticmethod(lambda scalar, inputs: scalar)


def _make(ufunc):
    def call(*args):
        raise NotImplementedError

    def of_elements(*args):
        raise NotImplementedError

    def typed(*args):
        duals = any(True for ty in args for _ in d.duals_in(ty))
        arrays = any(isinstance(ty, types.Array) for ty in args)
        if duals and arrays:  # the template's
            return None
        names = ", ".join(f"x{k}" for k in range(len(args)))
        code = f"def call({names}):\n    return fn({names})\n"
        return define(code, {"fn": of_elements if duals else ufunc})

    call.__name__ = of_elements.__name__ = ufunc.__name__
    known.STANDS_FOR[call] = ufunc
    overload(of_elements, strict=False)(_loop(ufunc))
    overload(call, strict=False)(typed)
    broadcasting(call, of_elements, ufunc.nin, VectorizedTemplate)
    return call


def _calling(function, count):
    """A dispatcher that calls another one, so that the rule of that is met."""
    names = ", ".join(f"x{k}" for k in range(count))
    return njit(
        define(f"def call({names}):\n    return function_({names})\n", {"function_": function})
    )


def _loop(ufunc):
    """The typing function for elements: they take the types of the loop that the primal runs."""
    ruled = ruled_function(ufunc)
    code = dualized(ufunc._dispatcher if ruled is None else _calling(ruled, ufunc.nin))

    def typed(*elements):
        inputs, output = _loop_types(ufunc, tuple(map(d.primal_type, elements)))
        names, given = {"fn": code, "result": _result(output)}, []
        for k, (ty, base) in enumerate(zip(elements, inputs, strict=True)):
            names[f"cast{k}"] = as_scalar(_of_base(ty, base))
            given.append(f"cast{k}(x{k})")
        parameters = ", ".join(f"x{k}" for k in range(len(elements)))
        return define(
            f"def of_elements({parameters}):\n    return result(fn({', '.join(given)}))\n", names
        )

    return typed


def _loop_types(ufunc, elements):
    """The types of the inputs and of the output of the loop for elements of these types."""
    ufunc_type = cpu_target.typing_context.resolve_value_type(ufunc)
    output = ufunc_type.get_call_type(cpu_target.typing_context, elements, {}).return_type
    loop, _ = ufunc.find_ewise_function(elements)
    return getattr(loop, "args", loop)[: len(elements)], output


def _of_base(ty, base):
    return d.with_base(ty, base) if isinstance(ty, d.Dual) else base


def _result(output):
    """A function that gives a result the precision of the loop's."""

    def result(x):
        raise NotImplementedError

    @overload(result)
    def typed(x):
        if isinstance(x, d.Dual) and isinstance(output, types.Float | types.Complex):
            convert = as_scalar(d.with_base(x, output))
        else:
            convert = as_scalar(output)
        return lambda x: convert(x)

    return result
