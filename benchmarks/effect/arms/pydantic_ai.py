"""pydantic-ai: an output validator asks the model, and raises ModelRetry with its feedback."""

from __future__ import annotations

from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from benchmarks.effect.arms.base import Answer, Trial
from benchmarks.effect.arms.structured import ask

_JUDGE: Final = "You check whether an answer does everything that its task asks for."


class Verdict(BaseModel):
    """The reply of the judge."""

    fulfilled: bool
    feedback: str


class PydanticAI:
    """An agent with an output validator, as its documentation shows it."""

    name = "pydantic-ai"
    package = "pydantic-ai-slim"
    module = "pydantic_ai"

    def answer(self, trial: Trial) -> Answer:
        """Run the agent; the claim is that the validator accepted the output."""
        from pydantic_ai import Agent, ModelRetry, NativeOutput
        from pydantic_ai.exceptions import UnexpectedModelBehavior

        model = adapt_model(trial.model)
        judge = Agent(model, output_type=NativeOutput(Verdict), instructions=_JUDGE)
        agent = Agent(model, retries={"output": trial.retries})
        outputs = [""]

        @agent.output_validator
        async def check_output(output: str) -> str:
            outputs.append(output)
            verdict = (await judge.run(f"Task:\n{trial.prompt.text}\n\nAnswer:\n{output}")).output
            if not verdict.fulfilled:
                raise ModelRetry(verdict.feedback)
            return output

        try:
            return Answer(agent.run_sync(trial.prompt.text).output, claimed=True)
        except UnexpectedModelBehavior:  # no retry is left, or the judge never answered in its form
            return Answer(outputs[-1], claimed=False)


def adapt_model(model: BaseChatModel) -> Any:
    """Return the model as one of pydantic-ai, with its native structured output."""
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.profiles import ModelProfile

    def call(messages: list[Any], info: AgentInfo) -> ModelResponse:
        output = info.model_request_parameters.output_object
        schema = None if output is None else {"title": output.name or "Output", **output.json_schema}
        first = [SystemMessage(info.instructions)] if info.instructions else []
        return ModelResponse(parts=[TextPart(ask(model, [*first, *read_messages(messages)], schema))])

    return FunctionModel(call, profile=ModelProfile(supports_json_schema_output=True, supports_tools=False))


def read_messages(messages: list[Any]) -> list[BaseMessage]:
    """Return the messages of pydantic-ai as messages of LangChain."""
    return [_read_part(part) for message in messages for part in message.parts]


def _read_part(part: Any) -> BaseMessage:
    if part.part_kind == "text":
        return AIMessage(part.content)
    if part.part_kind == "retry-prompt":
        return HumanMessage(part.model_response())
    return SystemMessage(part.content) if part.part_kind == "system-prompt" else HumanMessage(part.content)
