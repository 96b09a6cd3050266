"""A run and an agent that pay guests, in processes that are killed, and a person who answers."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from agents import ActingTool, EffectsMiddleware, ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator.persistence import Store, open_store
from tests.fakes.runs import build
from tests.faults.children import PROCESSES, Place
from tests.faults.story import Log

CONFIG = RunnableConfig(configurable={"thread_id": "guests"})
ACTING = {"pay": ActingTool(repeat="allow")}
ROUNDS = (("a", "b"), ("c",))
"""The calls of each reply of the model: the first two are parallel."""
PLAN = ["guest1", "guest2", "guest3"]
Open = Mapping[tuple[str, str], object]
"""The open questions: the payment and the words, and where the answer goes to."""


@dataclass(frozen=True)
class Run:
    """A run of an orchestrator."""

    store: Store
    log: Log

    def go_on(self, answer: tuple[object, str] | None) -> Open:
        """Begin the run or go on with it, and return its open question."""
        executor = ExecutionAgent(ScriptedChatModel(_reply), [_build_tool(self.log)])
        options = {"plan": PLAN, "acting_tools": ACTING, "checkpointer": self.store, "synthesis": False}
        orchestrator = build(executor, **options)
        given = None if answer is None else {"answer": answer[1], "text": "paid", "answered_by": "Ada"}
        snapshot = orchestrator.graph.get_state(CONFIG)
        is_begun = "checkpoint_id" in snapshot.config["configurable"]
        if is_begun and not snapshot.next:
            return {}
        state = orchestrator.resume("guests", given) if is_begun else orchestrator.run("x", "guests")
        question = state["question"]
        assert question is not None or state["status"] == "success", state["failure"]
        asked = [] if question is None else [question]
        return {(each["tool_calls"][0]["args"]["to"], *each["findings"][:1]): each["id"] for each in asked}


@dataclass(frozen=True)
class Agent:
    """An agent with EffectsMiddleware, and without an orchestrator."""

    store: Store
    log: Log

    def go_on(self, answer: tuple[object, str] | None) -> Open:
        """Begin the conversation or go on with it, and return its open questions."""
        agent = create_agent(
            ScriptedChatModel(_reply),
            [_build_tool(self.log)],
            middleware=[EffectsMiddleware(ACTING)],
            checkpointer=self.store.saver,
        )
        is_begun = self.store.saver.get_tuple(CONFIG) is not None
        given = None if is_begun else {"messages": [("user", "Pay guest1")]}
        if answer is not None:
            word = {"approve": "approve", "correct": "respond"}[answer[1]]
            given = Command(resume={answer[0]: {"decisions": [{"type": word, "message": "paid"}]}})
        state = agent.invoke(given, CONFIG, durability="sync")
        asked = [(each, each.value["action_requests"][0]) for each in state.get("__interrupt__", ())]
        return {(action["args"]["to"], action["description"]): each.id for each, action in asked}


KINDS = {"run": Run, "agent": Agent}


def _reply(messages: list[BaseMessage]) -> AIMessage | str:
    text = "\n".join(each.text for each in messages if each.type == "human")
    guest = max(("guest1", "guest2", "guest3"), key=text.rfind)
    made = sum(len(each.tool_calls) for each in messages if isinstance(each, AIMessage))
    ends = [sum(map(len, ROUNDS[: number + 1])) for number in range(len(ROUNDS))]
    names = next((names for names, end in zip(ROUNDS, ends, strict=True) if made < end), ())
    calls = [{"name": "pay", "args": {"to": f"{guest}{each}"}, "id": f"{guest}{each}"} for each in names]
    return AIMessage("", tool_calls=calls) if calls else "All are paid."


def _build_tool(log: Log):
    def pay(to: str) -> str:
        """Pay a guest."""
        time.sleep(0.01)
        log.write({"what": "paid", "to": to})
        time.sleep(0.01)
        return f"paid {to}"

    return pay


def pay_guests(place: Place, kind: str, seed: int) -> None:
    """Pay the guests, from wherever the store is, and answer each question."""
    chance = random.Random(seed)
    with open_store(place.store) as store:
        job = KINDS[kind](store, place.log)
        open_, answer = job.go_on(None), None
        while open_:
            answered = list_answered(store.saver)
            for to, _ in open_:
                place.log.write({"what": "asked", "to": to, "is_answered": to in answered})
            (to, words), question = next(iter(open_.items()))
            answer = question, chance.choice(["approve", "correct"])
            place.log.write({"what": answer[1], "to": to, "words": words})
            open_ = job.go_on(answer)
        place.log.write({"what": "over", "to": ""})


def start(place: Place, kind: str, seed: int) -> BaseProcess:
    child = PROCESSES.Process(target=pay_guests, args=(place, kind, seed), daemon=True)
    child.start()
    return child


def list_answered(saver: BaseCheckpointSaver[str]) -> set[str]:
    """List the payments whose answers are in a store."""
    return {each.tool_call_id for each in _list_messages(saver) if isinstance(each, ToolMessage)}


def _list_messages(saver: BaseCheckpointSaver[str]) -> Iterator[object]:
    for stored in saver.list(CONFIG):
        values = [stored.checkpoint["channel_values"].get("messages")]
        values += [value for _, name, value in stored.pending_writes or [] if name == "messages"]
        for value in values:
            yield from value if isinstance(value, list) else [value]


def find_harm(log: Log) -> list[str]:
    """Tell which payments were made again without a question, or asked about although they were answered."""
    lines = [json.loads(line) for line in log.lines()]
    made = Counter(line["to"] for line in lines if line["what"] == "paid")
    # A question that is shown again has the same words, and is for one start.
    questions = {(line["to"], line["words"]) for line in lines if line["what"] == "approve"}
    approved = Counter(to for to, _ in questions)
    again = [
        f"{to}: {times} times, with {approved[to]} approvals"
        for to, times in made.items()
        if times > 1 + approved[to]
    ]
    asked = [line["to"] for line in lines if line["what"] == "asked" and line["is_answered"]]
    return [*again, *(f"{to} was asked about" for to in asked)]
