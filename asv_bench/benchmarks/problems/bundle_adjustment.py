"""P3: residuals of bundle adjustment and their 2 x 15 Jacobians, 31,843 observations, from ADBench.

F. Srajer, Z. Kukelova, A. Fitzgibbon (2018), as for the Gaussian mixture. A camera is (rotation 3,
centre 3, focal length, principal point 2, distortion 2); by camera, point and weight.

An observation's camera, point and feature are tuples, which is what small vectors of known size are in
Numba: they live in registers. `jacobians_of_arrays` has arrays instead, each of which costs a call of
the allocator or a count of references.
"""

import math

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

ARGNUMS = (0, 1, 2)  # of `residual`


@njit
def primal(cams, X, w, obs, feats):
    p = w.shape[0]
    err = np.empty((p, 2))
    for i in range(p):
        ci = obs[i, 0]
        pi = obs[i, 1]
        r0 = cams[ci, 0]
        r1 = cams[ci, 1]
        r2 = cams[ci, 2]
        x0 = X[pi, 0] - cams[ci, 3]
        x1 = X[pi, 1] - cams[ci, 4]
        x2 = X[pi, 2] - cams[ci, 5]
        sqth = r0 * r0 + r1 * r1 + r2 * r2
        if sqth != 0.0:
            th = math.sqrt(sqth)
            co = math.cos(th)
            si = math.sin(th)
            ti = 1.0 / th
            w0 = r0 * ti
            w1 = r1 * ti
            w2 = r2 * ti
            a0 = w1 * x2 - w2 * x1
            a1 = w2 * x0 - w0 * x2
            a2 = w0 * x1 - w1 * x0
            tmp = (w0 * x0 + w1 * x1 + w2 * x2) * (1.0 - co)
            c0 = x0 * co + a0 * si + w0 * tmp
            c1 = x1 * co + a1 * si + w1 * tmp
            c2 = x2 * co + a2 * si + w2 * tmp
        else:
            c0 = x0 + r1 * x2 - r2 * x1
            c1 = x1 + r2 * x0 - r0 * x2
            c2 = x2 + r0 * x1 - r1 * x0
        p0 = c0 / c2
        p1 = c1 / c2
        rsq = p0 * p0 + p1 * p1
        L = 1.0 + cams[ci, 9] * rsq + cams[ci, 10] * rsq * rsq
        q0 = p0 * L * cams[ci, 6] + cams[ci, 7]
        q1 = p1 * L * cams[ci, 6] + cams[ci, 8]
        err[i, 0] = w[i] * (q0 - feats[i, 0])
        err[i, 1] = w[i] * (q1 - feats[i, 1])
    return err


@njit
def jacobian_into(cams, X, w, obs, feats, err, J):
    """Hand-derived: two adjoint rows share one forward evaluation.  Caller owns the outputs
    (a fresh 7.6 MB J per call costs about as much in page faults as the arithmetic)."""
    p = w.shape[0]
    for i in range(p):
        ci = obs[i, 0]
        pi = obs[i, 1]
        r0 = cams[ci, 0]
        r1 = cams[ci, 1]
        r2 = cams[ci, 2]
        x0 = X[pi, 0] - cams[ci, 3]
        x1 = X[pi, 1] - cams[ci, 4]
        x2 = X[pi, 2] - cams[ci, 5]
        fo = cams[ci, 6]
        kk1 = cams[ci, 9]
        kk2 = cams[ci, 10]
        wi = w[i]
        sqth = r0 * r0 + r1 * r1 + r2 * r2
        th = 0.0
        co = 1.0
        si = 0.0
        ti = 0.0
        w0 = 0.0
        w1 = 0.0
        w2 = 0.0
        a0 = 0.0
        a1 = 0.0
        a2 = 0.0
        dot = 0.0
        tmp = 0.0
        if sqth != 0.0:
            th = math.sqrt(sqth)
            co = math.cos(th)
            si = math.sin(th)
            ti = 1.0 / th
            w0 = r0 * ti
            w1 = r1 * ti
            w2 = r2 * ti
            a0 = w1 * x2 - w2 * x1
            a1 = w2 * x0 - w0 * x2
            a2 = w0 * x1 - w1 * x0
            dot = w0 * x0 + w1 * x1 + w2 * x2
            tmp = dot * (1.0 - co)
            c0 = x0 * co + a0 * si + w0 * tmp
            c1 = x1 * co + a1 * si + w1 * tmp
            c2 = x2 * co + a2 * si + w2 * tmp
        else:
            c0 = x0 + r1 * x2 - r2 * x1
            c1 = x1 + r2 * x0 - r0 * x2
            c2 = x2 + r0 * x1 - r1 * x0
        ic2 = 1.0 / c2
        p0 = c0 * ic2
        p1 = c1 * ic2
        rsq = p0 * p0 + p1 * p1
        L = 1.0 + kk1 * rsq + kk2 * rsq * rsq
        dL = kk1 + 2.0 * kk2 * rsq
        q0 = p0 * L * fo + cams[ci, 7]
        q1 = p1 * L * fo + cams[ci, 8]
        e0 = q0 - feats[i, 0]
        e1 = q1 - feats[i, 1]
        err[i, 0] = wi * e0
        err[i, 1] = wi * e1
        for row in range(2):
            if row == 0:
                pr = p0
                bp0 = wi * fo * (L + 2.0 * p0 * p0 * dL)
                bp1 = wi * fo * (2.0 * p0 * p1 * dL)
                J[i, row, 7] = wi
                J[i, row, 8] = 0.0
                J[i, row, 14] = e0
            else:
                pr = p1
                bp0 = wi * fo * (2.0 * p0 * p1 * dL)
                bp1 = wi * fo * (L + 2.0 * p1 * p1 * dL)
                J[i, row, 7] = 0.0
                J[i, row, 8] = wi
                J[i, row, 14] = e1
            J[i, row, 6] = wi * pr * L
            J[i, row, 9] = wi * fo * pr * rsq
            J[i, row, 10] = wi * fo * pr * rsq * rsq
            b0 = bp0 * ic2
            b1 = bp1 * ic2
            b2 = -(bp0 * p0 + bp1 * p1) * ic2
            if sqth != 0.0:
                btmp = w0 * b0 + w1 * b1 + w2 * b2
                bdot = btmp * (1.0 - co)
                bco = x0 * b0 + x1 * b1 + x2 * b2 - dot * btmp
                bsi = a0 * b0 + a1 * b1 + a2 * b2
                s0 = si * b0
                s1 = si * b1
                s2 = si * b2  # adjoints of a = w x X
                bx0 = co * b0 + w2 * s1 - w1 * s2 + w0 * bdot
                bx1 = co * b1 + w0 * s2 - w2 * s0 + w1 * bdot
                bx2 = co * b2 + w1 * s0 - w0 * s1 + w2 * bdot
                bw0 = tmp * b0 + x1 * s2 - x2 * s1 + x0 * bdot
                bw1 = tmp * b1 + x2 * s0 - x0 * s2 + x1 * bdot
                bw2 = tmp * b2 + x0 * s1 - x1 * s0 + x2 * bdot
                bti = r0 * bw0 + r1 * bw1 + r2 * bw2
                bth = -si * bco + co * bsi - ti * ti * bti
                bsq = bth * ti  # d sqth = 2 r dr, th = sqrt(sqth) -> 0.5/th*2r
                J[i, row, 0] = ti * bw0 + r0 * bsq
                J[i, row, 1] = ti * bw1 + r1 * bsq
                J[i, row, 2] = ti * bw2 + r2 * bsq
            else:
                bx0 = b0 + r2 * b1 - r1 * b2
                bx1 = b1 + r0 * b2 - r2 * b0
                bx2 = b2 + r1 * b0 - r0 * b1
                J[i, row, 0] = x1 * b2 - x2 * b1
                J[i, row, 1] = x2 * b0 - x0 * b2
                J[i, row, 2] = x0 * b1 - x1 * b0
            J[i, row, 3] = -bx0
            J[i, row, 4] = -bx1
            J[i, row, 5] = -bx2
            J[i, row, 11] = bx0
            J[i, row, 12] = bx1
            J[i, row, 13] = bx2


@njit
def jacobian(cams, X, w, obs, feats):
    p = w.shape[0]
    err = np.empty((p, 2))
    J = np.empty((p, 2, 15))
    jacobian_into(cams, X, w, obs, feats, err, J)
    return err, J


def residual(camera, point, weight, feature):
    """The two residuals of one observation, as `primal` has them in its loop."""
    r0, r1, r2 = camera[0], camera[1], camera[2]
    x0 = point[0] - camera[3]
    x1 = point[1] - camera[4]
    x2 = point[2] - camera[5]
    sqth = r0 * r0 + r1 * r1 + r2 * r2
    if sqth != 0.0:
        th = math.sqrt(sqth)
        co = math.cos(th)
        si = math.sin(th)
        ti = 1.0 / th
        w0 = r0 * ti
        w1 = r1 * ti
        w2 = r2 * ti
        tmp = (w0 * x0 + w1 * x1 + w2 * x2) * (1.0 - co)
        c0 = x0 * co + (w1 * x2 - w2 * x1) * si + w0 * tmp
        c1 = x1 * co + (w2 * x0 - w0 * x2) * si + w1 * tmp
        c2 = x2 * co + (w0 * x1 - w1 * x0) * si + w2 * tmp
    else:
        c0 = x0 + r1 * x2 - r2 * x1
        c1 = x1 + r2 * x0 - r0 * x2
        c2 = x2 + r0 * x1 - r1 * x0
    p0 = c0 / c2
    p1 = c1 / c2
    rsq = p0 * p0 + p1 * p1
    L = 1.0 + camera[9] * rsq + camera[10] * rsq * rsq
    q0 = p0 * L * camera[6] + camera[7]
    q1 = p1 * L * camera[6] + camera[8]
    return weight * (q0 - feature[0]), weight * (q1 - feature[1])


def jacobians_into(jacobian):
    """A compiled loop over the observations; takes what the operator makes of `residual`."""

    @njit
    def loop(cams, X, w, obs, feats, J):
        for i in range(w.shape[0]):
            camera, point = to_fixed_tuple(cams[obs[i, 0]], 11), to_fixed_tuple(X[obs[i, 1]], 3)
            by = jacobian(camera, point, w[i], to_fixed_tuple(feats[i], 2))
            for row in range(2):
                by_camera, by_point, J[i, row, 14] = by[row]
                for k in range(11):
                    J[i, row, k] = by_camera[k]
                for k in range(3):
                    J[i, row, 11 + k] = by_point[k]

    return loop


def jacobians(jacobian):
    """As `jacobians_into`, into a new array."""
    into = jacobians_into(jacobian)

    @njit
    def loop(cams, X, w, obs, feats):
        J = np.empty((w.shape[0], 2, 15))
        into(cams, X, w, obs, feats, J)
        return J

    return loop


_residual = njit(residual)


def residual_of_arrays(camera, point, weight, feature):
    """The same for arrays, as an array."""
    first, second = _residual(camera, point, weight, feature)
    return np.array([first, second])


def jacobians_of_arrays(jacobian):
    """As `jacobians`, of `residual_of_arrays`."""

    @njit
    def loop(cams, X, w, obs, feats):
        J = np.empty((w.shape[0], 2, 15))
        for i in range(w.shape[0]):
            by = jacobian(cams[obs[i, 0]], X[obs[i, 1]], w[i], feats[i])
            J[i, :, :11], J[i, :, 11:14], J[i, :, 14] = by[0], by[1], by[2]
        return J

    return loop


def draw(rng, observations=31_843):
    """The arguments of `primal`."""
    camera = np.array([-0.76, -1.11, -0.85, 34.6, 39.7, 53.9, 419.2, 5.86, -8.52, 0.0878, 0.00274])
    cameras, points = 49, 7776
    cams = camera * (1 + 0.02 * rng.standard_normal((cameras, 11)))
    X = np.array([7.2, 0.0, 3.0]) + rng.standard_normal((points, 3))
    w, feats = rng.random(observations), rng.random((observations, 2))
    i = np.arange(observations)
    obs = np.ascontiguousarray(np.stack([i % cameras, i % points], 1).astype(np.int32))
    return cams, X, w, obs, feats


def shorten(arguments):
    """A small case for tests: five observations."""
    cams, X, w, obs, feats = arguments
    return cams, X, w[:5], obs[:5], feats[:5]
