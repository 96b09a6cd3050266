"""Runs the attacks in this folder: inputs that once got a verdict they must not get, one file for each class.

A file holds ``{"about": ..., "attacks": [...]}``. Each attack has:

- ``name``: what it tries, in words;
- ``case``: the input of ``evaluate``; with ``conversation`` in place of ``case["agent_run"]``, the run is
  read from these messages by ``run_from_messages``;
- ``replies``: the answers of the chat model of a ``RubricJudge``, the last one repeated; absent: no judge;
- ``max_characters``: the longest prompt of that judge;
- ``answers``: the return values of a user's own judge, in place of ``replies``;
- ``status``: the expected status, or a list of accepted ones; ``"refused"`` if the input has to be refused;
- ``says``: texts that the alerts (or the refusal) have to contain, in any order;
- ``hides``: texts that no part of the report may contain.
"""

import json
from collections.abc import Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from evaluation import ContractError, Judge, RubricJudge, evaluate, run_from_messages
from evaluation.testing import ScriptedJudge

FILES = sorted(Path(__file__).parent.glob("*.json"))
ATTACKS: dict[str, dict[str, Any]] = {
    f"{path.stem}: {attack['name']}": attack
    for path in FILES
    for attack in json.loads(path.read_text(encoding="utf-8"))["attacks"]
}


def build_judge(attack: Mapping[str, Any]) -> Judge | None:
    if "answers" in attack:
        return ScriptedJudge(attack["answers"])
    if "replies" not in attack:
        return None
    replies = attack["replies"]
    script = chain(replies, repeat(replies[-1]))
    limit = {name: attack[name] for name in ("max_characters",) if name in attack}
    return RubricJudge(GenericFakeChatModel(messages=(AIMessage(reply) for reply in script)), **limit)


def build_case(attack: Mapping[str, Any]) -> object:
    if "conversation" not in attack:
        return attack["case"]
    return {**attack["case"], "agent_run": run_from_messages(attack["conversation"])}


def test_an_attack_gets_the_verdict_it_deserves(subtests: pytest.Subtests) -> None:
    for name, attack in ATTACKS.items():
        with subtests.test(name):
            try:
                report = evaluate(build_case(attack), judge=build_judge(attack)).model_dump(mode="json")
                status, text = report["status"], json.dumps(report["alerts"], ensure_ascii=False)
            except (ContractError, ValueError) as error:
                report, status, text = {}, "refused", str(error)
            accepted = attack["status"]
            assert status in (accepted if isinstance(accepted, list) else [accepted]), text
            assert all(words in text for words in attack.get("says", [])), text
            shown = json.dumps(report, ensure_ascii=False) + text
            assert not [secret for secret in attack.get("hides", []) if secret in shown]
