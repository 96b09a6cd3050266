"""Result: reads the final state of a run, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast, overload

from pydantic import BaseModel

from evaluation.sensitive.quoting import shorten
from orchestrator.errors import RunFailedError
from orchestrator.judging.output import parse_output
from orchestrator.state.current_step import list_accepted, read_basis_reason
from orchestrator.state.graph_state import Failure, OrchestratorState
from orchestrator.state.records import Basis, EvidenceSummary, Question, StepRecord

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)


_SHOWN: Final = 100
"""Most characters of a text in ``repr``."""


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
        failure, basis = self.failure, self.basis or "unverified"
        if self.question is not None:
            text = _describe_question(self.question)
        elif failure is not None:
            text = f"failed, {failure['kind']}: {_quote(failure['message'])}"
        elif self.ok:
            text = f"success, {basis}: {_quote(self.state['output'] or '')}"
        else:
            text = f"{self.state['status']}: it has not ended"
        return f"{type(self).__name__}({text})"

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
    def steps(self) -> list[StepRecord]:
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
        return self.state["question"] if self.state["status"] in ("planning", "executing") else None

    def raise_for_failure(self) -> None:
        """Does nothing after a success.

        Raises:
            RunFailedError: The run failed, or has not ended; the error has ``failure`` and ``state``.
        """
        if not self.ok:
            message = self.failure["message"] if self.failure else self._describe_end()
            raise RunFailedError(message, self.failure, self.state)

    def _describe_end(self) -> str:
        if self.question is not None:
            question = _describe_question(self.question)
            return f"the run has not ended: it {question}; resume(thread_id, {{'answer': ...}}) answers it"
        status = f"its status is {self.state['status']!r}"
        return f"the run has not ended: {status}; resume(thread_id) continues it"


def _describe_question(question: Question) -> str:
    accepts = f" ({', '.join(question['accepts'])})" if question["accepts"] else ""
    return f"waits for an answer{accepts}: {_quote(question['text'])}"


def _quote(text: str) -> str:
    return repr(shorten(text, _SHOWN))
