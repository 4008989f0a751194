"""Linear systems of a few equations without any memory: every number in a register, every loop unrolled.

What `numbad.ode.linear` does in arrays: LU factors with row exchanges, of values alone; a partial of the
solution solves W dk = dr + h dJ k with the same factors.
"""

from numbad.forward.dual import Dual, build, get_partial, set_partial, split, zero_partials


class Factors:
    """The LU factors of a matrix, rows of `Scalar`s that are plain numbers.

    A row exchange picks one of two numbers: an index that is only known as the kernel runs would put the
    matrix into memory.
    """

    def __init__(self, emitter, rows):
        self.emitter, self.rows, self.exchanges = emitter, [list(row) for row in rows], []
        for k in range(len(rows)):
            self._find_pivot(k)
            self._eliminate(k)

    def _find_pivot(self, k):
        """The largest number of a column into row k, the first of those that are as large."""
        rows, size = self.rows, self._size
        for i in range(k + 1, len(rows)):
            better = self.emitter.builder.fcmp_ordered(
                ">", size(rows[i][k]).value, size(rows[k][k]).value
            )
            self.exchanges.append((k, i, better))
            for column in range(len(rows)):
                pair = rows[k][column], rows[i][column]
                rows[k][column], rows[i][column] = self._exchanged(better, *pair)

    def _eliminate(self, k):
        """The column below a pivot, which is inverted."""
        rows = self.rows
        pivot = self.emitter.constant(1.0) / rows[k][k]
        for row in rows[k + 1 :]:
            row[k] = row[k] * pivot
            for column in range(k + 1, len(rows)):
                row[column] = row[column] - row[k] * rows[k][column]
        rows[k][k] = pivot

    def solve(self, right):
        """The solution for a right-hand side of plain numbers."""
        rows, x = self.rows, list(right)
        for k, i, better in self.exchanges:
            x[k], x[i] = self._exchanged(better, x[k], x[i])
        for k in range(len(x)):
            for j in range(k):
                x[k] = x[k] - rows[k][j] * x[j]
        for k in reversed(range(len(x))):
            for j in range(k + 1, len(x)):
                x[k] = x[k] - rows[k][j] * x[j]
            x[k] = x[k] * rows[k][k]
        return x

    def solve_transposed(self, right):
        """The solution with the transpose of the matrix, for a right-hand side of plain numbers."""
        rows, x = self.rows, list(right)
        for k in range(len(x)):
            for j in range(k):
                x[k] = x[k] - rows[j][k] * x[j]
            x[k] = x[k] * rows[k][k]
        for k in reversed(range(len(x))):
            for j in range(k + 1, len(x)):
                x[k] = x[k] - rows[j][k] * x[j]
        for k, i, better in reversed(self.exchanges):
            x[k], x[i] = self._exchanged(better, x[k], x[i])
        return x

    def _size(self, scalar):
        return self.emitter.call(abs, scalar)

    def _exchanged(self, test, first, second):
        select = self.emitter.builder.select
        return (
            self.emitter.scalar(first.ty, select(test, second.value, first.value)),
            self.emitter.scalar(first.ty, select(test, first.value, second.value)),
        )


def solved(factors, jacobian, h, right):
    """The solution of (1 / gamma - h J) x = right, for the factors of its values, with its partials."""
    emitter, ty = factors.emitter, right[0].ty
    if not isinstance(ty, Dual):
        return factors.solve(right)
    J, r = [_taken_apart(emitter, row) for row in jacobian], _taken_apart(emitter, right)
    values = [[entry[0] for entry in row] for row in J]
    found = [solved(factors, values, h, [entry[0] for entry in r])]
    scaled = [h * x for x in found[0]]
    for q in range(1, 1 + ty.n):
        moved = [entry[q] for entry in r]
        for i, row in enumerate(J):
            for entry, x in zip(row, scaled, strict=True):
                moved[i] = moved[i] + entry[q] * x
        found.append(solved(factors, values, h, moved))
    return [put_together(emitter, ty, parts) for parts in zip(*found, strict=True)]


def innermost_value(emitter, scalar):
    """The plain number in a scalar."""
    return emitter.parts(scalar)[0]


def _taken_apart(emitter, scalars):
    """The value and the partials of each dual number."""
    return [[value_of(emitter, s), *partials_of(emitter, s)] for s in scalars]


def value_of(emitter, scalar):
    """The value of a dual number."""
    value, _ = split(emitter.context, emitter.builder, scalar.ty, scalar.value)
    return emitter.scalar(scalar.ty.scalar, value)


def partials_of(emitter, scalar):
    """The partials of a dual number."""
    builder, ty = emitter.builder, scalar.ty
    _, partials = split(emitter.context, builder, ty, scalar.value)
    return [emitter.scalar(ty.scalar, get_partial(builder, ty, partials, j)) for j in range(ty.n)]


def put_together(emitter, ty, parts):
    context, builder = emitter.context, emitter.builder
    value, *rest = (emitter.cast(part, ty.scalar).value for part in parts)
    partials = zero_partials(context, ty)
    for j, partial in enumerate(rest):
        partials = set_partial(builder, ty, partials, partial, j)
    return emitter.scalar(ty, build(context, builder, ty, value, partials))


def unit_dual(emitter, ty, scalar, j):
    """A dual number that moves in direction j, or in none for None."""
    one, zero = emitter.constant(1.0), emitter.constant(0.0)
    moving = [one if k == j else zero for k in range(ty.n)]
    return put_together(emitter, ty, [scalar, *moving])
