"""Products and linear algebra.

`cholesky` and `eigh` read one triangle here, as LAPACK does; JAX first takes the mean of both. So they
get symmetric matrices, made within the call. JAX leaves the phases of complex eigenvectors, and the
lengths of those of `eig`, to move as they like: what is compared does not depend on them.
"""

from .table import GROUPS, Group, each

_EIG = "lax.eig({}, compute_left_eigenvectors=False, enable_eigvec_derivs=True){}"

GROUPS["products"] = Group(
    "a b m w s",
    {
        "dot": "np.dot(m, w)",
        "matmul": "m @ w @ m",
        "matmul of vectors": "s @ a @ b",
        "vdot": "np.vdot(a, b)",
        "outer": "np.outer(a, b)",
        "kron": "np.kron(m, w)",
        "cross": "np.cross(a[:3], b[:3])",
    },
)

GROUPS["systems"] = Group(
    "a s",
    each("np.linalg", "inv det cond pinv", "s")
    | {
        "solve": "np.linalg.solve(s, a)",
        "solve of matrices": "np.linalg.solve(s, s[:, :2] * s[:, 1:3])",
        "slogdet": "np.linalg.slogdet(s)[1]",
        "matrix_power": "np.linalg.matrix_power(s, 3)",
        "matrix_power below 0": "np.linalg.matrix_power(s, -2)",
    },
)

GROUPS["factors"] = Group(
    "s tall",
    {
        "cholesky": "np.linalg.cholesky(s + s.T)",
        "qr": "np.linalg.qr(tall)[0]",
        "qr, triangle": "np.linalg.qr(tall)[1]",
        "eigh": "np.linalg.eigh(s + s.T)[1]",
        "eigh, values": "np.linalg.eigh(s + s.T)[0]",
        "eigvalsh": "np.linalg.eigvalsh(s + s.T)",
        "svd": "np.linalg.svd(tall, False)[0]",
        "svd, values": "np.linalg.svd(tall, False)[1]",
        "svd, right": "np.linalg.svd(tall, False)[2]",
    },
)

GROUPS["spectra and fits"] = Group(
    "s tall",
    {
        "eig": "np.linalg.eig(s + s.T)[0]",
        "eigvals": "np.linalg.eigvals(s + s.T)",
        "pinv": "np.linalg.pinv(tall)",
        "pinv of more columns": "np.linalg.pinv(tall.T)",
        "lstsq": "np.linalg.lstsq(tall, tall[:, 0] ** 2)[0]",
        "lstsq, residual": "np.linalg.lstsq(tall, tall[:, 0] ** 2)[1]",
    },
    {
        "eig": _EIG.format("s + s.T", "[0].real"),
        "eigvals": _EIG.format("s + s.T", "[0].real"),
    },
)

_ORDERS = {
    "": "",
    " 2": ", 2",
    " -2": ", -2",
    " 1": ", 1",
    " -1": ", -1",
    " inf": ", np.inf",
    " -inf": ", -np.inf",
}
GROUPS["norms"] = Group(
    "v s",
    {f"norm{order}": f"np.linalg.norm(s{text})" for order, text in _ORDERS.items()}
    | {
        "norm of vectors": "np.linalg.norm(v)",
        "norm of vectors 1": "np.linalg.norm(v, 1)",
        "norm of vectors 3.5": "np.linalg.norm(v, 3.5)",
        "norm of vectors inf": "np.linalg.norm(v, np.inf)",
    },
)

GROUPS["complex products"] = Group(
    "z c",
    {
        "dot": "np.dot(c, z)",
        "matmul": "c @ c.T",
        "vdot": "np.vdot(z, z[::-1].copy())",
        "kron": "np.kron(c, c)",
        "outer": "np.outer(z, z)",
        "sum": "np.sum(c)",
        "prod": "np.prod(z)",
        "mean": "np.mean(c)",
        "cumsum": "np.cumsum(z)",
        "cumprod": "np.cumprod(z)",
        "where": "np.where(np.absolute(z) > 1.0, z, z * z)",
        "diag": "np.diag(c)",
        "transpose": "c.T",
    },
)

GROUPS["complex systems"] = Group(
    "z c",
    each("np.linalg", "inv det pinv norm", "c")
    | {
        "solve": "np.linalg.solve(c, z)",
        "slogdet": "np.linalg.slogdet(c)[1]",
        "slogdet, sign": "np.linalg.slogdet(c)[0]",
        "matrix_power": "np.linalg.matrix_power(c, 3)",
    },
)

GROUPS["complex factors"] = Group(
    "c ctall",
    {
        "cholesky": "np.linalg.cholesky(ctall.T @ np.conjugate(ctall))",
        "qr": "np.linalg.qr(ctall)[0]",
        "qr, triangle": "np.linalg.qr(ctall)[1]",
        "eigh": "np.absolute(np.linalg.eigh(c + np.conjugate(c.T))[1])",
        "eigh, values": "np.linalg.eigh(c + np.conjugate(c.T))[0]",
        "svd": "np.absolute(np.linalg.svd(ctall, False)[0])",
        "svd, values": "np.linalg.svd(ctall, False)[1]",
        "eigvals": "np.linalg.eigvals(c)",
        "eig": "np.linalg.eig(c)[1] / np.linalg.eig(c)[1][:1]",
    },
    {
        "eigvals": _EIG.format("c", "[0]"),
        "eig": f"{_EIG.format('c', '[1]')} / {_EIG.format('c', '[1][:1]')}",
    },
    once=("eigh", "svd", "eig"),
)
