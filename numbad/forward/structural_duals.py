"""Functions whose derivative does not fit the form of one partial for each scalar argument."""

import cmath
import math

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload, overload_attribute, overload_method

from . import dual as d
from .access import primal
from .arithmetic import Operand, negated
from .overloads import DifferentiableTemplate, emitter, register, top_tag

# -- min and max of any number of arguments --------------------------------------------------


def _lower_extremum(fn, pairwise):
    """Folds the arguments two by two; `pairwise` is the ufunc whose rule says which was chosen."""

    def lower(context, builder, sig, args):
        emit = emitter(context, builder, sig.return_type)
        operands = [Operand(t, a) for t, a in zip(sig.args, args, strict=True)]
        best = operands[0]
        for other in operands[1:]:
            best = _choose(emit, fn, pairwise, best, other)
        return emit.cast(best, sig.return_type)

    return lower


def _choose(emit, fn, pairwise, x, y):
    tag = top_tag((x.type, y.type))
    if tag < 0:
        return emit.call(fn, [x, y])
    inner = [emit.strip(o, tag) for o in (x, y)]
    if top_tag([o.type for o in inner]) >= 0:
        answer = _choose(emit, fn, pairwise, *inner)
    else:
        answer = emit.call(fn, inner)
    return emit.chain(pairwise, [x, y], tag, answer)


register(min, DifferentiableTemplate, _lower_extremum(min, np.minimum))
register(max, DifferentiableTemplate, _lower_extremum(max, np.maximum))

# -- several results -------------------------------------------------------------------------


def _divmod(x, y):
    if isinstance(x, d.Dual) or isinstance(y, d.Dual):
        return lambda x, y: (x // y, x % y)


overload(divmod)(_divmod)
overload(np.divmod)(_divmod)


@overload(math.frexp)
def _frexp(x):
    if isinstance(x, d.Dual):

        def frexp(x):
            _, exponent = math.frexp(primal(x))
            return math.ldexp(x, -exponent), exponent

        return frexp


# -- complex numbers -------------------------------------------------------------------------


def is_complex_dual(ty):
    return isinstance(ty, d.Dual) and isinstance(d.base_scalar(ty), types.Complex)


def _map_linear(context, builder, source, target, value, leaf):
    """A linear function of complex or real scalars, applied to a value and all its partials."""
    if not isinstance(source, d.Dual):
        return leaf(source, value)
    inner, partials = d.split(context, builder, source, value)

    def each(item):
        return _map_linear(context, builder, source.scalar, target.scalar, item, leaf)

    partials = d.map_partials(context, builder, source, target, partials, each)
    return d.build(context, builder, target, each(inner), partials)


def _linear(name, base_of, leaf_of):
    """An intrinsic for a linear function: `base_of` gives its result's type, `leaf_of` its code."""

    def typed(typingctx, z):
        target = d.with_base(z, base_of(d.base_scalar(z)))

        def codegen(context, builder, sig, args):
            def leaf(ty, value):
                return leaf_of(context, builder, ty, value)

            return _map_linear(context, builder, z, target, args[0], leaf)

        return target(z), codegen

    typed.__name__ = name
    return intrinsic(typed)


def _real_leaf(context, builder, ty, value):
    return builder.extract_value(value, 0) if isinstance(ty, types.Complex) else value


def _imag_leaf(context, builder, ty, value):
    if isinstance(ty, types.Complex):
        return builder.extract_value(value, 1)
    return ir.Constant(value.type, 0.0)


def _conj_leaf(context, builder, ty, value):
    if isinstance(ty, types.Complex):
        return builder.insert_value(value, negated(builder, builder.extract_value(value, 1)), 1)
    return value


def _underlying(base):
    return base.underlying_float if isinstance(base, types.Complex) else base


real_part = _linear("real_part", _underlying, _real_leaf)
imag_part = _linear("imag_part", _underlying, _imag_leaf)
conjugate = _linear("conjugate", lambda base: base, _conj_leaf)


@intrinsic
def from_parts(typingctx, re, im):
    """The complex dual (or complex number) with these real and imaginary parts."""
    common = d.join(typingctx, re, im)
    base = d.base_scalar(common)
    target = d.with_base(common, types.complex64 if base == types.float32 else types.complex128)
    real = d.with_base(common, types.float32 if base == types.float32 else types.float64)

    def codegen(context, builder, sig, args):
        re, im = (context.cast(builder, a, t, real) for a, t in zip(args, sig.args, strict=True))
        return _zip_parts(context, builder, real, target, re, im)

    return target(re, im), codegen


def _zip_parts(context, builder, real, target, re, im):
    if not isinstance(real, d.Dual):
        value = ir.Constant(context.get_value_type(target), ir.Undefined)
        return builder.insert_value(builder.insert_value(value, re, 0), im, 1)
    (re, re_partials), (im, im_partials) = (
        d.split(context, builder, real, part) for part in (re, im)
    )
    value = _zip_parts(context, builder, real.scalar, target.scalar, re, im)
    partials = d.zero_partials(context, target)
    for i in range(real.n):
        parts = (d.get_partial(builder, real, p, i) for p in (re_partials, im_partials))
        item = _zip_parts(context, builder, real.scalar, target.scalar, *parts)
        partials = d.set_partial(builder, target, partials, item, i)
    return d.build(context, builder, target, value, partials)


def _of_dual(part):
    def choose(z):
        if isinstance(z, d.Dual):
            return lambda z: part(z)

    return choose


for _fn, _part in ((np.real, real_part), (np.imag, imag_part), (np.conj, conjugate)):
    overload(_fn)(_of_dual(_part))


@overload_attribute(d.Dual, "real")
def _attribute_real(z):
    return lambda z: real_part(z)


@overload_attribute(d.Dual, "imag")
def _attribute_imag(z):
    return lambda z: imag_part(z)


@overload_method(d.Dual, "item")
def _method_item(x):
    return lambda x: x


@overload_method(d.Dual, "conjugate")
def _method_conjugate(z):
    return lambda z: conjugate(z)


def _modulus(z):
    if is_complex_dual(z):
        return lambda z: math.hypot(real_part(z), imag_part(z))


def _phase(z):
    if is_complex_dual(z):
        return lambda z: math.atan2(imag_part(z), real_part(z))


for _fn in (abs, np.absolute):
    overload(_fn)(_modulus)
for _fn in (np.angle, cmath.phase):
    overload(_fn)(_phase)


@overload(cmath.polar)
def _polar(z):
    if is_complex_dual(z):
        return lambda z: (abs(z), cmath.phase(z))


@overload(cmath.rect)
def _rect(r, phi):
    if isinstance(r, d.Dual) or isinstance(phi, d.Dual):
        return lambda r, phi: from_parts(r * math.cos(phi), r * math.sin(phi))


@overload(complex)
def _complex(re, im=0.0):
    if isinstance(re, d.Dual) or isinstance(im, d.Dual):
        if is_complex_dual(re) or is_complex_dual(im):
            return None
        return lambda re, im=0.0: from_parts(re, im)
