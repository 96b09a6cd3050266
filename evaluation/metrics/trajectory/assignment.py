"""Assigns observed actions to expected steps, each action once: a maximum bipartite matching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

_NONE: Final[Mapping[int, int]] = MappingProxyType({})


def assign_actions(
    candidates: Sequence[Iterable[int]], order: Iterable[int], held: Mapping[int, int] = _NONE
) -> dict[int, int]:
    """Assign as many observed actions as possible, by augmenting paths (Kuhn 1955, Berge 1957).

    If all candidates of a step are taken, their holders move to other candidates. So an early choice never
    costs a later pair, and a step that has an action keeps one: serving the required steps first serves as
    many of them as possible.

    Args:
        candidates: the actions that fit each step.
        order: indexes of the steps, in the order in which they are served.
        held: the action that each step has before; such a step may get another one.

    Returns:
        The action by step; always the same for the same input.
    """
    holders = {action: step for step, action in held.items()}
    closed: set[int] = set()
    for step in order:
        if step not in held:
            holders |= _find_path(step, candidates, holders, closed)
    return {step: action for action, step in holders.items()}


def _find_path(
    step: int, candidates: Sequence[Iterable[int]], holders: Mapping[int, int], closed: set[int]
) -> dict[int, int]:
    """Return the new holders of actions that give ``step`` one; without such a path, nothing.

    A search that fails adds the actions that it reached to ``closed``: no free one is found from them.
    """
    reached: dict[int, tuple[int, int | None]] = {}
    queue: list[tuple[int, int | None]] = [(step, None)]
    for each, own in queue:
        for action in candidates[each]:
            if action in reached or action in closed:
                continue
            reached[action] = each, own
            if action not in holders:
                return dict(_trace_path(action, reached))
            queue.append((holders[action], action))
    closed.update(reached)
    return {}


def _trace_path(
    action: int | None, reached: Mapping[int, tuple[int, int | None]]
) -> Iterator[tuple[int, int]]:
    while action is not None:
        step, own = reached[action]
        yield action, step
        action = own
