"""Scripted answers of fakes."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Answers(Generic[T]):
    """Returns answers in order and repeats the last one. Raises an exception; calls a function.

    Args:
        answers: Values, exceptions, or functions of the call's arguments that return either.
        default: Called if there are no answers.
    """

    def __init__(
        self, answers: tuple[T | BaseException | Callable[..., T], ...], default: Callable[..., T]
    ) -> None:
        self._answers = answers or (default,)
        self._given = 0
        self._lock = threading.Lock()

    def next(self, *args: object) -> T:
        with self._lock:
            answer = self._answers[min(self._given, len(self._answers) - 1)]
            self._given += 1
        if callable(answer):
            answer = answer(*args)
        if isinstance(answer, BaseException):
            raise answer
        return answer
