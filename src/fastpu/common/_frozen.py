"""What cannot be changed: records while they are made, and a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def set_fields(record: object, **values: object) -> None:
    """Set fields of a frozen dataclass in its `__post_init__`, to what their checks return."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


class FrozenMapping(Mapping[str, Any]):
    """A read-only dict that keeps its order and can be pickled."""

    def __init__(self, items: Mapping[str, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items,)  # without the places, which are as many entries again

    def places(self, key: str) -> Mapping[Any, float]:
        """Return the place of each entry of a tuple in it, which is found once, as it takes time for many entries.

        Two threads that ask at once make it twice, and either one is kept.
        """
        known: dict[str, Mapping[Any, float]] = self.__dict__.setdefault("_places", {})
        if key not in known:
            known[key] = {entry: float(place) for place, entry in enumerate(self._items[key])}
        return known[key]
