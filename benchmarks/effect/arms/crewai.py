"""CrewAI: a task with an LLM guardrail, which CrewAI repeats with the guardrail's feedback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import convert_to_messages

from benchmarks.effect.arms.base import Answer, Trial
from benchmarks.effect.arms.structured import ask


class CrewAI:
    """A crew of one agent and one task, as its documentation shows it."""

    name = "crewai"
    package = module = "crewai"

    def answer(self, trial: Trial) -> Answer:
        """Run the crew; the claim is that the guardrail accepted the output."""
        guardrail, outputs = build_guardrail(adapt_model(trial.model), trial.prompt.text)
        output = run_crew(trial, guardrail, outputs)
        return Answer(outputs[-1] if output is None else output, claimed=output is not None)


def run_crew(trial: Trial, guardrail: Callable[..., Any], outputs: list[str]) -> str | None:
    """Run a crew with a guardrail, which lists each output that it sees; None if no retry is left."""
    from crewai import Agent, Crew, Task

    writer = Agent(
        role="Writer",
        goal="Do exactly what the task asks for",
        backstory="A careful writer.",
        llm=adapt_model(trial.model),
    )
    task = Task(
        description=trial.prompt.text,
        expected_output="The answer to the task, and nothing else",
        agent=writer,
        guardrail=guardrail,
        guardrail_max_retries=trial.retries,
    )
    try:
        return Crew(agents=[writer], tasks=[task]).kickoff().raw
    except Exception:  # CrewAI raises no narrower class if no retry is left
        if len(outputs) <= trial.retries:
            raise
        return None


def build_guardrail(llm: Any, task: str) -> tuple[Callable[..., Any], list[str]]:
    """Return CrewAI's guardrail by model for a task, and the list of the outputs that it has seen."""
    from crewai import TaskOutput
    from crewai.tasks.llm_guardrail import LLMGuardrail

    guardrail = LLMGuardrail(f"The result does everything that this task asks for: {task}", llm)
    outputs: list[str] = []

    def check_output(output: TaskOutput):  # CrewAI would evaluate an annotation of the result
        outputs.append(output.raw)
        return guardrail(output)

    check_output.__annotations__.clear()
    return check_output, outputs


def adapt_model(model: BaseChatModel) -> Any:
    """Return the model as one of CrewAI, with structured output."""
    from crewai import BaseLLM

    class Embedded(BaseLLM):
        def call(self, messages: Any, *_: Any, response_model: Any = None, **__: Any) -> Any:
            sent = convert_to_messages([messages] if isinstance(messages, str) else messages)
            if response_model is None:
                return ask(model, sent, None)
            return response_model.model_validate_json(ask(model, sent, response_model.model_json_schema()))

        def supports_function_calling(self) -> bool:
            return False

    return Embedded(model="embedded")
