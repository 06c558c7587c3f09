"""What cannot be changed: records while they are made, and a mapping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn


def set_fields(record: object, **values: object) -> None:
    """Set fields of a frozen dataclass in its `__post_init__`, to what their checks return."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


class FrozenMapping(dict[str, Any]):
    """A read-only dict. Being a dict, it is what `pandas.DataFrame` and `json.dumps` take as one."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)  # without the places, which are as many entries again

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "this dict cannot be changed, as it belongs to a model or a result: change a copy of it, dict(...)"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def places(self, key: str) -> Mapping[Any, float]:
        """Return the place of each entry of a tuple in it, which is found once, as it takes time for many entries.

        Two threads that ask at once make it twice, and either one is kept.
        """
        known: dict[str, Mapping[Any, float]] = self.__dict__.setdefault("_places", {})
        if key not in known:
            known[key] = {entry: float(place) for place, entry in enumerate(self[key])}
        return known[key]


class LateMapping(Mapping[str, Any]):
    """A read-only mapping that is made when it is first read.

    Two threads that read it at once make it twice, and either one is kept. A pickle and a copy have what was made.
    """

    def __init__(self, make: Callable[[], FrozenMapping]) -> None:
        self._content: Callable[[], FrozenMapping] | FrozenMapping = make

    def _made(self) -> FrozenMapping:
        content = self._content  # looked up once: another thread may replace it by what it has made
        if not isinstance(content, FrozenMapping):
            content = self._content = content()  # and what it was made from is free
        return content

    def __getitem__(self, key: str) -> Any:
        return self._made()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def __repr__(self) -> str:
        return repr(self._made())

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made().__reduce__()
