"""Other frameworks with this project's checks: the same checks, attempts and token limit as ``from-task``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import convert_to_messages

from benchmarks.effect.arms.base import Answer, Trial
from benchmarks.effect.arms.crewai import run_crew
from benchmarks.effect.arms.pydantic_ai import adapt_model as adapt_for_pydantic_ai
from benchmarks.effect.arms.structured import ask
from evaluation.checks import CheckContext
from evaluation.task_checks import derive_checks

_REFUSED: Final = "The output was not accepted. What has to change:"


@dataclass(frozen=True, slots=True)
class Validator:
    """Finds what an output has to change by the checks that the words of its task state.

    Attributes:
        task: The task.
        outputs: The outputs that were looked at, in order.
    """

    task: str
    outputs: list[str] = field(default_factory=list)

    def find_problems(self, output: str) -> str | None:
        """Return the message for the model; None if every check passes."""
        self.outputs.append(output)
        context = CheckContext(output, self.task)
        outcomes = [check.evaluate(context) for check in derive_checks(self.task).checks]
        failed = [outcome.sentence for outcome in outcomes if outcome.passed is not True]
        return "\n".join([_REFUSED, *(f"- {sentence}" for sentence in failed)]) if failed else None


@dataclass(frozen=True, slots=True)
class Checked:
    """A framework whose validator runs the checks; the claim is that the validator accepted the output.

    Attributes:
        name: Name of the arm.
        package: The package to install.
        module: The module to import.
        run: Returns the accepted output; None if no retry is left.
    """

    name: str
    package: str
    module: str
    run: Callable[[Trial, Validator], str | None]

    def answer(self, trial: Trial) -> Answer:
        """Answer with the accepted output, else with the last one."""
        validator = Validator(trial.prompt.text)
        output = self.run(trial, validator)
        checks = derive_checks(trial.prompt.text)
        return Answer(
            validator.outputs[-1] if output is None else output,
            claimed=output is not None,
            checks=len(checks.checks),
            unchecked=len(checks.unchecked),
        )


def run_pydantic_ai(trial: Trial, validator: Validator) -> str | None:
    """Run an agent of pydantic-ai whose output validator raises ModelRetry."""
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.exceptions import UnexpectedModelBehavior

    agent = Agent(adapt_for_pydantic_ai(trial.model), retries={"output": trial.retries})

    @agent.output_validator
    def check_output(output: str) -> str:
        if problem := validator.find_problems(output):
            raise ModelRetry(problem)
        return output

    try:
        return agent.run_sync(trial.prompt.text).output
    except UnexpectedModelBehavior:  # no retry is left
        if not validator.outputs:
            raise
        return None


def run_crewai(trial: Trial, validator: Validator) -> str | None:
    """Run a task of CrewAI whose guardrail is a function."""

    def check_output(output: Any):  # CrewAI would evaluate an annotation of the result
        problem = validator.find_problems(output.raw)
        return (True, output.raw) if problem is None else (False, problem)

    check_output.__annotations__.clear()
    return run_crew(trial, check_output, validator.outputs)


def run_instructor(trial: Trial, validator: Validator) -> str | None:
    """Run Instructor's retries: a field whose validator raises what has to change."""
    import instructor
    from instructor.core import InstructorRetryException
    from openai.types.chat import ChatCompletion
    from pydantic import BaseModel, field_validator

    class Reply(BaseModel):
        answer: str

        @field_validator("answer")
        @classmethod
        def _check(cls, value: str) -> str:
            if problem := validator.find_problems(value):
                raise ValueError(problem)
            return value

    def create(*, messages: list[Any], response_format: Any = None, **_: Any) -> ChatCompletion:
        schema = (response_format or {}).get("json_schema", {}).get("schema")
        text = ask(trial.model, convert_to_messages(messages), schema)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        return ChatCompletion.model_validate({
            "id": "reply", "object": "chat.completion", "created": 0, "model": "embedded", "choices": [choice]
        })  # fmt: skip

    patched: Any = instructor.patch(create=create, mode=instructor.Mode.JSON_SCHEMA)
    message = {"role": "user", "content": trial.prompt.text}
    try:
        return patched(messages=[message], response_model=Reply, max_retries=trial.retries).answer
    except InstructorRetryException:  # no retry is left
        if not validator.outputs:
            raise
        return None


CHECKED: Final = (
    Checked("pydantic-ai-checks", "pydantic-ai-slim", "pydantic_ai", run_pydantic_ai),
    Checked("crewai-checks", "crewai", "crewai", run_crewai),
    Checked("instructor-checks", "instructor", "instructor", run_instructor),
)
