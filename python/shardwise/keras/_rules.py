"""Rules of the active layout map that no variable matches."""

import re

import keras
from keras.src.backend.common import global_state

from ._versions import number


def unmatched_rules(saveable) -> list[str]:
    """Keys of the active distribution's LayoutMap that match no variable of a model (and of its optimizer)."""
    layout_map = getattr(global_state.get_global_attribute("distribution"), "_layout_map", None)
    if layout_map is None:
        return []
    match = re.fullmatch if number(keras.__version__) >= (3, 14) else re.search
    variables = list(getattr(saveable, "variables", []))
    optimizer = getattr(saveable, "optimizer", None)
    paths = [v.path for v in variables + list(getattr(optimizer, "variables", []))]
    return [key for key in layout_map if not any(key == p or match(key, p) for p in paths)]
