"""The seed that a model keeps in its params."""

from __future__ import annotations

import numbers


def seed_param(random_state: object) -> int | None:
    """Return the seed, or None where the generator came from elsewhere."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None
