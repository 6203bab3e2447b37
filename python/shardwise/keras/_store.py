"""LazyStore: what Keras's weight stores look like to its object-graph walk, backed by a Catalog."""

from collections.abc import Mapping

from keras.src.saving.saving_lib import H5IOStore

from .. import _core
from ._lazy import LazyTensor

_LEGACY = "_layer_checkpoint_dependencies"  # where Keras 2.13 put what is under "layers" today


class Entry(Mapping):
    """The variables of one object: names to lazy tensors, in HDF5's order of names."""

    def __init__(self, reader, tensors: dict[str, _core.TensorInfo]):
        self._reader = reader
        self._tensors = tensors

    def __getitem__(self, key):
        return LazyTensor(self._reader, self._tensors[key])

    def __iter__(self):
        return iter(sorted(self._tensors))

    def __len__(self):
        return len(self._tensors)

    def __contains__(self, key):
        return key in self._tensors


class LazyStore(H5IOStore):
    """A store of `catalog` for Keras's _load_state, which wants an H5IOStore; opens no file of its own.

    `reader` reads what is asked for its values. Groups that were asked for are remembered, to report the others.
    """

    def __init__(self, catalog: _core.Catalog, reader):
        self.mode = "r"
        self._reader = reader
        self._groups = {}
        for info in catalog.tensors:
            group, _, key = info.name.rpartition("/")
            self._groups.setdefault(group, {})[key] = info
        # A group without variables is known by the name that Keras wrote to it.
        for key in catalog.metadata:
            if key.endswith("#name"):
                self._groups.setdefault(key.removesuffix("#name"), {})
        self._parents = {""}
        for group in self._groups:
            parts = group.split("/")
            self._parents.update("/".join(parts[: n + 1]) for n in range(len(parts)))
        self.asked = set()

    def get(self, path):
        group = self._group(path)
        if group not in self._groups and _LEGACY in self._parents:
            group = self._group(path.replace("layers", _LEGACY))
        self.asked.add(group)
        return Entry(self._reader, self._groups.get(group, {}))

    @staticmethod
    def _group(path):
        return f"{path}/vars" if path else "vars"

    def has_path(self, path):
        return path in self._parents

    def left_over(self) -> list[str]:
        """Groups with variables that nothing asked for."""
        return sorted(group for group, tensors in self._groups.items() if tensors and group not in self.asked)

    def make(self, path, metadata=None):
        raise ValueError("`make` is only allowed in write mode.")

    def close(self):
        pass

    def __bool__(self):
        return True
