"""Caches the answers of a judge in a cache of LangGraph."""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from evaluation.errors import ContractError
from evaluation.judges.answers import format_answer
from evaluation.judges.judge_call import aask_judge, ask_judge
from evaluation.judges.judge_scores import JudgeScore, read_judge_result
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, require_judge
from evaluation.values import JsonObject, as_object

if TYPE_CHECKING:
    from langgraph.cache.base import BaseCache, FullKey

_NAMESPACE: Final = ("judge answers", "3")
"""With a version: a later one may read an answer in another way."""


class CachedJudge:
    """Caches a judge's answers by request, rubric and model.

    Only usable answers are stored: after a failure the judge is asked again. The ``usage`` of a cached answer
    is zero and has ``cached``. A cache that fails is a failure of the judge.

    Args:
        judge: The judge to ask.
        cache: A cache of LangGraph, such as ``InMemoryCache()`` or ``SqliteCache(path="answers.sqlite")``.
            Answers may quote the run.
        model: Everything else that the answer depends on: the model's name, and its version, prompt and
            settings if they change.

    Raises:
        ContractError: ``model`` is empty, or ``judge`` is no judge.
    """

    def __init__(self, judge: AnyJudge | JudgeFunction, cache: BaseCache[str], *, model: str) -> None:
        if not model.strip():
            raise ContractError("model is empty; give the name and the version of the model")
        self._judge = require_judge(judge)
        self._cache = cache
        self._model = model

    def judge(self, request: JudgeRequest) -> object:
        """Returns the cached answer, or asks the judge. Raises the judge's exceptions."""
        key = self._build_key(request)
        if text := self._cache.get([key]).get(key):
            return _read_cached(text)
        answer = ask_judge(self._judge, request)
        if text := _format_usable(answer, request):
            self._cache.set({key: (text, None)})
        return answer

    async def ajudge(self, request: JudgeRequest) -> object:
        """Like ``judge``, without blocking the loop."""
        key = self._build_key(request)
        if text := (await self._cache.aget([key])).get(key):
            return _read_cached(text)
        answer = await aask_judge(self._judge, request)
        if text := _format_usable(answer, request):
            await self._cache.aset({key: (text, None)})
        return answer

    def _build_key(self, request: JudgeRequest) -> FullKey:
        values = {field.name: getattr(request, field.name) for field in fields(request)}
        shown = {**values, "model": self._model, "rubric": request.rubric.model_dump(mode="json")}
        return _NAMESPACE, sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _format_usable(answer: object, request: JudgeRequest) -> str | None:
    """Writes an answer as text. Returns None if it is none to rely on, such as a repaired one."""
    text, result = format_answer(answer), read_judge_result(answer, request.rubric)
    is_usable = isinstance(result, JudgeScore) and result.objection is None and not result.repaired
    return text if isinstance(text, str) and is_usable else None


def _read_cached(text: str) -> JsonObject:
    answer = as_object(json.loads(text))
    model = {name: value for name, value in as_object(answer.get("usage")).items() if name == "model"}
    free = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "cached": True, **model}
    return {**answer, "usage": free}
