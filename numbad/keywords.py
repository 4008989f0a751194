"""How public functions are called: what does not fit is told with what may have been meant."""

from difflib import get_close_matches
from functools import wraps

from .errors import ArgumentError


def checks_keywords(name, called_with=None):
    """Decorate a public function, called `name`, so that it names the keyword that it does not have.

    `called_with` is what the function takes that it returns, as in "primals, tangents": where more
    than its own arguments are passed, they may have been meant for that one.
    """

    def decorate(function):
        code = function.__code__
        places = code.co_varnames[: code.co_argcount]
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def checked(*args, **keywords):
            for keyword in keywords:
                if keyword not in known:
                    raise ArgumentError(_unknown(name, keyword, known))
            if called_with is not None and len(args) > len(places):
                raise ArgumentError(
                    f"{name} takes {', '.join(places)}; the values that the function is called with belong "
                    f"to what it returns: {name}(f)({called_with})"
                )
            return function(*args, **keywords)

        return checked

    return decorate


def _unknown(name, keyword, known):
    near = get_close_matches(keyword, known, n=2)
    told = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return f"{name} has no option {keyword!r}{told}; it has {', '.join(known[1:])}"
