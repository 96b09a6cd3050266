"""A step of a graph that is computed where it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda

Given = TypeVar("Given")
Made = TypeVar("Made")


class Direct(RunnableLambda[Given, Made]):
    """A function that only computes: called at once, on the loop too, and without a trace of its own.

    A plain function would go to a thread where the graph is awaited, which takes longer than the function.
    It is a ``RunnableLambda`` because LangGraph reads the targets of a route from that one's function.
    """

    def __init__(self, function: Callable[[Given], Made]) -> None:
        async def awaited(value: Given) -> Made:
            return function(value)

        super().__init__(function, awaited)
        self._function = function

    def invoke(self, input: Given, config: RunnableConfig | None = None, **_: object) -> Made:  # noqa: A002, ARG002
        """Compute the result."""
        return self._function(input)

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **_: object) -> Made:  # noqa: A002, ARG002
        """Compute the result, without leaving the loop."""
        return self._function(input)
