"""The tools of the server: their arguments, and how they are described and called."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from mcp import types
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from evaluation.validation.problems import describe_errors
from orchestrator.errors import ConfigurationError
from orchestrator.serving.live.run_builders import Name


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class RunArguments(_Arguments):
    """Plan a task, execute it and check every step.

    Returns the output and what it rests on, or the open question.
    """

    task: Annotated[str, Field(max_length=100_000)]
    """What to do."""
    thread_id: Name | None = None
    """A new name for the run; by default one is made."""


class AnswerArguments(_Arguments):
    """Answer the open question of a run for the user, and continue the run. Ask the user before."""

    thread_id: Name
    """Name of the run."""
    answer: Annotated[str, Field(max_length=20_000)]
    """One of the words that the question accepts; any text if it names none."""
    text: Annotated[str, Field(max_length=20_000)] = ""
    """The correction, or the reason."""
    question: Annotated[str, Field(max_length=200)] = ""
    """The id of the question, so that the answer counts for no other one."""


class ResumeArguments(_Arguments):
    """Continue a run that was interrupted, from where it was stored.

    A run that waits for an answer is returned as it is.
    """

    thread_id: Name
    """Name of the run."""


class EvaluateArguments(_Arguments):
    """Evaluate a run against a contract, without a model. Returns the report."""

    run: dict[str, JsonValue] | Name
    """A recorded run with `input`, `final_output` and `tool_calls`, or the name of a stored run."""
    contract: dict[str, JsonValue] = {}
    """What the run has to fulfil, such as `{"must_call": ["find_order"]}`."""


A = TypeVar("A", bound=_Arguments)


@dataclass(frozen=True, slots=True)
class ClientTool(Generic[A]):
    """A tool that clients call.

    Attributes:
        arguments: The model of its arguments, whose docstring describes the tool.
        call: Answers a call, or raises an error of one sentence.
        result: The model of its result; None if it is described nowhere.
        is_change: Whether it changes runs.
    """

    arguments: type[A]
    call: Callable[[A], Awaitable[dict[str, Any]]]
    result: type[BaseModel] | None = None
    is_change: bool = True

    def describe(self, name: str) -> types.Tool:
        """Describes the tool for clients."""
        result = self.result
        return types.Tool(
            name=name,
            description=inspect.getdoc(self.arguments),
            inputSchema=self.arguments.model_json_schema(),
            outputSchema=None if result is None else result.model_json_schema(),
            annotations=types.ToolAnnotations(
                readOnlyHint=not self.is_change, destructiveHint=self.is_change
            ),
        )

    async def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """Answers a call; raises ConfigurationError if the arguments are not accepted."""
        try:
            arguments = self.arguments.model_validate(given)
        except ValidationError as error:
            names = [*self.arguments.model_fields]
            raise ConfigurationError("; ".join(describe_errors(error, given, names, "arguments"))) from None
        return await self.call(arguments)
