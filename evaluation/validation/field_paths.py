"""Proposes a field for an unknown one: at the same place, or at another place of the same model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Final, TypeAlias, get_args

from pydantic import BaseModel

Path: TypeAlias = tuple[str | int, ...]
_CLOSE: Final = 0.8
"""How similar two names have to be (a ratio of letters) if the other stands at another place."""


@cache
def list_field_paths(model: type[BaseModel]) -> tuple[str, ...]:
    """List the fields of a model and of the models within, by path: ``trajectory.forbidden_tools``."""
    return tuple(dict.fromkeys(_walk(model, "", ())))


def _walk(model: type[BaseModel], prefix: str, outer: tuple[type[BaseModel], ...]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        inner = [each for each in _list_models(field.annotation) if each not in {*outer, model}]
        # A union of many models, such as the checks, has a field that tells them apart.
        for each in inner if len(inner) == 1 else ():
            yield from _walk(each, f"{prefix}{name}.", (*outer, model))


def _list_models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _list_models(argument)


def propose_field(path: Path, known: Sequence[str]) -> str | None:
    """Return the field that an unknown one probably means; None if there is none.

    Args:
        path: The place of the unknown field.
        known: The known fields by path; a name alone stands at the root.

    Returns:
        A name if it stands at the same place, and a path if not.
    """
    *place, name = (part for part in path if isinstance(part, str))
    near = _list_nearest(place, known)
    if close := _find_close(name, near) or _find_longer(name, near):
        return close
    # The shortest path comes first.
    elsewhere = {each.rpartition(".")[2]: each for each in sorted(known, key=len, reverse=True)}
    close = next(iter(get_close_matches(name, elsewhere, 1, _CLOSE)), None)
    return None if close is None or elsewhere[close] == name else elsewhere[close]


def _find_longer(name: str, names: Sequence[str]) -> str | None:
    """Return the only name that ends with another one, as ``final_output`` with ``output``."""
    longer = [each for each in names if each.endswith(f"_{name}")]
    return longer[0] if len(longer) == 1 else None


def _find_close(name: str, names: Sequence[str]) -> str | None:
    close = get_close_matches(name, names, 1, _CLOSE)
    return close[0] if close and close[0] != name else None


def _list_nearest(place: Sequence[str], known: Sequence[str]) -> list[str]:
    """List the names of the fields at a place, whatever the data around the model is."""
    parents = {each: tuple(each.split(".")[:-1]) for each in known}
    fitting = [parent for parent in parents.values() if parent == tuple(place[len(place) - len(parent) :])]
    nearest = max(fitting, key=len, default=())
    return [each.rpartition(".")[2] for each, parent in parents.items() if parent == nearest]
