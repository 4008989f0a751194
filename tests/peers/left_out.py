"""Functions that JAX has, too, and the reason why nothing is compared."""

_NO_ARGUMENT = "what it returns depends on shapes alone"
_TYPE = "a conversion, which JAX makes an array"

LEFT_OUT = {
    **dict.fromkeys(("np.empty", "np.empty_like", "np.eye", "np.identity", "np.tri"), _NO_ARGUMENT),
    **dict.fromkeys(("np.ones", "np.ones_like", "np.zeros", "np.zeros_like"), _NO_ARGUMENT),
    **dict.fromkeys(("np.float32", "np.float64", "np.complex64", "np.complex128"), _TYPE),
    "np.arange": "JAX needs a number for the length",
    "np.trim_zeros": "JAX needs a number for the length",
    "np.fill_diagonal": "it changes its argument, which JAX has not",
    "np.roots": "forward mode refuses it",
    "np.nextafter": "JAX has no derivative of it",
    "special.exp1": "JAX cannot trace its second derivative",
    "special.expn": "JAX cannot trace its second derivative",
}
"""name -> reason. The derivatives are tested elsewhere."""
