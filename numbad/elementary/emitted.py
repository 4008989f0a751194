"""Numbers of double precision as LLVM values, one or a vector of them, with Python's operators.

A formula over them emits the same operations for every width, each rounded as IEEE 754 says, so that a
number in a vector gets the bits that it gets alone. A sum takes up a product only where `fma` says so.
"""

from llvmlite import ir

DOUBLE, INT64, INT32, BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(1)
_ROUNDING = 6755399441055744.0  # 1.5 * 2**52: the sum with it is rounded to an integer
_ONE_BITS, _MANTISSA_BITS = 0x3FF0000000000000, 0x000FFFFFFFFFFFFF


class Emitted:
    """A double, an integer or a truth value, or a vector of such, in the code of `builder`."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @property
    def type(self):
        return self.value.type

    @property
    def width(self):
        """How many numbers there are; None for one that is no vector."""
        return self.type.count if isinstance(self.type, ir.VectorType) else None

    def like(self, scalar):
        """The type of as many scalars."""
        return scalar if self.width is None else ir.VectorType(scalar, self.width)

    def constant(self, number, scalar=None):
        """A number in all places, of the type of this one."""
        if isinstance(number, Emitted):
            return number.value
        scalar = scalar or (self.type if self.width is None else self.type.element)
        return ir.Constant(
            self.like(scalar), number if self.width is None else [number] * self.width
        )

    def new(self, value):
        return Emitted(self.builder, value)

    def _of(self, name, other, turned=False):
        operands = [self.value, self.constant(other)]
        return self.new(getattr(self.builder, name)(*(operands[::-1] if turned else operands)))

    def __add__(self, other):
        return self._of("fadd", other)

    def __sub__(self, other):
        return self._of("fsub", other)

    def __rsub__(self, other):
        return self._of("fsub", other, turned=True)

    def __mul__(self, other):
        return self._of("fmul", other)

    def __truediv__(self, other):
        return self._of("fdiv", other)

    def __rtruediv__(self, other):
        return self._of("fdiv", other, turned=True)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self.new(self.builder.fneg(self.value))

    def _compare(self, sign, other):
        return self.new(self.builder.fcmp_ordered(sign, self.value, self.constant(other)))

    def __lt__(self, other):
        return self._compare("<", other)

    def __le__(self, other):
        return self._compare("<=", other)

    def __gt__(self, other):
        return self._compare(">", other)

    def __ge__(self, other):
        return self._compare(">=", other)

    def equals(self, other):
        return self._compare("==", other)

    def __and__(self, other):
        return self.new(self.builder.and_(self.value, other.value))

    def __abs__(self):
        return self._intrinsic("fabs")

    def _intrinsic(self, name, *others):
        """A function of LLVM's for one number or for vectors."""
        suffix = "f64" if self.width is None else f"v{self.width}f64"
        operands = [self.value, *map(self.constant, others)]
        fnty = ir.FunctionType(self.type, [v.type for v in operands])
        name, module = f"llvm.{name}.{suffix}", self.builder.module
        function = module.globals.get(name) or ir.Function(module, fnty, name)
        return self.new(self.builder.call(function, operands))

    def with_sign_of(self, other):
        return self._intrinsic("copysign", other)

    # -- bits ---------------------------------------------------------------------------------------

    def bits(self):
        return self.new(self.builder.bitcast(self.value, self.like(INT64)))

    def of_bits(self):
        return self.new(self.builder.bitcast(self.value, self.like(DOUBLE)))

    def _integer(self, name, number):
        return self.new(getattr(self.builder, name)(self.value, self.constant(number)))

    def mantissa(self):
        """What a positive normal number is times a power of two, within [1, 2)."""
        kept = self.bits()._integer("and_", _MANTISSA_BITS)
        return kept._integer("or_", _ONE_BITS).of_bits()

    def exponent(self):
        """The largest n with 2**n <= x as a number, for positive normal x."""
        small = self.builder.trunc(self.bits()._integer("ashr", 52).value, self.like(INT32))
        return self.new(
            self.builder.sitofp(self.new(small)._integer("sub", 1023).value, self.like(DOUBLE))
        )

    def shifted(self):
        """The number rounded to an integer, in the last bits of another: see `rounded`, `power_of_two`."""
        return self + _ROUNDING

    def rounded(self):
        """What was rounded by `shifted`."""
        return self - _ROUNDING

    def power_of_two(self):
        """2**n, for the integer n from -1022 to 1023 that `shifted` gave."""
        return self.bits()._integer("shl", 52)._integer("add", _ONE_BITS).of_bits()

    def has_bit(self, number):
        """Whether the integer that `shifted` gave has a bit."""
        left = self.bits()._integer("and_", number)
        return self.new(self.builder.icmp_unsigned("!=", left.value, left.constant(0)))


def fma(x, y, z):
    """x * y + z, rounded once; two of the three may be plain numbers."""
    given = next(v for v in (x, y, z) if isinstance(v, Emitted))
    x, y, z = (given.new(given.constant(v)) for v in (x, y, z))
    return x._intrinsic("fma", y, z)


def select(condition, x, y):
    """`x` where the condition holds, else `y`; one of them may be a plain number."""
    given = x if isinstance(x, Emitted) else y
    return condition.new(
        condition.builder.select(condition.value, given.constant(x), given.constant(y))
    )


def product(x, y):
    """x * y rounded by itself, also where a GPU's compiler would contract it with a sum."""
    module = x.builder.module
    if "nvptx" not in module.triple:
        return x * y
    fnty = ir.FunctionType(DOUBLE, [DOUBLE, DOUBLE])
    rounded = module.globals.get("__nv_dmul_rn") or ir.Function(module, fnty, "__nv_dmul_rn")
    return x.new(x.builder.call(rounded, [x.value, x.constant(y)]))


def two_sum(x, y):
    """The sum and what rounding it lost (Knuth, TAOCP 2, 4.2.2, theorem B)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def fast_two_sum(x, y):
    """The same where |x| >= |y| or x is 0 (Dekker, Numer. Math. 18, 1971, 224)."""
    total = x + y
    return total, (x - total) + y


def two_product(x, y):
    """The product and what rounding it lost."""
    high = x * y
    return high, fma(x, y, -high)


def polynomial(x, coefficients):
    """c0 + c1 x + c2 x**2 + ... by Horner's rule."""
    *others, found = coefficients
    for c in reversed(others):
        found = fma(x, found, c)
    return found


def split_polynomial(x, coefficients):
    """The same in two chains, of even and of odd powers: half as long to wait for."""
    square = x * x
    return fma(x, polynomial(square, coefficients[1::2]), polynomial(square, coefficients[::2]))
