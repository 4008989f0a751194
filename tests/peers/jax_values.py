"""Values and derivatives by JAX; imported by the process for it alone."""

import jax
import numpy as np
from jax import numpy as jnp
from jax.lax import linalg as lax
from jax.scipy import special


def names_of(names):
    """Those of the dotted names that JAX has, with `np` for `jax.numpy`."""
    return {name for name in names if _found(name.split("."))}


def _found(parts):
    owner = {"np": jnp, "special": special}[parts[0]]
    for part in parts[1:]:
        owner = getattr(owner, part, None)
    return owner is not None


def derivatives(codes, names, weights, primals, tangents):
    """For each row of weights: value, gradients, change of the value, changes of the gradients.

    codes: calls of the variables of these names; their results, flat, are weighed by `weighed`
    """
    compiled = [compile(code, code, "eval") for code in codes]
    known = {"known": dict(zip(names, primals, strict=True))}

    def results(*args):
        scope = {
            "np": jnp,
            "special": special,
            "lax": lax,
            **known,
            **dict(zip(names, args, strict=True)),
        }
        return jnp.concatenate([jnp.ravel(jnp.asarray(eval(code, scope))) for code in compiled])

    @jax.jit
    def both(weights, primals, tangents):
        by_all = tuple(range(len(names)))
        value = lambda *args: weighed(weights, results(*args))  # noqa: E731
        return jax.jvp(jax.value_and_grad(value, by_all), primals, tangents)

    found = (both(w, primals, tangents) for w in weights)
    return [jax.tree.map(np.asarray, (*first, *moved)) for first, moved in found]


def weighed(weights, r):
    """A function of all numbers, with second derivatives; see `test_jax.weighed`."""
    total = jnp.sum((weights * r * (1 + 0.3 * r)).real)
    if jnp.iscomplexobj(r):
        total += 0.1 * jnp.sum(weights.real * (r.real**2 + r.imag**2))
    return total
