"""A web server in a process of its own, which is killed, and a client that starts runs and answers."""

from __future__ import annotations

import random
import re
import socket
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import httpx
import uvicorn
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatResult

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store
from orchestrator.serving import OneOrchestrator, build_app
from orchestrator.serving.web_app import SWITCH_S
from tests.fakes.acting import approve
from tests.faults.children import PROCESSES, Place

STEPS = 2
FINISH_S = 60.0
GOOD = '{"success": true, "feedback": "good"}'


class SlowModel(ScriptedChatModel):
    """A scripted model whose calls take a time, also side by side."""

    pause_s: float = 0.0

    def _generate(self, *args: Any, **named: Any) -> ChatResult:
        time.sleep(self.pause_s)
        return super()._generate(*args, **named)


def build_model(pause_s: float) -> BaseChatModel:
    """Plan two invitations, and call a tool for each; the prompt alone says what comes next."""
    model = SlowModel(_reply)
    model.pause_s = pause_s
    return model


def _reply(messages: list[BaseMessage]) -> AIMessage | str:
    first, text = messages[0], messages[-1].text
    if isinstance(first, SystemMessage) and "planner" in first.text:
        name = text.splitlines()[0].rsplit(maxsplit=1)[-1]
        steps = ", ".join(f'"Invite {name}-{step}"' for step in range(STEPS))
        return f'{{"plan": [{steps}]}}'
    if isinstance(first, SystemMessage) and "check the work" in first.text:
        return GOOD
    step = re.search(r"step now: Invite (\S+)", "\n".join(each.text for each in messages))
    if step is None or isinstance(messages[-1], ToolMessage):
        return "The guests are invited."
    return AIMessage("", tool_calls=[{"name": "invite", "args": {"guest": step[1]}, "id": step[1]}])


def serve(place: Place, told: Connection, pause_s: float, asks: bool) -> None:
    """Serve a store until the process is killed, and tell the port."""

    def invite(guest: str) -> str:
        """Invite a guest."""
        place.log.write({"guest": guest})
        return f"{guest} has an invitation"

    sys.setswitchinterval(SWITCH_S)  # this and a store for the pages: as `orchestrator serve` has them
    with (
        open_store(place.store) as store,
        open_store(place.store) as shown,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        orchestrator = LangGraphOrchestrator.from_model(
            build_model(pause_s),
            tools=[invite],
            acting_tools=approve("invite") if asks else None,
            planning="always",
            checkpointer=store,
        )
        told.send(listener.getsockname()[1])
        app = build_app(shown, OneOrchestrator(orchestrator))
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([listener])


@dataclass(frozen=True)
class Server:
    process: BaseProcess
    client: httpx.Client

    @classmethod
    def start(cls, place: Place, pause_s: float = 0.05, *, asks: bool = True) -> Server:
        """Start a server over the store of a place."""
        ours, theirs = PROCESSES.Pipe()
        process = PROCESSES.Process(target=serve, args=(place, theirs, pause_s, asks), daemon=True)
        process.start()
        assert ours.poll(FINISH_S)
        address = f"http://127.0.0.1:{ours.recv()}"
        return cls(process, httpx.Client(base_url=address, timeout=FINISH_S, trust_env=False))

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.client.close()

    def read(self, path: str) -> Any:
        return self.client.get(path).raise_for_status().json()

    def list_runs(self) -> dict[str, str]:
        return {run["thread_id"]: run["status"] for run in self.read("/api/runs?limit=200")["runs"]}


@dataclass
class Person:
    """Starts runs, answers their questions, and knows what the server has confirmed.

    Attributes:
        place: Where the runs are kept.
        started: The runs whose start was confirmed.
        answered: The questions whose answer was confirmed.
        lost: Runs and answers that were confirmed, and that a later server does not know.
    """

    place: Place
    started: set[str] = field(default_factory=set)
    answered: set[tuple[str, str]] = field(default_factory=set)
    lost: Counter[str] = field(default_factory=Counter)

    def begin(self, server: Server, runs: int) -> None:
        """Start the runs by their names, and go on with those that were cut off."""
        known = server.list_runs()
        self.lost["runs"] += len(self.started - known.keys())
        for number in range(runs):
            name = f"order-{number}"
            body = {"task": f"Invite guest{number}", "thread_id": name}
            answer = server.client.post("/api/runs", json=body)
            assert answer.status_code in {201, 409}, answer.text
            self.started.add(name)
        for thread_id, status in known.items():
            if status == "interrupted":
                server.client.post(f"/api/runs/{thread_id}/resume").raise_for_status()

    def answer_one(self, server: Server) -> bool:
        """Answer the oldest question; whether there was one, and the answer was confirmed."""
        for item in server.read("/api/questions")[:1]:
            question, thread_id = item["question"], item["thread_id"]
            self.lost["answers"] += (thread_id, question["id"]) in self.answered and not question["findings"]
            answer = {"question": question["id"], "answered_by": "Ada", **self._decide(question)}
            given = server.client.post(f"/api/runs/{thread_id}/answers", json=answer)
            assert given.status_code == 202, given.text
            self.answered.add((thread_id, question["id"]))
            return True
        return False

    def _decide(self, question: Any) -> dict[str, str]:
        """Approve a call, unless it was made before the kill: then tell its result."""
        guest = question["tool_calls"][0]["args"]["guest"]
        is_made = any(f'"{guest}"' in line for line in self.place.log.lines())
        return {"answer": "correct", "text": "invited"} if is_made else {"answer": "approve"}


def kill_servers(place: Place, seed: int, *, kills: int, runs: int) -> tuple[Person, dict[str, Any]]:
    """Kill servers, half of them right after an answer was confirmed; return the states at the end."""
    chance, person = random.Random(seed), Person(place)
    for number in range(kills):
        server = Server.start(place)
        person.begin(server, runs)
        wait_for(lambda server=server: person.answer_one(server))
        if number % 2:
            time.sleep(chance.random() * 0.5)
        server.kill()
    server = Server.start(place)
    person.begin(server, runs)
    wait_for(lambda: not person.answer_one(server) and set(server.list_runs().values()) == {"success"})
    states = {thread_id: server.read(f"/api/runs/{thread_id}")["state"] for thread_id in person.started}
    server.kill()
    return person, states


def wait_for(is_reached: Any) -> None:
    deadline = time.monotonic() + FINISH_S
    while not is_reached():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.02)
