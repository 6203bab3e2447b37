"""What differs between the versions of JAX."""

import jaxlib


def has_steady_logarithms() -> bool:
    """Whether XLA's CPU compiler computes a logarithm, and so a normal value, the same way wherever in an array it is,
    which is the library's way. Before jaxlib 0.8.2 some 0.5 % of float32 values are rounded otherwise, and which ones
    depends on the shape of the array: only the whole array has JAX's bits then.
    """
    return tuple(int(part) for part in jaxlib.__version__.split(".")[:3] if part.isdigit()) >= (0, 8, 2)
