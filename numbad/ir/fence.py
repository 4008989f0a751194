"""What cannot be differentiated, refused with its place in the user's source."""

import linecache

from ..errors import UnsupportedError

GENERAL_WAY_OUT = (
    "write it with scalar operations and loops, give it a rule (nd.scalar_rule, nd.rule), or keep it "
    "out of the derivative with nd.stop_gradient"
)


def refuse(construct, loc, way_out=GENERAL_WAY_OUT):
    """The UnsupportedError for a construct at a place of the source."""
    source = linecache.getline(loc.filename, loc.line).strip() if loc and loc.line else ""
    place = f'File "{loc.filename}", line {loc.line}' if loc else "unknown place"
    shown = f"\n    {source}" if source else ""
    error = UnsupportedError(
        f"reverse mode cannot differentiate {construct}: {place}:{shown}\nWay out: {way_out}."
    )
    error.place = loc
    return error
