"""Functions of quaternions (numba_quaternion), which takes them as pairs of complex numbers, of floats."""

from numba import njit
from numba_quaternion import (
    complex128_to_float64,
    dist_spherical,
    float64_to_complex128,
    inverse,
    mul,
    quat_to_rotation_matrix,
    rotate,
)


@njit
def product(p, q):
    return complex128_to_float64(mul(float64_to_complex128(p), float64_to_complex128(q)))


@njit
def quotient(p, q):
    p, q = float64_to_complex128(p), float64_to_complex128(q)
    return complex128_to_float64(mul(p, inverse(q)))


@njit
def rotated(p, v):
    return complex128_to_float64(rotate(float64_to_complex128(p), float64_to_complex128(v)))


@njit
def rotation_matrix(p):
    return quat_to_rotation_matrix(float64_to_complex128(p))


@njit
def distance(p, q):
    return dist_spherical(float64_to_complex128(p), float64_to_complex128(q))
