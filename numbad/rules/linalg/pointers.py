"""Where BLAS and LAPACK are in this process, for the routines that Numba itself has no use for.

They are SciPy's, as those of Numba are. Importing this module gives the symbols that stand in compiled
code their meaning (`numbad.constants`).
"""

import ctypes

from scipy.linalg import cython_blas, cython_lapack

from ...constants import announce_address

_ROUTINES = {"trsm": cython_blas, "getrf": cython_lapack, "getrs": cython_lapack}


def _name(capsule):
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name_of(capsule)


def _address(capsule):
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer_of(capsule, _name(capsule))


SYMBOLS = {
    kind + name: announce_address(
        f"lapack.{kind}{name}", _address(module.__pyx_capi__[kind + name]), __name__
    )
    for name, module in _ROUTINES.items()
    for kind in "sdcz"
}
"""name of a routine, its first letter the kind of numbers -> the symbol of its address."""

INTEGER_BITS = 32 if b" int *" in _name(cython_blas.__pyx_capi__["dtrsm"]) else 64
"""The width of the integers that the routines take."""
