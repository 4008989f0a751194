"""Emitting LLVM for arithmetic on states, whatever their scalar type and whether tuple or array.

A formula over the components of states is written once in Python, as a function of the component's
number; it is emitted unrolled for tuples (values in registers) and as one loop for arrays. Scalars
travel as `Scalar(ty, value)`; operators on them are those that Numba knows for their type, so that
dual numbers work as floats do. This costs a tenth of the compile time of generated Python source.
"""

import operator
from dataclasses import dataclass

from numba.core import cgutils, types

from numbad.forward.dual import Dual, get_partial, split
from numbad.ode.borrowed import lender_type


@dataclass(frozen=True)
class Scalar:
    """A number in LLVM, with its Numba type and the emitter that does its arithmetic."""

    ty: types.Type
    value: object
    emitter: object

    def __add__(self, other):
        return self.emitter.call(operator.add, self, other)

    def __sub__(self, other):
        return self.emitter.call(operator.sub, self, other)

    def __mul__(self, other):
        return self.emitter.call(operator.mul, self, other)

    def __truediv__(self, other):
        return self.emitter.call(operator.truediv, self, other)

    def __lt__(self, other):
        return self.emitter.call(operator.lt, self, other)


class Emitter:
    """Typed operations at a builder's position."""

    def __init__(self, context, builder):
        self.typingctx = context.typing_context
        self.context = context
        self.builder = builder

    def scalar(self, ty, value):
        return Scalar(ty, value, self)

    def constant(self, number):
        return self.scalar(types.float64, self.context.get_constant(types.float64, number))

    def call(self, function, *scalars):
        """A function that Numba knows, called on scalars."""
        function_type = self.typingctx.resolve_value_type(function)
        arguments = tuple(scalar.ty for scalar in scalars)
        signature = function_type.get_call_type(self.typingctx, arguments, {})
        implementation = self.context.get_function(function_type, signature)
        self.context.add_linking_libs(getattr(implementation, "libs", ()))
        values = [
            self.context.cast(self.builder, scalar.value, scalar.ty, wanted)
            for scalar, wanted in zip(scalars, signature.args, strict=True)
        ]
        return self.scalar(signature.return_type, implementation(self.builder, values))

    def call_dispatcher(self, dispatcher, arguments, values):
        """A compiled function, called on values of given types; an exception in it propagates."""
        function_type = types.Dispatcher(dispatcher)
        arguments = tuple(map(lender_type, arguments))
        signature = function_type.get_call_type(self.typingctx, arguments, {})
        implementation = self.context.get_function(function_type, signature)
        self.context.add_linking_libs(getattr(implementation, "libs", ()))
        return implementation(self.builder, self._passed(arguments, values, signature.args))

    def _passed(self, arguments, values, wanted):
        """Values as a function takes them: `*args` as one tuple, defaults where none is given."""
        passed = []
        for k, ty in enumerate(wanted):
            if isinstance(ty, types.StarArgTuple | types.StarArgUniTuple):
                rest = zip(values[k:], arguments[k:], ty, strict=True)
                members = [self.context.cast(self.builder, *each) for each in rest]
                passed.append(self.context.make_tuple(self.builder, ty, members))
            elif isinstance(ty, types.Omitted):
                passed.append(self.context.get_constant_null(ty))
            else:
                passed.append(self.context.cast(self.builder, values[k], arguments[k], ty))
        return passed

    def cast(self, scalar, ty):
        return self.scalar(ty, self.context.cast(self.builder, scalar.value, scalar.ty, ty))

    def parts(self, scalar):
        """The plain numbers in a scalar: of a dual, the value and all partials of every level."""
        if not isinstance(scalar.ty, Dual):
            return [scalar]
        value, partials = split(self.context, self.builder, scalar.ty, scalar.value)
        inner = scalar.ty.scalar
        items = [value]
        items += [get_partial(self.builder, scalar.ty, partials, i) for i in range(scalar.ty.n)]
        return [part for item in items for part in self.parts(self.scalar(inner, item))]

    def part_types(self, ty):
        """The types of `parts` of a scalar type."""
        return self.part_types(ty.scalar) * (1 + ty.n) if isinstance(ty, Dual) else [ty]

    def larger(self, first, second):
        """The larger of two floats."""
        test = self.builder.fcmp_ordered(">", first.value, second.value)
        return self.scalar(first.ty, self.builder.select(test, first.value, second.value))

    def as_float(self, integer):
        """An LLVM integer as a float."""
        double = self.context.get_value_type(types.float64)
        return self.scalar(types.float64, self.builder.sitofp(integer, double))

    def sum_over(self, vector, component):
        """The sum of the floats `component(i)` over the components of a vector."""
        slot = cgutils.alloca_once(self.builder, self.context.get_value_type(types.float64))
        self.builder.store(self.constant(0.0).value, slot)

        def add(i):
            total = self.scalar(types.float64, self.builder.load(slot)) + component(i)
            self.builder.store(total.value, slot)

        vector.for_each(add)
        return self.scalar(types.float64, self.builder.load(slot))

    def make_state(self, ty, buffer, component, source=None):
        """A state from the formula of its components; an array's are put into `buffer`.

        The components come from `source`, whose length can be known when the array's is not.
        """
        if isinstance(ty, types.BaseTuple):
            items = [self.cast(component(i), ty[i]).value for i in range(len(ty))]
            return self.context.make_tuple(self.builder, ty, items)
        target = self.vector(ty, buffer)

        def put(i):
            target[i] = component(i)

        (target if source is None else source).for_each(put)
        return buffer

    def copied(self, ty, buffer, value):
        """A state put into a buffer, where it is an array."""
        source = self.vector(ty, value)
        return self.make_state(ty, buffer, lambda i: source[i])

    def allocate(self, ty, shape):
        """A new array of a type, of a shape given as LLVM integers."""
        from numba.np.arrayobj import _empty_nd_impl

        return _empty_nd_impl(self.context, self.builder, ty, shape)._getvalue()

    def borrowed(self, ty, value):
        """A value whose arrays do not own their memory, so that copies of it count no references.

        Atomic counting would cost more than a small right-hand side; whoever borrows sees to it
        that the owner outlives the borrowing. Strings, lists and instances are counted as ever.
        """
        if isinstance(ty, types.Array):
            array = self.context.make_array(ty)(self.context, self.builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            return array._getvalue()
        if isinstance(ty, types.BaseTuple):
            for i, member in enumerate(ty):
                item = self.borrowed(member, self.builder.extract_value(value, i))
                value = self.builder.insert_value(value, item, i)
            return value
        if self.context.data_model_manager[ty].contains_nrt_meminfo():
            self.context.nrt.incref(self.builder, ty, value)
        return value

    def write_row(self, ty, table, row, vector):
        """Put a vector into row `row`, an LLVM integer, of a table."""
        target = ArrayComponents(self, ty, table, leading=(row,))

        def put(i):
            target[i] = vector[i]

        vector.for_each(put)

    def row(self, ty, table, i):
        """Row `i`, an int or an LLVM integer, of a contiguous table, as an array that borrows its memory."""
        from numba.np.arrayobj import populate_array

        row_type = types.Array(ty.dtype, 1, "C")
        index = self.context.get_constant(types.intp, i) if isinstance(i, int) else i
        components = ArrayComponents(self, ty, table, leading=(index,))
        row = self.context.make_array(row_type)(self.context, self.builder)
        populate_array(
            row,
            data=components.pointer(0),
            shape=[components.shape[1]],
            strides=[components.strides[1]],
            itemsize=components.array.itemsize,
            meminfo=None,
            parent=None,
        )
        return row._getvalue()

    def vector(self, ty, value):
        """What holds the components of a state: a tuple, an array, or one scalar for all."""
        if isinstance(ty, types.BaseTuple):
            return TupleComponents(self, ty, value)
        if isinstance(ty, types.Array):
            return ArrayComponents(self, ty, value)
        if isinstance(ty, types.List):
            return ListComponents(self, ty, value)
        return OneForAll(self, ty, value)

    def vector_or_one(self, ty, value):
        """As `vector`, a scalar being a vector of one component."""
        if isinstance(ty, types.BaseTuple | types.Array | types.List):
            return self.vector(ty, value)
        single = types.UniTuple(ty, 1)
        return self.vector(single, self.context.make_tuple(self.builder, single, [value]))

    def members(self, ty, value):
        """The members of a tuple, each as a vector."""
        return [
            self.vector(member, self.builder.extract_value(value, j)) for j, member in enumerate(ty)
        ]


class OneForAll:
    """A scalar that stands for the same value in every component."""

    def __init__(self, emitter, ty, value):
        self.scalar = emitter.scalar(ty, value)

    def __getitem__(self, i):
        return self.scalar


class TupleComponents:
    """The members of a tuple; their loop is unrolled."""

    def __init__(self, emitter, ty, value):
        self.emitter = emitter
        self.ty = ty
        self.value = value
        self.count = len(ty)

    def __getitem__(self, i):
        builder = self.emitter.builder
        if isinstance(i, int):
            return self.emitter.scalar(self.ty[i], builder.extract_value(self.value, i))
        slot = cgutils.alloca_once_value(builder, self.value)
        member = builder.load(cgutils.gep_inbounds(builder, slot, 0, i))
        return self.emitter.scalar(self.ty.dtype, member)

    def for_each(self, body):
        for i in range(self.count):
            body(i)

    def size(self):
        return self.emitter.context.get_constant(types.intp, self.count)


class ArrayComponents:
    """The items of a one-dimensional array, or of one row of a table; their loop is a loop."""

    def __init__(self, emitter, ty, value, leading=()):
        self.emitter = emitter
        self.ty = ty
        self.value = value
        self.leading = leading
        self.array = emitter.context.make_array(ty)(emitter.context, emitter.builder, value)
        self.shape = cgutils.unpack_tuple(emitter.builder, self.array.shape, ty.ndim)
        self.strides = cgutils.unpack_tuple(emitter.builder, self.array.strides, ty.ndim)
        self.count = self.shape[-1]

    def pointer(self, i):
        context, builder = self.emitter.context, self.emitter.builder
        index = context.get_constant(types.intp, i) if isinstance(i, int) else i
        return cgutils.get_item_pointer2(
            context,
            builder,
            self.array.data,
            self.shape,
            self.strides,
            self.ty.layout,
            [*self.leading, index],
        )

    def __getitem__(self, i):
        emitter = self.emitter
        value = emitter.context.unpack_value(emitter.builder, self.ty.dtype, self.pointer(i))
        return emitter.scalar(self.ty.dtype, value)

    def __setitem__(self, i, scalar):
        emitter = self.emitter
        value = emitter.cast(scalar, self.ty.dtype).value
        emitter.context.pack_value(emitter.builder, self.ty.dtype, value, self.pointer(i))

    def for_each(self, body):
        with cgutils.for_range(self.emitter.builder, self.count) as loop:
            body(loop.index)

    def size(self):
        return self.count


class ListComponents:
    """The items of a list, to be read."""

    def __init__(self, emitter, ty, value):
        from numba.cpython.listobj import ListInstance

        self.emitter = emitter
        self.ty = ty
        self.items = ListInstance(emitter.context, emitter.builder, ty, value)
        self.count = self.items.size

    def __getitem__(self, i):
        index = self.emitter.context.get_constant(types.intp, i) if isinstance(i, int) else i
        return self.emitter.scalar(self.ty.dtype, self.items.getitem(index))

    def for_each(self, body):
        with cgutils.for_range(self.emitter.builder, self.count) as loop:
            body(loop.index)

    def size(self):
        return self.count
