"""A case of a task: what to do, and the contract of the final output; and a set of such cases."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from evaluation.inputs.contract import EvaluationContract
from evaluation.validation.input_model import InputModel
from evaluation.values import VersionOne

FROM_TASK: Final = "from_task"
FromTask: TypeAlias = Literal["from_task"]


class TaskCase(InputModel):
    """A task with the contract of its final output."""

    name: Annotated[str, Field(pattern=r"\S")] | None = None
    """Names the case in reports. Default: its place in the file."""
    task: Annotated[str, Field(pattern=r"\S")]
    contract: FromTask | EvaluationContract = "from_task"
    """The contract, or "from_task": the contract is derived from the task when it is used."""
    unchecked: list[str] = Field(default_factory=list)
    """Requirements of the task that the contract does not check, in the words of the task."""


class CaseSet(InputModel):
    """Cases in their order."""

    version: VersionOne
    cases: Annotated[list[TaskCase], Field(min_length=1)]


class SingleCase(TaskCase):
    """A file with one case: its fields beside the version."""

    version: VersionOne
