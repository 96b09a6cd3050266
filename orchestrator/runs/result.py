"""Result: reads the final state of a run, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar, cast, overload

from pydantic import BaseModel

from evaluation.sensitive.scanner import shorten
from orchestrator.errors import RunFailedError
from orchestrator.judging.contract_options import parse_output
from orchestrator.state.graph_state import (
    UNDERWAY,
    Failure,
    OrchestratorState,
    list_accepted,
    read_basis_reason,
)
from orchestrator.state.records import Attempt, Basis, EvidenceSummary, Question

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Result(Generic[T_co]):
    """The result of a run: ``Result(orchestrator.run("task"))``.

    With ``Result(state, Model)``, ``output`` is an instance of the pydantic model that the orchestrator was
    given as ``output_type``; without it, the text.

    Attributes:
        state: The state that ``run`` returned.
        output_type: The pydantic model of the output; None for text.
    """

    state: OrchestratorState
    output_type: type[BaseModel] | None

    @overload
    def __init__(self: Result[str], state: OrchestratorState) -> None: ...

    @overload
    def __init__(self: Result[M], state: OrchestratorState, output_type: type[M]) -> None: ...

    def __init__(self, state: OrchestratorState, output_type: type[BaseModel] | None = None) -> None:
        object.__setattr__(self, "state", state)
        object.__setattr__(self, "output_type", output_type)

    def __repr__(self) -> str:
        """Return one line: the status, and the output, the failure or the question."""
        text = f"success, {self.basis or 'unverified'}: {self.state['output'] or ''}"
        return f"{type(self).__name__}({shorten(text if self.ok else self._describe_failure(), 200)!r})"

    @property
    def ok(self) -> bool:
        """Whether the run has ended as a success."""
        return self.state["status"] == "success"

    @property
    def output(self) -> T_co:
        """The answer of the run.

        Raises:
            RunFailedError: There is none: the run failed, or has not ended.
            ValidationError: The text does not fit the model: a person approved it nevertheless.
        """
        self.raise_for_failure()
        text = self.state["output"] or ""
        output: object = text if self.output_type is None else parse_output(self.output_type, text)
        return cast("T_co", output)

    @property
    def basis(self) -> Basis | None:
        """The basis of the success: "checked", "judged", "approved" or "unverified"; None without a success.

        A run that failed because its basis was not enough has it, too.
        """
        return self.state["basis"]

    @property
    def basis_reason(self) -> str:
        """The basis in words, such as "Answer: 3 checks passed."; empty without a basis."""
        return read_basis_reason(self.state)

    @property
    def evidence(self) -> EvidenceSummary | None:
        """How the form, the content and the actions of the output are known; None without a success."""
        return self.state.get("evidence")

    @property
    def steps(self) -> list[Attempt]:
        """The accepted execution of each step, in the order of the plan."""
        return list_accepted(self.state["results"])

    @property
    def failure(self) -> Failure | None:
        """Why the run failed; None if it did not."""
        return self.state["failure"]

    @property
    def question(self) -> Question | None:
        """The question that waits for a person's answer; None if none does.

        The status of a run that waits is "executing".
        """
        return self.state["question"] if self.state["status"] in UNDERWAY else None

    def raise_for_failure(self) -> None:
        """Does nothing after a success.

        Raises:
            RunFailedError: The run failed, or has not ended; the error has ``failure`` and ``state``.
        """
        if not self.ok:
            message = self.failure["message"] if self.failure else self._describe_failure()
            raise RunFailedError(message, self.failure, self.state)

    def _describe_failure(self) -> str:
        if self.failure is not None:
            return f"failed, {self.failure['kind']}: {self.failure['message']}"
        if self.question is None:
            return f"the run has not ended ({self.state['status']}); resume(thread_id) continues it"
        return (
            f"the run has not ended: it waits for an answer ({', '.join(self.question['accepts'])}): "
            f"{shorten(self.question['text'], 100)!r}; resume(thread_id, {{'answer': ...}}) answers it"
        )
