"""The operator of first derivatives, in either mode: of a scalar a gradient, of anything else a Jacobian."""

from ..errors import ArgumentError
from ..reverse.pipeline import has_lane_loops
from .argnums import checked_argnums, checked_out, numbered, refuse_starred
from .argument_structure import (
    ArgumentLeaf,
    differentiated,
    leaves,
    parse,
    refuse_complex,
    render,
)
from .aux_results import beside_gradient, value_and_aux
from .forward_sweep import ForwardSweep
from .jacobian_rows import write_rows
from .mode import Choice, cheaper, check_mode
from .operator_dispatcher import Operator, original, parameter_names
from .results import numeric_result, plain_result, refuse_returned
from .reverse_gradient import write_gradient
from .rows_together import goes_together, known_number, write_rows_together


class Jacobian(Operator):
    """Derivatives of every number of the result by every number of some arguments."""

    def __init__(
        self, f, argnums, *, name, scalar, value, mode="auto", chunk=None, out=None, has_aux=False
    ):
        self.name, self.scalar, self.with_value = name, scalar, value
        self.has_aux = checked_flag(f"nd.{name}: has_aux", has_aux)
        super().__init__(f)
        self.f = numbered(self.f, argnums)
        names = parameter_names(self.f.py_func)
        self.single = not isinstance(argnums, tuple | list)
        self.argnums = checked_argnums(name, argnums, names)
        refuse_starred(name, self.f.py_func, self.argnums)
        self.chunk = checked_chunk(chunk)
        self.choice = Choice(check_mode(name, mode, chunk))
        self.out = checked_out(name, out, names)
        if self.out in self.argnums:
            raise ArgumentError(
                f"nd.{name}: argument {out} cannot be both out= and in argnums; nd.vjp and nd.jvp take it. "
                "Or return the result: def g(x): y = x.copy(); f(y); return y"
            )

    def key(self):
        asked = self.name, self.scalar, self.with_value, self.argnums, self.single
        return *asked, self.choice.mode, self.chunk, self.out, self.has_aux

    def generate(self, typingctx, argtypes):
        argtypes = tuple(argtypes)
        own = self._own(argtypes)
        if own is not None:
            return own
        mode = self.choice.take(argtypes, lambda: self._preferred(typingctx, argtypes))
        if mode == "forward":
            return self._forward(typingctx, argtypes)
        if self.scalar:
            return write_gradient(self, typingctx, argtypes)
        return self._rows(typingctx, argtypes)

    def _own(self, argtypes):
        """The code of a function that brings its Jacobian along, where that is taken; else None."""
        write = getattr(original(self.f), "numbad_jacobian", None)
        plain = not self.scalar and self.out is None and self.chunk is None
        if write is None or not plain or not self.choice.may_be_own(argtypes):
            return None
        names = parameter_names(self.f.py_func)
        for k in self.argnums:
            differentiated(f"nd.{self.name}", names[k], "", argtypes[k])
        found = write(argtypes, self.argnums, self.single, self.with_value, self.choice.mode)
        if found is not None:
            self.choice.take_own(argtypes)
        return found

    def _rows(self, typingctx, argtypes):
        """Several rows a pass, or one by one where that is all that the code takes."""
        if goes_together(self, argtypes):
            self.choice.take_rows(argtypes, one_by_one=False)
            written = write_rows_together(self, typingctx, argtypes)
            if written is not None:
                return written
        self.choice.take_rows(argtypes, one_by_one=True)
        return write_rows(self, typingctx, argtypes)

    def fall_back(self, argtypes, error):
        return self.choice.fall_back(argtypes, error)

    def _preferred(self, typingctx, argtypes):
        """The mode that should cost less for these types."""
        if self.chunk is not None or self.out is not None:
            return "forward"
        inputs = [parse(argtypes[k], "") for k in self.argnums]
        if self.scalar:
            mode = cheaper(inputs)
            if mode == "forward" and self.vector_math:
                given = original(self.f), argtypes, self.argnums, self.vector_math
                return "reverse" if has_lane_loops(*given) else mode
            return mode
        return cheaper(
            inputs,
            lambda: parse(plain_result(typingctx, self.f, argtypes), ""),
            lambda: known_number(self, typingctx, argtypes),
        )

    def _forward(self, typingctx, argtypes):
        sweep = ForwardSweep(self, typingctx, argtypes, parameter_names(self.f.py_func))
        for k, tree in sweep.trees.items():
            refuse_complex(f"nd.{self.name}", sweep.names[k], tree)
        tree = sweep.run()
        if self.out is not None:
            refuse_returned(self, tree)
            tree = sweep.result_in(self.out)
        elif self.scalar:
            differentiated, _ = value_and_aux(self, tree)
            value = sweep.value(tree) if self.with_value or self.has_aux else None
            gradient = self._derivative(sweep, differentiated)
            return sweep.write(beside_gradient(self, value, gradient))
        else:
            tree = numeric_result(self, tree)
        value = sweep.value(tree) if self.with_value else None
        derivative = self._derivative(sweep, tree)
        return sweep.write(f"{value}, {derivative}" if self.with_value else derivative)

    @staticmethod
    def _derivative(sweep, tree):
        if isinstance(tree, ArgumentLeaf):
            return sweep.derivative(tree, 0)
        sources = {id(leaf): sweep.derivative(leaf, o) for o, leaf in enumerate(leaves(tree))}
        return render(tree, lambda leaf: sources[id(leaf)], sweep.namespace)


def checked_flag(told, flag):
    if isinstance(flag, bool):
        return flag
    raise ArgumentError(f"{told} is True or False, not {flag!r}")


def checked_chunk(chunk):
    if chunk is None or (isinstance(chunk, int) and 1 <= chunk <= 64):
        return chunk
    raise ArgumentError(f"chunk is a number of partials from 1 to 64, not {chunk!r}")
