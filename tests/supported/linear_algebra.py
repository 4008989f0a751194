"""Probes of linear algebra: products, solves, factorisations."""

from .probe import Section

linear_algebra = Section("NumPy: linear algebra")
_call = linear_algebra.call

for _name, _expression in {
    "dot": "np.dot(a, b) * a[1]",
    "vdot": "np.vdot(a, b) * a[1]",
    "outer": "total2(np.outer(a, b)) * a[1]",
    "kron": "total2(np.kron(m, s)) * m[1, 1]",
}.items():
    _call(f"np.{_name}", _expression, names=(f"numpy.{_name}",))
_call("`np.dot` of matrices", "total2(np.dot(m, s)) * m[1, 1]", names=())
_call("`np.dot` of matrix and vector", "total(np.dot(m, s[1])) * m[1, 1]", names=())
_call("`@`", "total2(m @ s) * m[1, 1]", names=())

for _name, _expression in {
    "cholesky": "total2(np.linalg.cholesky(s + 0.1 * s.T)) * s[1, 1]",
    "cond": "np.linalg.cond(m) * m[1, 1]",
    "det": "np.linalg.det(m) * m[1, 1]",
    "eig": "total(np.linalg.eig(m)[0]) * m[1, 1]",
    "eigh": "total(np.linalg.eigh(s)[0]) * s[1, 1]",
    "eigvals": "total(np.linalg.eigvals(m)) * m[1, 1]",
    "eigvalsh": "total(np.linalg.eigvalsh(s)) * s[1, 1]",
    "inv": "total2(np.linalg.inv(m)) * m[1, 1]",
    "lstsq": "total(np.linalg.lstsq(m, s[1])[0]) * m[1, 1]",
    "matrix_power": "total2(np.linalg.matrix_power(m, 3)) * m[1, 1]",
    "norm": "np.linalg.norm(a) * a[1]",
    "pinv": "total2(np.linalg.pinv(m)) * m[1, 1]",
    "qr": "total2(np.linalg.qr(m)[1]) * m[1, 1]",
    "slogdet": "np.linalg.slogdet(m)[1] * m[1, 1]",
    "solve": "total(np.linalg.solve(m, s[1])) * m[1, 1]",
    "svd": "total(np.linalg.svd(m)[1]) * m[1, 1]",
}.items():
    _call(f"np.linalg.{_name}", _expression, names=(f"numpy.linalg.{_name}",))
linear_algebra.constant(
    "np.linalg.matrix_rank", "np.linalg.matrix_rank(m)", names=("numpy.linalg.matrix_rank",)
)
