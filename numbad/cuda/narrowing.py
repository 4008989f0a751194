"""Code for float64, rewritten for float32: the LLVM text of a kernel with every double a float.

A literal, a division of integers, a tableau's coefficient is float64 to Numba, and one operand of float64
makes a whole expression so. Where a kernel is to run in float32 throughout, that is what its types say once
they are all known; so the types are changed there, in one place, and none is missed.
"""

import math
import re
import struct

from ..errors import UnsupportedError

_SMALLEST = 2.0**-126
_LARGEST = 2.0**128 - 2.0**104

# Functions of NVIDIA's device library whose names for float do not follow from those for double.
_RENAMED = {
    "isnand": "isnanf",
    "isinfd": "isinff",
    "isfinited": "finitef",
    "signbitd": "signbitf",
}

_BITS = re.compile(r"= bitcast (double .* to i64|i64 .* to double)\b")
# Where memory is counted in bytes: a constant array, a column or a slice with a step. A slot of a tape has
# room for a float64, and holds a float32 as well.
_BYTES = re.compile(
    r'^(?!\s*%"?tape_slot).*= (bitcast i8\*|inttoptr i64) .* to double\*', re.MULTILINE
)
_CONVERSION = re.compile(r"\b(fptrunc|fpext) ((?:<\d+ x )?(?:float|double)\b)")
_CONSTANT = re.compile(r"\b0x[0-9a-fA-F]{1,16}\b")
_DECLARED = re.compile(r'declare [^@]*@"?([\w.$]+)"?')
_DEVICE_FUNCTION = re.compile(r'^declare (?=.*\bdouble\b)[^@]*@"?(__nv_\w+)"?', re.MULTILINE)
_INTRINSIC = re.compile(r"(@\"?llvm\.[\w.]*?)\.(v\d+)?f64\b")


def narrowed(text):
    """The text of an LLVM module in which every float64 has become a float32.

    Constants are rounded; one that would become 0 becomes the smallest normal number, so that what keeps
    a divisor from being 0 still does.

    Raises
    ------
    UnsupportedError
        for code that takes a float64 apart into bits, or counts the bytes of arrays of them.
    """
    if _BITS.search(text):
        raise UnsupportedError(
            "code that reads or makes the bits of a float64 has no counterpart in float32; "
            "leave precision='float32' out, or such code"
        )
    if _BYTES.search(text):
        raise UnsupportedError(
            "the function reads a global array, or columns or slices of an array, whose bytes are those of "
            "float64. Ways out: a tuple or an argument in its place, or leave precision='float32' out"
        )
    for name in sorted(set(_DEVICE_FUNCTION.findall(text)), key=len, reverse=True):
        text = re.sub(rf"\b{name}\b", f"__nv_{_name_for_float(name[5:])}", text)
    text = _CONVERSION.sub(r"bitcast \2", text)
    text = _CONSTANT.sub(_rounded, text)
    text = _INTRINSIC.sub(lambda match: f"{match[1]}.{match[2] or ''}f32", text)
    lines = [_aligned(line) for line in text.splitlines()]
    return re.sub(r"\bdouble\b", "float", "\n".join(_declared_once(lines)))


def _name_for_float(name):
    """The name for float of a function of the device library, its prefix off."""
    if name in _RENAMED:
        return _RENAMED[name]
    if "_as_" in name or "float" in name:  # the bits of a number; a conversion to float
        raise UnsupportedError(f"the device function __nv_{name} has no counterpart in float32")
    if "double" in name:
        return name.replace("double", "float")
    rounding = re.fullmatch(r"(d?)(\w+)(_r[nzud])", name)
    if rounding:  # dmul_rn is fmul_rn, fma_rn is fmaf_rn
        directed, stem, mode = rounding.groups()
        return f"f{stem}{mode}" if directed else f"{stem}f{mode}"
    return name + "f"


def _rounded(match):
    (number,) = struct.unpack(">d", bytes.fromhex(match[0][2:].zfill(16)))
    if number != 0.0 and math.isfinite(number):
        if abs(number) < _SMALLEST:
            number = math.copysign(_SMALLEST, number)
        elif abs(number) > _LARGEST:
            number = math.copysign(math.inf, number)
        else:
            (number,) = struct.unpack(">f", struct.pack(">f", number))
    return "0x" + struct.pack(">d", number).hex()


def _aligned(line):
    """A line without the promise that a float lies where a double would."""
    return re.sub(r"\balign 8\b", "align 4", line) if "double" in line else line


def _declared_once(lines):
    """The lines without declarations of what is declared already: two functions may have become one."""
    seen = set()
    for line in lines:
        declared = _DECLARED.match(line)
        if declared:
            if declared[1] in seen:
                continue
            seen.add(declared[1])
        yield line
