"""Loading of safetensors: into the variables of the same names, or by Keras's walk when the names are its files'."""

import os
import warnings

from keras.src.saving import saving_lib

from ._lazy import LazyTensor
from ._store import LazyStore


def is_for(filepath) -> bool:
    name = os.fspath(filepath)
    return name.endswith((".safetensors", ".safetensors.index.json")) or os.path.isdir(name)


def load(scope, model, filepath, skip_mismatch, objects_to_skip=None) -> None:
    """As Keras's load_weights_only; raises ValueError naming variables without a tensor and the other way round."""
    if not model.built:
        raise ValueError(
            "You are loading weights into a model that has not yet been built. Try building the model first by calling "
            "it on some data or by using `build()`."
        )
    catalog, reader = scope.open(filepath)
    if any("vars" in info.name.split("/") for info in catalog.tensors):
        _walk(scope, model, LazyStore(catalog, reader), skip_mismatch, objects_to_skip)
        return
    skipped = {id(v) for o in objects_to_skip or () for v in getattr(o, "variables", [])}
    scope.load_by_name(model, catalog, reader, skip_mismatch, skipped)


def _walk(scope, model, store, skip_mismatch, objects_to_skip):
    failed, errors = set(), {}
    saving_lib._load_state(
        model,
        store,
        None,
        "",
        skip_mismatch=skip_mismatch,
        visited_saveables={id(o) for o in objects_to_skip or ()},
        failed_saveables=failed,
        error_msgs=errors,
    )
    if failed:
        saving_lib._raise_loading_failure(errors, warn_only=skip_mismatch)


def assign_by_name(variables, catalog, reader, skip_mismatch) -> list[str]:
    """Assigns lazy tensors to the variables that have the names; returns the tensors that nothing took."""
    infos = {info.name: info for info in catalog.tensors}
    taken, missing = set(), []
    for variable in variables:
        names = [n for n in (variable.path, variable.path.replace("/", ".")) if n in infos]
        if not names:
            missing.append(variable.path)
            continue
        taken.add(names[0])
        try:
            variable.assign(LazyTensor(reader, infos[names[0]]))
        except ValueError as error:
            if not skip_mismatch:
                raise
            warnings.warn(f"Skipping variable '{variable.path}': {error}", stacklevel=2)
    if missing and not skip_mismatch:
        raise ValueError(
            f"{catalog.path} has no tensor for {len(missing)} of {len(missing) + len(taken)} variables: "
            f"{', '.join(missing[:10])}{', ...' if len(missing) > 10 else ''}. Its tensors: "
            f"{', '.join(list(infos)[:10])}{', ...' if len(infos) > 10 else ''}"
        )
    return [name for name in infos if name not in taken]
