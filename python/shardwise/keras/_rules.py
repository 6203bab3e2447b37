"""Rules of the active layout map that no variable matches."""

from keras.src.backend.common import global_state

from . import _keras


def unmatched_rules(saveable) -> list[str]:
    """Keys of the active distribution's LayoutMap that match no variable of a model (and of its optimizer)."""
    layout_map = getattr(global_state.get_global_attribute("distribution"), "_layout_map", None)
    if layout_map is None:
        return []
    variables = list(getattr(saveable, "variables", []))
    optimizer = getattr(saveable, "optimizer", None)
    paths = [v.path for v in variables + list(getattr(optimizer, "variables", []))]
    return [key for key in layout_map if not _keras.matches(layout_map, key, paths)]
