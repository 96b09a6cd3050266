"""What a fake answers with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Answers(Generic[T]):
    """Answers in order, the last one for ever; an exception is raised, a function is asked.

    Args:
        answers: Values, exceptions, or functions from the call's arguments to either.
        default: Asked where there are no answers.
    """

    def __init__(
        self, answers: tuple[T | BaseException | Callable[..., T], ...], default: Callable[..., T]
    ) -> None:
        self._answers = answers or (default,)
        self._given = 0
        self._lock = threading.Lock()

    def next(self, *args: object) -> T:
        """The next answer."""
        with self._lock:
            answer = self._answers[min(self._given, len(self._answers) - 1)]
            self._given += 1
        if callable(answer):
            answer = answer(*args)
        if isinstance(answer, BaseException):
            raise answer
        return answer
