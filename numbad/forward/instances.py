"""The user's classes whose instances a function may meet: their methods and properties, by name.

Untyped code does not tell whose method `box.take(a)` calls. The instances that a function
meets are among its arguments, or are made by a class which the function or one of its callees names.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from numba.core import ir, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.extending import _Intrinsic
from numba.experimental.jitclass.base import JitClassType

from ..ir.untyped import constant_of, untyped
from .known import makes_structrefs, stood_for
from .retyped import ALLOCATORS


@dataclass
class Instances:
    """The functions that a name may mean where an instance of a class is asked for it."""

    methods: dict = field(default_factory=lambda: defaultdict(list))
    getters: dict = field(default_factory=lambda: defaultdict(list))
    setters: dict = field(default_factory=lambda: defaultdict(list))
    functions: dict = field(default_factory=lambda: defaultdict(list))  # static methods
    references: set = field(default_factory=set)  # names of fields that are more than numbers
    complete: bool = False  # whether there are no others, so that no name means anything else
    opaque: bool = False  # whether there are objects whose methods are not known

    def __post_init__(self):
        self._seen = set()

    def of_types(self, tys):
        """Add what values of these types hold."""
        for ty in tys:
            self._type(ty)
        return self

    def of_code(self, func_ir):
        """Add the classes that code names, or a function that it calls."""
        for value in map(stood_for, _constants(func_ir)):
            if isinstance(value, JitClassType):
                self._type(value.class_type.instance_type)
            elif makes_structrefs(value):
                self.complete, self.opaque = False, True
            elif isinstance(value, _Intrinsic) and value in ALLOCATORS:
                self._type(ALLOCATORS[value])
            elif isinstance(value, Dispatcher):
                self.of_dispatcher(value)
        return self

    def of_dispatcher(self, dispatcher):
        """The same for the code of a function, or of the one that an operator differentiates."""
        while hasattr(dispatcher, "operator"):
            dispatcher = dispatcher.operator.f
        if dispatcher.py_func not in self._seen:
            self._seen.add(dispatcher.py_func)
            try:
                code = untyped(dispatcher)
            except (NumbaError, UnsupportedBytecodeError):
                self.complete = False  # if it is called, its compilation says why
            else:
                self.of_code(code)
        return self

    def _type(self, ty):
        if isinstance(ty, types.BaseTuple):
            self.of_types(ty.types)
        elif isinstance(ty, types.Optional):
            self._type(ty.type)
        elif isinstance(ty, types.Sequence | types.ListType | types.Set):
            self._type(ty.dtype)
        elif isinstance(ty, types.DictType):
            self.of_types([ty.key_type, ty.value_type])
        elif isinstance(ty, types.Dispatcher):
            self.of_dispatcher(ty.dispatcher)
        elif isinstance(ty, types.DeferredType):
            self._type(ty.get())
        elif isinstance(ty, types.ClassInstanceType) and ty not in self._seen:
            self._seen.add(ty)
            self._class(ty)
        elif isinstance(ty, types.StructRef):  # its methods stand nowhere together
            self.complete, self.opaque = False, True

    def _class(self, ty):
        self._functions(self.methods, ty.jit_methods)
        self._functions(self.functions, ty.jit_static_methods)
        for kind, known in (("get", self.getters), ("set", self.setters)):
            self._functions(known, {k: p[kind] for k, p in ty.jit_props.items() if kind in p})
        self.of_types(ty.struct.values())
        numbers = types.Number | types.Boolean
        self.references |= {
            name for name, part in ty.struct.items() if not isinstance(part, numbers)
        }

    def may_refer(self, name):
        """Whether the attribute of an object may be what was assigned to it, rather than a copy."""
        return name in self.references or not self.complete

    def _functions(self, known, named):
        for name, function in named.items():
            known[name].append(function)
            self.of_dispatcher(function)


def instances_met(func_ir, args):
    """The classes that code may meet, with arguments of these types."""
    return Instances(complete=True).of_types(args).of_code(func_ir)


def _constants(func_ir):
    """The objects that code names: globals, closure cells, attributes of modules."""
    for block in func_ir.blocks.values():
        for statement in block.find_insts(ir.Assign):
            value = statement.value
            if isinstance(value, ir.Global | ir.FreeVar):
                yield value.value
            elif isinstance(value, ir.Expr) and value.op == "getattr":
                yield constant_of(func_ir, statement.target)
