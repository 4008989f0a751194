"""What cannot be differentiated, refused with its place in the user's source."""

import linecache
import re
from contextlib import contextmanager

from numba.core import ir

from ..errors import UnsupportedError

GENERAL_WAY_OUT = (
    "write it with scalar operations and loops, give it a rule (nd.scalar_rule, nd.rule), or keep it "
    "out of the derivative with nd.stop_gradient"
)
_DEFECT = "This is a defect of numbad"
_DEFECT_WAY_OUT = (
    'the other mode (mode="forward" or mode="reverse"), a rule for the function (nd.rule), or '
    "nd.stop_gradient where no derivative is needed"
)


_INLINED = re.compile(r"\w+_v\d{13,}_(\w+)")  # Numba's name for a variable of code that it inlined
_FUNCTION = re.compile(
    r"Function\(<(?:(?:built-in )?function|bound method|ufunc|class) '?([\w.]+)'?(?: (?:at|of) [^>]*>?)?>\)"
)


def readable(text):
    """A text in which variables and functions have the names that the source gives them."""
    text = _INLINED.sub(lambda found: of_inlined(found[0]) or found[0], text)
    return _FUNCTION.sub(r"\1", text)


def of_inlined(name):
    """The source's name of a variable that Numba renamed as it inlined a function; None of others.

    A temporary is told by a `$`, as it is in the function itself.
    """
    found = _INLINED.fullmatch(name)
    if found is None:
        return None
    return f"${found[1][2:]}" if found[1].startswith("_v") else found[1]


class Place(ir.Loc):
    """A place of the source that knows the function it lies in.

    `construct` is what the user wrote there, where the statement is library code that does it;
    `error_model` that of the function, where it is put in place of a call in one with another;
    `tested` says that a test before has found that the statement does not raise.
    """

    error_model = None
    tested = False

    def __init__(
        self, filename, line, col=None, maybe_decorator=False, function=None, construct=None
    ):
        super().__init__(filename, line, col, maybe_decorator)
        self.function, self.construct = function, construct

    @classmethod
    def of(cls, loc, function=None, construct=None):
        """A place from Numba's `Loc`; what another `Place` knows is kept."""
        function = getattr(loc, "function", None) or function
        construct = getattr(loc, "construct", None) or construct
        made = cls(loc.filename, loc.line, loc.col, loc.maybe_decorator, function, construct)
        made.error_model = getattr(loc, "error_model", None)
        made.tested = getattr(loc, "tested", False)
        return made


def refuse(construct, loc, way_out=GENERAL_WAY_OUT):
    """The UnsupportedError for a construct at a place of the source."""
    written = getattr(loc, "construct", None)
    if written is not None:
        construct = written if way_out is GENERAL_WAY_OUT else f"{written}, which has {construct}"
    construct = readable(construct)
    return UnsupportedError(
        f"reverse mode cannot differentiate {construct}{_inside(loc, construct)}: {place(loc)}\n"
        f"Way out: {way_out}."
    )


def defect(name, loc, cause, told=None):
    """The UnsupportedError for a failure of numbad itself, met in the function `name`."""
    told = readable(told or f"{type(cause).__name__}: {cause}")
    error = UnsupportedError(
        f"cannot differentiate {getattr(loc, 'function', None) or name}: {place(loc)}\n"
        f"{_DEFECT}; please report it, with the code at this place. It says:\n"
        f"    {told}\nWay out: {_DEFECT_WAY_OUT}."
    )
    error.__cause__ = cause
    return error


def tells_of_defect(error):
    """Whether an error says that numbad failed."""
    return _DEFECT in str(error)


@contextmanager
def located(loc):
    """What goes wrong within happens at a place of the source: errors keep it, as `loc`."""
    try:
        yield
    except Exception as error:
        if getattr(error, "loc", None) is None:
            error.loc = loc
        raise


def place(loc):
    """File, line and the source line itself."""
    if not loc:
        return "unknown place"
    source = linecache.getline(loc.filename, loc.line).strip() if loc.line else ""
    shown = f"\n    {source}" if source else ""
    return f'File "{loc.filename}", line {loc.line}:{shown}'


def _inside(loc, construct):
    name = getattr(loc, "function", None)
    return f"{',' if ',' in construct else ''} in {name}" if name else ""
