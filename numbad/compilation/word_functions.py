"""Functions of 64-bit ints, addresses of memory among them, compiled in a tenth of Numba's time.

What a first gradient needs of them is compiled in every new process that finds no cache, and would be
most of the wait. All values have one type, so Numba's reading of the bytecode is turned into LLVM code as
it stands, with nothing to infer. What such a function may contain is what `_Body` emits: ints, `+`, `-`,
`*`, `&`, comparisons, `min` and `max`, branches, `while` loops, and calls of its like and of what `emitted`
decorates.
"""

import contextlib
import operator
import pickle
from functools import cache

from llvmlite import ir
from numba.core import cgutils
from numba.core import ir as numba_ir
from numba.core.compiler import run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from . import folder
from .fingerprint import Fingerprint, settings, versions

_FORMAT = b"numbad words 1\n"

i64 = ir.IntType(64)

_COMPUTED = {
    operator.add: ir.IRBuilder.add,
    operator.sub: ir.IRBuilder.sub,
    operator.mul: ir.IRBuilder.mul,
    operator.and_: ir.IRBuilder.and_,
}
_COMPARED = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


class WordFunction:
    """A function of ints, which machine code calls by its name."""

    def __init__(self, py_func):
        self.py_func = py_func
        self.name = f"numbad_{py_func.__name__.lstrip('_')}"

    def type(self):
        return ir.FunctionType(i64, [i64] * self.py_func.__code__.co_argcount)

    def call(self, builder, *args):
        """Emit a call of the machine code, to be found by name."""
        fn = cgutils.get_or_insert_function(builder.module, self.type(), self.name)
        return builder.call(fn, args)


def emitted(emit):
    """Decorate `emit(builder, *ints)`: a call within a word function gives what it returns, or None."""
    emit.is_emitted = True
    return emit


@cache
@global_compiler_lock
def machine_code(function):
    """The address of the machine code of a word function; the code is kept on disk."""
    codegen = cpu_target.target_context.codegen()
    place = folder.cache_folder()
    if place is None or not folder.is_trusted(place):
        return _compiled(codegen, function).get_pointer_to_function(_code_name(function))
    machine = repr((versions(), settings(), codegen.magic_tuple()))
    path = place / f"{function.name}-{Fingerprint().add(machine).hexdigest()[:32]}.nbc"
    data = folder.read(path)
    if data.startswith(_FORMAT):
        library = codegen.unserialize_library(pickle.loads(data[len(_FORMAT) :]))
    else:
        library = _compiled(codegen, function)
        with contextlib.suppress(OSError):  # a full disk must not stop anyone
            folder.write(path, _FORMAT + pickle.dumps(library.serialize_using_object_code()))
    return library.get_pointer_to_function(_code_name(function))


def _compiled(codegen, function):
    library = codegen.create_library(function.name)
    library.enable_object_caching()
    module = library.create_ir_module(function.name)
    _defined(module, function).linkage = "external"
    library.add_ir_module(module)
    library.finalize()
    return library


def _code_name(function):
    """Not the name by which it is called from elsewhere."""
    return f"{function.name}.code"


def _defined(module, function):
    """The LLVM function, in a module, of a word function and of what it calls."""
    name = _code_name(function)
    if name in module.globals:
        return module.globals[name]
    fn = ir.Function(module, function.type(), name)
    fn.linkage = "internal"
    _Body(fn, run_frontend(function.py_func)).emit()
    return fn


class _Body:
    """The body of one function: variables in the frame, which LLVM takes to registers."""

    def __init__(self, fn, func_ir):
        self.fn, self.blocks = fn, func_ir.blocks
        self.places, self.objects = {}, {}
        self.entry = fn.append_basic_block("entry")
        self.starts = {label: fn.append_basic_block(f"b{label}") for label in sorted(self.blocks)}

    def emit(self):
        for label in sorted(self.blocks):
            self.builder = ir.IRBuilder(self.starts[label])
            for statement in self.blocks[label].body:
                self.statement(statement)
        ir.IRBuilder(self.entry).branch(self.starts[min(self.blocks)])

    def statement(self, statement):
        if isinstance(statement, numba_ir.Assign):
            self.assign(statement.target.name, statement.value)
        elif isinstance(statement, numba_ir.Jump):
            self.builder.branch(self.starts[statement.target])
        elif isinstance(statement, numba_ir.Branch):
            ways = self.starts[statement.truebr], self.starts[statement.falsebr]
            self.builder.cbranch(self.is_true(self.value(statement.cond)), *ways)
        elif isinstance(statement, numba_ir.Return):
            self.builder.ret(self.value(statement.value))
        elif not isinstance(statement, numba_ir.Del):
            raise NotImplementedError(statement)

    def assign(self, name, value):
        if isinstance(value, numba_ir.Global | numba_ir.FreeVar):
            if not isinstance(value.value, int):
                self.objects[name] = value.value
                return
            result = i64(value.value)
        elif isinstance(value, numba_ir.Const):
            result = i64(value.value or 0)  # None, where a function ends
        elif isinstance(value, numba_ir.Arg):
            result = self.fn.args[value.index]
        elif isinstance(value, numba_ir.Var) and value.name in self.objects:
            self.objects[name] = self.objects[value.name]
            return
        elif isinstance(value, numba_ir.Var):
            result = self.value(value)
        else:
            result = self.expression(value)
        if name not in self.places:
            self.places[name] = ir.IRBuilder(self.entry).alloca(i64)
        self.builder.store(result, self.places[name])

    def value(self, variable):
        return self.builder.load(self.places[variable.name])

    def is_true(self, value):
        return self.builder.icmp_signed("!=", value, i64(0))

    def expression(self, expr):
        if expr.op == "cast":
            return self.value(expr.value)
        if expr.op == "call":
            return self.call(self.objects[expr.func.name], [self.value(a) for a in expr.args])
        if expr.op not in ("binop", "inplace_binop"):
            raise NotImplementedError(expr)
        fn = expr.immutable_fn if expr.op == "inplace_binop" else expr.fn
        left, right = self.value(expr.lhs), self.value(expr.rhs)
        if fn in _COMPUTED:
            return _COMPUTED[fn](self.builder, left, right)
        if fn not in _COMPARED:
            raise NotImplementedError(expr)
        return self.builder.zext(self.builder.icmp_signed(_COMPARED[fn], left, right), i64)

    def call(self, called, args):
        if called is bool:
            return args[0]
        if called in (min, max):
            first = self.builder.icmp_signed("<" if called is min else ">", *args)
            return self.builder.select(first, *args)
        if isinstance(called, WordFunction):
            return self.builder.call(_defined(self.fn.module, called), args)
        if not getattr(called, "is_emitted", False):
            raise NotImplementedError(called)
        return called(self.builder, *args) or i64(0)
