"""The agent that judges whether an output meets its objective."""

from __future__ import annotations

import json
import logging
from typing import Final

from agents import prompts
from agents.base import BaseAgent
from agents.models.identity import identify_judge
from agents.parsing.loose_json import find_document, is_one_object
from agents.parsing.verdicts import read_verdict
from agents.reply_types import UNREADABLE_PREFIX, VERDICT_SCHEMA, Unreadable, Verdict
from agents.sync import Conversation, awaited, blocking

_log: Final = logging.getLogger(__name__)
_UNCLEAN: Final = "the approval is not one JSON object alone"


class MonitoringAgent(BaseAgent):
    """Judges the output of a step against its objective.

    The prompt fences the output off as data.

    Args:
        llm: Any LangChain chat model.
        system_prompt: Replaces the built-in instructions.
        transport_retry: Retries after transient errors of the model's server.
    """

    instructions = prompts.MONITORING

    @property
    def identity(self) -> str | None:
        """The name of this judge: its class, a digest of its instructions, and its model.

        Figures that were measured with a judge hold for judges of the same name. None if the model cannot be
        identified.
        """
        example = prompts.verdict_request("objective", "result", "task", "evidence")
        again = prompts.clean_verdict_request("objective", "result")
        return identify_judge(
            self, self.llm, json.dumps([self.system_prompt, example, again, VERDICT_SCHEMA])
        )

    def _evaluate(
        self, objective: str, result: str, *, task: str = "", evidence: str = ""
    ) -> Conversation[Verdict]:
        """Judges whether ``result`` meets ``objective``, a step of ``task``.

        Args:
            objective: The goal of the output.
            result: The output.
            task: The whole task.
            evidence: The outcomes of checks, and the answers of tools.

        An approval that is not one JSON object alone is asked for once more.

        Returns:
            ``{"success": bool, "feedback": str}``. An unreadable reply is a failure whose feedback starts
            with ``UNREADABLE_PREFIX``; it is logged as a WARNING.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The server refused the request.
        """
        # A step that returned nothing has no text.
        shown = tuple(text or "" for text in (objective, result, task, evidence))
        reply = yield from self._ask(prompts.verdict_request(*shown), VERDICT_SCHEMA)
        verdict = _read_reply(reply, *shown)
        if isinstance(verdict, Unreadable) and verdict.reason == _UNCLEAN:
            reply = yield from self._ask(prompts.clean_verdict_request(*shown), VERDICT_SCHEMA)
            verdict = _read_reply(reply, *shown)
        if not isinstance(verdict, Unreadable):
            return verdict
        # The reply itself may hold a secret; the feedback has it.
        _log.warning("the judge's reply of %d characters is unreadable (%s)", len(reply), verdict.reason)
        return Verdict(success=False, feedback=f"{UNREADABLE_PREFIX}{reply}")

    evaluate, aevaluate = blocking(_evaluate), awaited(_evaluate)


def _read_reply(reply: str, *shown: str) -> Verdict | Unreadable:
    """Reads a verdict; an approval within other text may be a quotation, or be taken back."""
    verdict = read_verdict(reply)
    approves = not isinstance(verdict, Unreadable) and verdict["success"]
    is_alone = is_one_object(find_document(reply, shown))
    return Unreadable(reply, _UNCLEAN) if approves and not is_alone else verdict
