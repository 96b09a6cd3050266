"""A judge over any chat model."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from evaluation.errors import ContractError, JudgeError
from evaluation.inputs.rules import Rubric
from evaluation.judges.answers import blocked_by, read_object, text_of, usage_of
from evaluation.judges.failures import JudgeFailure, raised_as, refuses_schema
from evaluation.judges.prompts import answer_schema, judge_prompt
from evaluation.plugins import JudgeRequest
from evaluation.values import JsonObject

MAX_CHARACTERS: Final = 200_000
_Model: TypeAlias = Runnable[LanguageModelInput, object]


@dataclass(frozen=True, slots=True)
class _Ask:
    """A call that the logic wants made; it is sent the reply, or the error."""

    model: _Model
    messages: Sequence[BaseMessage]


_Judging: TypeAlias = Generator[_Ask, object, JsonObject]


class RubricJudge:
    """Has a chat model score a run by a rubric.

    The model scores each criterion and says why; the overall score is the mean of the criteria by weight,
    computed here. It is asked for JSON that fulfils a schema where it can be held to one, else in words. What
    the run holds is shown to it as data, between lines that it cannot hold.

    Args:
        llm: Any LangChain chat model. Its own settings say how often it retries and how long it waits.
        instructions: What it should know beside the rubric.
        structured: Whether its reply may be held to a JSON Schema by the provider.
        max_characters: The longest prompt that is sent. A longer run is not judged: nobody approves what they
            have seen only a part of. Arguments and results of calls are shown up to 2,000 characters each.

    Raises:
        ContractError: ``llm`` is no chat model, or ``max_characters`` is less than 1.
    """

    def __init__(
        self,
        llm: BaseChatModel,
        *,
        instructions: str = "",
        structured: bool = True,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        if not isinstance(llm, BaseChatModel):
            raise ContractError(f"llm is a {type(llm).__name__}; give a LangChain chat model")
        if max_characters < 1:
            raise ContractError(f"max_characters is {max_characters}; give at least 1")
        self._llm = llm
        self._instructions = instructions
        self._structured = structured
        self._max_characters = max_characters

    @property
    def model(self) -> str:
        """The model's name, as far as its class tells."""
        names = (getattr(self._llm, name, None) for name in ("model_name", "model"))
        return next((name for name in names if isinstance(name, str) and name), type(self._llm).__name__)

    def judge(self, request: JudgeRequest) -> JsonObject:
        """Score ``request``.

        Returns:
            An answer as ``Judge`` describes it, with a score a criterion and ``usage``.

        Raises:
            JudgeError: The reply was blocked, holds no JSON object, or the run is too long to be shown.
            Exception: What the provider raises.
        """
        judging = self._judging(request)
        ask = next(judging)
        while True:
            try:
                ask = judging.send(_invoked(ask))
            except StopIteration as end:
                return cast("JsonObject", end.value)

    async def ajudge(self, request: JudgeRequest) -> JsonObject:
        """Score ``request`` without blocking the loop; returns and raises as ``judge`` does."""
        judging = self._judging(request)
        ask = next(judging)
        while True:
            reply = await _ainvoked(ask)
            try:
                ask = judging.send(reply)
            except StopIteration as end:
                return cast("JsonObject", end.value)

    def _judging(self, request: JudgeRequest) -> _Judging:
        schema = answer_schema(request.rubric)
        messages = self._messages(request, schema)
        structured = self._held_to(schema)
        reply = yield _Ask(structured or self._llm, messages)
        if isinstance(reply, Exception) and structured is not None and refuses_schema(reply):
            reply = yield _Ask(self._llm, messages)
            self._structured = isinstance(reply, Exception)
        if isinstance(reply, Exception):
            raise raised_as(reply, self._llm) from None
        return self._answer(_message(reply), request.rubric)

    def _messages(self, request: JudgeRequest, schema: Mapping[str, object]) -> list[BaseMessage]:
        prompt = judge_prompt(request, schema, self._instructions)
        length = len(prompt.system) + len(prompt.user)
        if length > self._max_characters:
            raise JudgeError(
                f"the prompt has {length} characters and max_characters is {self._max_characters}: "
                "raise it if the model's context is long enough"
            )
        return [SystemMessage(prompt.system), HumanMessage(prompt.user)]

    def _held_to(self, schema: dict[str, object]) -> _Model | None:
        if not self._structured:
            return None
        try:
            return self._llm.with_structured_output(schema, method="json_schema", include_raw=True)
        except (NotImplementedError, TypeError, ValueError):
            return None

    def _answer(self, message: BaseMessage, rubric: Rubric) -> JsonObject:
        usage = usage_of(message, self.model)
        blocked = blocked_by(message)
        if blocked is not None:
            raise JudgeError(blocked, "blocked", usage=usage)
        read = read_object(text_of(message))
        if isinstance(read, JudgeFailure):
            raise JudgeError(read.reason, read.kind, usage=usage)
        own = {name: value for name, value in read.value.items() if name != "score"}
        mark = {"repaired": True} if read.repaired else {}
        return {**own, **_scored(read.value, rubric), "usage": usage, **mark}


def _invoked(ask: _Ask) -> object:
    try:
        return ask.model.invoke(list(ask.messages))
    except Exception as error:  # noqa: BLE001 - the logic decides what a provider's error means
        return error


async def _ainvoked(ask: _Ask) -> object:
    try:
        return await ask.model.ainvoke(list(ask.messages))
    except Exception as error:  # noqa: BLE001 - the logic decides what a provider's error means
        return error


def _message(reply: object) -> BaseMessage:
    """Take the message out of a structured reply, which comes as an object with ``raw``."""
    raw = reply.get("raw") if isinstance(reply, Mapping) else reply
    return raw if isinstance(raw, BaseMessage) else AIMessage(str(raw))


def _scored(answer: JsonObject, rubric: Rubric) -> JsonObject:
    """Compute the mean of the criteria by weight; nothing where one of them has no number."""
    given = answer.get("criteria")
    if not isinstance(given, Mapping):
        return {}
    scores = [given.get(criterion.name) for criterion in rubric.criteria]
    numbers = [score for score in scores if isinstance(score, int | float) and not isinstance(score, bool)]
    if len(numbers) < len(rubric.criteria):
        return {}
    return {"score": _mean(numbers, [criterion.weight for criterion in rubric.criteria])}


def _mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Compute it within the least and the greatest score, which rounding could leave."""
    greatest = max(weights)
    shares = [weight / greatest for weight in weights]
    mean = math.fsum(score * share for score, share in zip(scores, shares, strict=True)) / math.fsum(shares)
    return min(max(mean, min(scores)), max(scores))
