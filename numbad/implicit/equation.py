"""What is defined by an equation, as an operator on the function in it, with derivatives of every order.

The implicit function theorem (Griewank & Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008,
section 15.1; Blondel et al., "Efficient and Modular Implicit Differentiation", arXiv:2105.15183):
where `g(x, a) = 0` and `J = dg/dx` is regular, `dx = -J^-1 (dg/da) da`. In reverse mode, a cotangent
`w` of `x` becomes `(dg/da)^T v` with `J^T v = -w`.
"""

import inspect

from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import Dual, is_of_one_level
from ..forward.promote import effects
from ..operators.argument_structure import leaves, parse
from ..operators.operator_dispatcher import (
    Operator,
    OperatorDispatcher,
    build,
    parameter_names,
    starred,
)
from .implicit_pullback import ImplicitPullback
from .own_state import on_a_copy
from .solution_code import PARAMETERS, Solution

ALL = -1
"""What `taken` is where all levels are taken off, so that the code for floats is compiled once."""

_NUMBERS = types.Number | types.Boolean | Dual
_CONSTANTS = types.NoneType | types.UnicodeType


class ImplicitDispatcher(OperatorDispatcher):
    """The compiled solution; its derivatives are those of the equation."""

    numbad_changes = False  # a function that changes an argument is refused

    def _raise_own_error(self, argtypes, refusal):
        """The types are not those that the function takes."""

    def numbad_pullback(self, wrt):
        """The pullback of the solution, for reverse mode around it."""
        return build(ImplicitPullback(self, wrt))

    def numbad_pullback_at(self, wrt):
        """The pullback for a solution that has been found: nothing is searched for again."""
        return build(ImplicitPullback(self, wrt, solved=True))


class Implicit(Operator):
    """A function `f(x, *args)` and what it defines `x` by; subclasses say how it is found."""

    dispatcher_class = ImplicitDispatcher

    def __init__(self, f, taken=0):
        super().__init__(f)
        self.taken = taken  # levels of duals taken off: code of one level calls that of the next
        self.names = parameter_names(self.f.py_func)
        if not self.names:
            raise ArgumentError(f"nd.{self.name}: {self.told} takes no argument to solve for")
        if starred(self.f.py_func) is not None:
            raise UnsupportedError(
                f"nd.{self.name}: {self.told} takes '*args'. Way out: wrap it in a function with "
                "named arguments"
            )
        done = effects(self.f, range(len(self.names)), ())  # `args` holds no objects
        self.changed = done.changed - {0}
        if 0 in done.changed:
            self.f = on_a_copy(self.f, self.names)
        if done.random:
            raise UnsupportedError(
                f"nd.{self.name}: {self.told} draws random numbers. Way out: draw before the call"
            )

    @property
    def told(self):
        """The name of the user's function, for messages."""
        return self.f.py_func.__name__

    def key(self):
        return self.name, self.taken

    def below(self, args=types.none):
        """The same, to be called with one more level of duals taken off arguments of type `args`."""
        return type(self)(self.f, ALL if is_of_one_level(args) else self.taken + 1)

    def parameters(self):
        return PARAMETERS, {}

    def arguments(self, args, source="args"):
        """`(source, type)` of what the function takes besides `x`."""
        if not isinstance(args, types.BaseTuple):
            if isinstance(args, types.PyObject):
                held = "args is a tuple of numbers, arrays of numbers and tuples of these"
                raise ArgumentError(
                    f"nd.{self.name}: {held}; it holds something else, such as a dict"
                )
            raise ArgumentError(f"nd.{self.name}: args is a tuple, not a {args}")
        given, most = len(args), len(self.names) - 1
        if given > most:
            raise ArgumentError(
                f"nd.{self.name}: {given} args for {self.told}({', '.join(self.names)})"
            )
        for parameter in list(inspect.signature(self.f.py_func).parameters.values())[given + 1 :]:
            if parameter.default is parameter.empty:
                raise ArgumentError(f"nd.{self.name}: args has no value for '{parameter.name}'")
        for leaf in leaves(parse(args, source)):
            scalar = leaf.type.dtype if isinstance(leaf.type, types.Array) else leaf.type
            if not isinstance(scalar, _NUMBERS | _CONSTANTS):
                raise UnsupportedError(
                    f"nd.{self.name}: args holds a {leaf.type}. Way out: pass numbers, arrays of "
                    "numbers and tuples of these; functions can be globals of the function"
                )
        return [(f"{source}[{k}]", ty) for k, ty in enumerate(args)]

    derivative_told = "derivative"  # what must be regular, in words
    of_array = True  # whether `f` returns an array for an array
    identity = False  # whether the equation is `f(x, *args) = x`
    is_quiet = (
        False  # whether a search that fails gives NaN, and singular derivatives are not looked for
    )

    def watched(self, args):
        """`(source, name)` of the arrays in args that the function might write to."""
        for k, ty in enumerate(args, start=1):
            if k in self.changed:
                for leaf in leaves(parse(ty, f"args[{k - 1}]")):
                    if isinstance(leaf.type, types.Array):
                        yield leaf.source, self.names[k]

    @property
    def equation(self):
        """The function `g(x, *args)` that is zero at the solution, or equal to `x` there."""
        return self.f

    def solver(self, scalar, bracketed):
        """What finds the solution for floats: a function, those that it calls, and further arguments."""
        raise NotImplementedError

    def generate(self, typingctx, argtypes):
        source = Solution(self, typingctx, argtypes)
        return source.values() if source.top is None else source.tangents()
