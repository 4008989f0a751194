"""What the user sees of numbers, in print and in exceptions, are values without partials."""

from numba.core import ir

from .dual_arrays import plain


def show_values(statement, body):
    """Let a statement that raises or prints get plain numbers; the statements that make them go to `body`."""
    if isinstance(statement, ir.Print):
        statement.args = [
            arg if k in statement.consts else _plain(arg, statement.loc, body)
            for k, arg in enumerate(statement.args)
        ]
    elif statement.exc_args:
        statement.exc_args = tuple(
            _plain(arg, statement.loc, body) if isinstance(arg, ir.Var) else arg
            for arg in statement.exc_args
        )


def _plain(var, loc, body):
    fn, value = (var.scope.redefine(f"$numbad_{name}", loc) for name in ("plain", "value"))
    body.append(ir.Assign(ir.Global("plain", plain, loc), fn, loc))
    body.append(ir.Assign(ir.Expr.call(fn, [var], (), loc), value, loc))
    return value
