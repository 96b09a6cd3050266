"""A case of a task: what to do, and the contract of the final output; and a set of such cases."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationInfo

from evaluation.evalset.value_files import read_referenced_contract
from evaluation.inputs.contract import ContentRule, EvaluationContract
from evaluation.validation.problems import InputModel
from evaluation.values import VersionOne

FROM_TASK: Final = "from_task"
FromTask: TypeAlias = Literal["from_task"]
NAMED_FUNCTION: Final = r"^[\w.]+:[\w.]+$"


def _read_reference(value: object, info: ValidationInfo) -> object:
    """Read the contract that a file of cases names by its path; ``folder`` of the context is its folder."""
    folder = (info.context or {}).get("folder")
    if not isinstance(value, str) or value == FROM_TASK or folder is None:
        return value
    return read_referenced_contract(value, folder)


def _wrap_answer(value: object) -> object:
    if isinstance(value, str):
        return {"text": value}
    return {"number": value} if isinstance(value, int | float) else value


Contract = Annotated[
    FromTask | EvaluationContract,
    BeforeValidator(_read_reference, json_schema_input_type=str | EvaluationContract),
]
Answer = Annotated[
    ContentRule, BeforeValidator(_wrap_answer, json_schema_input_type=str | float | ContentRule)
]


def _check_function(value: object) -> object:
    if isinstance(value, str) and not re.search(NAMED_FUNCTION, value):
        raise ValueError("give MODULE:FUNCTION; before and after also take a command, as a list of its words")
    return value


Function = Annotated[str, Field(pattern=NAMED_FUNCTION), BeforeValidator(_check_function)]
Hook = Function | Annotated[list[str], Field(min_length=1)]
"""A function as ``module:function``, which gets the case; or a command as a list of its words."""


class CaseDefaults(InputModel):
    """The shared fields of the cases of a file; a case replaces a field, and adds to the contract."""

    contract: Contract = "from_task"
    """The contract, or "from_task": the contract is derived from the task when it is used. In a file also the
    path of a file with a contract, within the folder of the file."""
    before: Hook | None = None
    """Runs before each execution, to reset a world."""
    after: Hook | None = None
    """Runs after each execution, also after one that failed."""
    repeat: Annotated[int, Field(ge=1)] | None = None
    """How often the case is executed."""


class TaskCase(CaseDefaults):
    """A task with the contract of its final output."""

    name: Annotated[str, Field(pattern=r"\S")] | None = None
    """Names the case in reports. Default: its task."""
    task: Annotated[str, Field(pattern=r"\S")]
    unchecked: list[str] = Field(default_factory=list)
    """Requirements of the task that the contract does not check, in the words of the task."""
    answer: Answer | None = None
    """The known right answer: a text or a number that the output has to contain, or a content rule. It
    decides nothing; it shows how often an accepted output is wrong."""
    agent_run: dict[str, object] | None = None
    """A recorded run, which is evaluated in place of an execution."""

    @property
    def title(self) -> str:
        """The name of the case in results."""
        return self.name or self.task


class CaseSet(InputModel):
    """Cases in their order."""

    version: VersionOne
    target: Function | None = None
    """What is executed: a function that gets the task, or an orchestrator."""
    defaults: CaseDefaults = Field(default_factory=CaseDefaults)
    cases: Annotated[list[TaskCase], Field(min_length=1)]

    @property
    def names_code(self) -> bool:
        """Whether it names code or commands to run, which a file from somebody else must not."""
        return self.target is not None or any(case.before or case.after for case in self.cases)


class SingleCase(TaskCase):
    """A file with one case: its fields beside the version."""

    version: VersionOne
