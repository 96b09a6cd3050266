"""What the workers of the tests execute: three steps, each with one effect.

The folder EFFECTS has what was done. A step takes EFFECT_S seconds.
"""

import os
import time
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store

STEPS = 3
PLAN = '{"plan": ["Do part 1", "Do part 2", "Do part 3"]}'


def _append(name: str, line: str) -> None:
    opened = os.open(Path(os.environ["EFFECTS"], name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(opened, f"{line}\n".encode())
    os.close(opened)


def list_effects(folder: Path) -> list[str]:
    """Return what was done, as "run part", in the order in which it was done."""
    file = folder / "effects"
    keyed = sorted(folder.glob("effect *"), key=lambda one: one.stat().st_mtime_ns)
    lines = file.read_text().splitlines() if file.exists() else []
    return [*lines, *(one.name.removeprefix("effect ").rpartition(" ")[0] for one in keyed)]


def act(part: str, config: RunnableConfig) -> str:
    """Do a part, once for each key."""
    values = config.get("configurable", {})
    time.sleep(float(os.environ.get("EFFECT_S", "0.05")))
    effect = f"effect {values['thread_id']} {part} {values['idempotency_key']}"
    try:
        Path(os.environ["EFFECTS"], effect).touch(exist_ok=False)  # at once: a kill cannot split it
    except FileExistsError:
        return f"{part} was done before"
    return f"{part} is done"


def act_once(part: str, config: RunnableConfig) -> str:
    """Do a part; nobody notices if it is done twice."""
    time.sleep(float(os.environ.get("EFFECT_S", "0.05")))
    _append("effects", f"{config.get('configurable', {})['thread_id']} {part}")
    return f"{part} is done"


def _answer(messages: list[BaseMessage]) -> AIMessage:
    if messages[-1].type == "tool":
        return AIMessage(messages[-1].text)
    part = messages[-1].text.rsplit("Do ", 1)[-1].split("\n")[0]
    return AIMessage("", tool_calls=[{"name": "act", "args": {"part": part}, "id": part}])


def _judge(messages: list[BaseMessage]) -> AIMessage:
    _append("verdicts", messages[-1].text.replace("\n", " "))
    return AIMessage('{"success": true, "feedback": "good"}')


def build(store: Store) -> LangGraphOrchestrator:
    return _build(store)


def build_once(store: Store) -> LangGraphOrchestrator:
    """Build one whose tool acts at most once."""
    return _build(store, once=True)


def _build(store: Store, *, once: bool = False) -> LangGraphOrchestrator:
    # Its key makes a repeated call of ``act`` harmless, and only a tool that reads is repeated unasked.
    metadata = {} if once else {"readOnlyHint": True}
    tool = StructuredTool.from_function(act_once if once else act, name="act", metadata=metadata)
    return LangGraphOrchestrator.from_model(
        ScriptedChatModel(_answer),
        planner_model=ScriptedChatModel(lambda _: PLAN),
        monitor_model=ScriptedChatModel(_judge),
        tools=[tool],
        contract=None,
        planning="always",
        synthesis=False,
        acting_tools=["act"] if once else None,
        checkpointer=store,
    )


def build_nothing(store: Store) -> str:
    return store.where


def build_without_store(store: Store) -> LangGraphOrchestrator:
    return LangGraphOrchestrator.from_model(ScriptedChatModel(_answer))


def fail(store: Store) -> LangGraphOrchestrator:
    """Raise."""
    raise RuntimeError(f"no agents on {store.where[:0]}this machine")
