"""Generators of NumPy's among the arguments: what they have drawn cannot be drawn again.

The states of `np.random` and `random` are put back between the passes of a sweep, see `random_state`; those
of a `np.random.Generator` are memory of its bit generator, of a size that only that knows.
"""

from numba.core import types


def draws_from(tys):
    """Whether one of some types is that of a generator, or a tuple with one in it."""
    generators = types.NumPyRandomGeneratorType, types.NumPyRandomBitGeneratorType
    return any(
        isinstance(ty, generators) or (isinstance(ty, types.BaseTuple) and draws_from(ty))
        for ty in tys
    )


def cannot_draw_again(name, function, often):
    """What is told where an operator calls a function of a generator `often`."""
    return (
        f"nd.{name} calls {function} {often}, and a np.random.Generator among its arguments would draw other "
        "numbers at each call. Ways out: draw the numbers before and pass them; draw from a key, as "
        "nd.random.uniform(key, i) does; np.random.random() in the function, whose state is put back"
    )
