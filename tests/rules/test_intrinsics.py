"""Intrinsics: rules that their instructions imply, and that users give."""

import numpy as np
import pytest
from numba import njit, types
from numba.extending import intrinsic

import numbad as nd
from numbad.rules import registry
from numbad.rules.intrinsics import bring_rule

MODES = "forward", "reverse"
pytestmark = pytest.mark.usefixtures("rules_of_the_test")
double = types.float64


@intrinsic
def fused(typingctx, x, y, z):
    """As spycial's `_fma`: it says that it takes floats, whatever it is given."""

    def instructions(context, builder, sig, args):
        return builder.fma(*args)

    return double(double, double, double), instructions


@intrinsic
def several(typingctx, x, y, z):
    """-(x y + z) / (x - 2.5) - z (x y + z)."""

    def instructions(context, builder, sig, args):
        x, y, z = args
        product = builder.fadd(builder.fmul(x, y), z)
        ratio = builder.fdiv(product, builder.fsub(x, context.get_constant(double, 2.5)))
        return builder.fneg(builder.fadd(ratio, builder.fmul(z, product)))

    return double(double, double, double), instructions


@intrinsic
def chosen(typingctx, x, y):
    """Whatever is larger: no straight line of arithmetic."""

    def instructions(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return double(double, double), instructions


@intrinsic
def handed_on(typingctx, x):
    def instructions(context, builder, sig, args):
        return args[0]

    return x(x), instructions


def horner(x):
    total = 0.5
    for _ in range(2):
        total = fused(total, x, 3.0)
    return total


def of_several(x, y):
    return several(x, y, x * y) * x


def with_chosen(x):
    return chosen(2.0 * x, x * x)


@pytest.mark.parametrize("mode", MODES)
def test_a_fused_product_and_sum(mode):
    """0.5 x**2 + 3 x + 3."""
    assert nd.value_and_grad(horner, mode=mode)(2.0) == (11.0, 5.0)
    assert nd.grad(nd.grad(horner, mode=mode), mode=mode)(2.0) == 1.0


@pytest.mark.parametrize("mode", MODES)
def test_a_line_of_instructions(mode):
    run, h = njit(of_several), 1e-6
    exact = (run(0.3 + h, 0.4) - run(0.3 - h, 0.4), run(0.3, 0.4 + h) - run(0.3, 0.4 - h))
    found = nd.grad(of_several, argnums=(0, 1), mode=mode)(0.3, 0.4)
    np.testing.assert_allclose(found, np.array(exact) / (2 * h), rtol=1e-8)


@pytest.mark.parametrize("mode", MODES)
def test_others_need_a_rule(mode):
    place = r"test_intrinsics\.py.*\n.*return chosen"
    with pytest.raises(nd.UnsupportedError, match=f"chosen.*{place}.*\n.*nd.scalar_rule"):
        nd.grad(with_chosen, mode=mode)(1.5)
    nd.scalar_rule(chosen, lambda ans, x, y: (np.where(x > y, 1.0, 0.0), np.where(x > y, 0.0, 1.0)))
    assert nd.grad(with_chosen, mode=mode)(1.5) == 2.0
    assert nd.grad(with_chosen, mode=mode)(2.5) == 5.0


def test_what_takes_other_types_as_well_gets_no_rule():
    bring_rule(handed_on)
    assert handed_on not in registry.SCALAR


def test_the_users_rule_counts():
    nd.scalar_rule(fused, lambda ans, x, y, z: (0.0, 7.0, 0.0))  # wrong on purpose, to be seen
    for mode in MODES:
        assert nd.grad(horner, mode=mode)(2.0) == 7.0


def test_a_rule_as_code_counts():
    nd.rule(
        fused,
        jvp=lambda primals, tangents: (fused(*primals), 7.0 * tangents[1]),
        vjp=(lambda x, y, z: (fused(x, y, z), ()), lambda _, c: (0.0, 7.0 * c, 0.0)),
    )
    for mode in MODES:
        assert nd.grad(horner, mode=mode)(2.0) == 7.0
