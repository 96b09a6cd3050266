"""Work done side by side, results in the order of the input, with a bounded number of them in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], window: int
) -> Iterator[Result]:
    """Yield ``function`` of each item, at most ``window`` of them begun and not yet yielded.

    Raises:
        Exception: What ``items`` raises, after the results of all items before it.
    """
    waiting: deque[Future[Result]] = deque()
    source = _Source(items)
    try:
        for item in source:
            waiting.append(executor.submit(function, item))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
    source.raise_if_broken()


def chunked(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one shorter; an error of ``items`` comes after what it gave."""
    source = _Source(items)
    while chunk := list(islice(source, size)):
        yield chunk
    source.raise_if_broken()


class _Source(Iterator[Item]):
    """An iterator that ends where its items raise, and keeps the error for later."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._error: Exception | None = None

    def __next__(self) -> Item:
        if self._error is not None:
            raise StopIteration
        try:
            return next(self._items)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised once the items before it are done
            self._error = error
            raise StopIteration from None

    def raise_if_broken(self) -> None:
        if self._error is not None:
            raise self._error
