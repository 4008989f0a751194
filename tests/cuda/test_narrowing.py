"""Float64 code rewritten for float32."""

import math
import struct

import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import llvmlite.binding as llvm

import numbad as nd
from numbad.cuda.narrowing import narrowed


def bits(number):
    return "0x" + struct.pack(">d", number).hex()


def function(*lines, declared=()):
    body = "\n".join(f"  {line}" for line in lines)
    return "\n".join(
        [*declared, f"define double @f(double %x, float %s, i64 %n, double* %p) {{\n{body}\n}}"]
    )


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        (bits(0.1), struct.unpack(">f", struct.pack(">f", 0.1))[0]),
        (bits(1e-300), 2.0**-126),
        (
            hex(struct.unpack(">q", struct.pack(">d", 1e-300))[0]),
            2.0**-126,
        ),  # without its leading zero
        (bits(-1e-300), -(2.0**-126)),
        (bits(1e300), math.inf),
        (bits(0.0), 0.0),
        (bits(math.inf), math.inf),
    ],
)
def test_constants_are_rounded(constant, expected):
    text = narrowed(function(f"%y = fmul double %x, {constant}", "ret double %y"))
    assert f"fmul float %x, {bits(expected)}" in text
    llvm.parse_assembly(text).verify()


def test_conversions_functions_and_alignment():
    declared = (
        'declare double @"__nv_exp"(double)',
        'declare float @"__nv_expf"(float)',
        'declare double @"__nv_dmul_rn"(double, double)',
        'declare double @"__nv_fma_rn"(double, double, double)',
        'declare i32 @"__nv_isnand"(double)',
        'declare i32 @"__nv_double2int_rz"(double)',
        'declare i32 @"__nv_abs"(i32)',
        'declare double @"llvm.fma.f64"(double, double, double)',
    )
    text = narrowed(
        function(
            '%a = call double @"__nv_exp"(double %x)',
            "%b = fptrunc double %a to float",
            '%c = call float @"__nv_expf"(float %b)',
            "%d = fpext float %c to double",
            '%e = call double @"llvm.fma.f64"(double %d, double %a, double %x)',
            "%g = load double, double* %p, align 8",
            "%h = uitofp i64 %n to double",
            '%i = call double @"__nv_dmul_rn"(double %e, double %g)',
            '%j = call double @"__nv_fma_rn"(double %i, double %g, double %h)',
            '%k = call i32 @"__nv_isnand"(double %j)',
            '%l = call i32 @"__nv_double2int_rz"(double %j)',
            "ret double %j",
            declared=declared,
        )
    )
    assert "double %" not in text
    renamed = "expf fmul_rn fmaf_rn isnanf float2int_rz abs"
    assert all(f'"__nv_{name}"(' in text for name in renamed.split())
    assert text.count('declare float @"__nv_expf"') == 1
    assert "align 8" not in text
    assert "llvm.fma.f32" in text


@pytest.mark.parametrize("line", ["%y = bitcast double %x to i64", "%y = bitcast i64 %n to double"])
def test_bits_are_refused(line):
    with pytest.raises(nd.UnsupportedError, match="bits"):
        narrowed(function(line, "ret double %x"))
