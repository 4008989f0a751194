"""Values that differ from lane to lane: the Numba type, its arithmetic, code without branches on them."""

from .varying import Varying

__all__ = ["Varying"]
