"""Keras's words for what goes wrong, without its costs."""

import numpy as np

_SUMMARISED = 1000  # numpy prints the corners of larger arrays
_EDGE = 3


def shape_mismatch(variable, shape) -> ValueError:
    """What Variable.assign raises; the variable's value is fetched only as far as numpy prints it."""
    return ValueError(
        "The shape of the target variable and the shape of the target value in `variable.assign(value)` must match. "
        f"variable.shape={variable.shape}, Received: value.shape={tuple(shape)}. Target variable: {describe(variable)}"
    )


def describe(variable) -> str:
    """repr(variable), but of a large variable only the corners that numpy prints come to the host."""
    value = getattr(variable, "_value", None)
    if value is None or value.size <= _SUMMARISED:
        return repr(variable)
    try:
        for axis, extent in enumerate(value.shape):
            if extent > 2 * _EDGE:
                # One more than the edges, so that numpy still sees something to leave out.
                value = value.take(np.r_[: _EDGE + 1, extent - _EDGE : extent], axis=axis)
        corners = np.asarray(value)
    except Exception:  # as Keras: a value that cannot be fetched is left out
        return f"<Variable path={variable.path}, shape={variable.shape}, dtype={variable.dtype}>"
    with np.printoptions(threshold=0, edgeitems=_EDGE):
        text = str(corners)
    return f"<Variable path={variable.path}, shape={variable.shape}, dtype={variable.dtype}, value={text}>"
