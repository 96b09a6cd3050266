"""Draw the pictures of the pages: a run on a wide screen, and the inbox on a phone.

The runs are real, their models are scripted. It needs Chromium and Playwright.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from langchain_core.messages import AIMessage

from agents import ActingTool
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store, open_store
from orchestrator.serving import OneOrchestrator, build_app
from tests.fakes.chromium import open_chromium

PRICE = EvaluationContract.model_validate({"must_call": ["price_of"], "required_content": [{"number": 12.5}]})


def price_of(title: str) -> float:
    """Return the price of a book in euros."""
    return {"Moby Dick": 12.5}[title]


def send_invitation(to: str, text: str) -> str:
    """Send an invitation by e-mail."""
    return f"sent to {to}: {len(text)} characters"


def main() -> None:
    """Run the tasks, serve them, and photograph the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as data, open_store(Path(data) / "runs.sqlite") as store:
        asking = asyncio.run(fill(store))
        server = uvicorn.Server(uvicorn.Config(build_app(store, OneOrchestrator(asking)), port=0))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        take(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", folder)
        server.should_exit = True
        thread.join()


async def fill(store: Store) -> LangGraphOrchestrator:
    """Run a task whose first attempt is refused, and one that waits for an approval."""
    call = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}])
    plan = '{"plan": ["Look up the price of Moby Dick"]}'
    priced = [plan, "Moby Dick costs 9.99 euros.", call, "Moby Dick costs 12.50 euros."]
    await build(store, priced, tools=[price_of], contract=PRICE).arun("What does Moby Dick cost?", "price")
    text = "Dear Ada, please come to our party on Friday at 7 pm."
    args = {"to": "ada@example.org", "text": text}
    send = AIMessage("", tool_calls=[{"name": "send_invitation", "args": args, "id": "1"}])
    asking = build(
        store,
        ['{"plan": ["Send the invitation"]}', send],
        tools=[send_invitation],
        acting_tools={"send_invitation": ActingTool(approve=True)},
    )
    await asking.arun("Invite Ada to the party on Friday at 7 pm", "invitation")
    return asking


def build(store: Store, replies: list[str | AIMessage], **options: object) -> LangGraphOrchestrator:
    """Build an orchestrator whose model says these replies."""
    model = ScriptedChatModel(replies, usage=(420, 60))
    return LangGraphOrchestrator.from_model(model, planning="always", checkpointer=store, **options)  # type: ignore[arg-type]


def take(address: str, folder: Path) -> None:
    """Photograph the pages."""
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto(f"{address}/run?thread_id=price")
        page.get_by_text("the run ended: success").wait_for()
        page.locator("#attempt-1-1 summary").click()
        page.screenshot(path=folder / "serve-run.png")
        phone = browser.new_page(viewport={"width": 375, "height": 760}, color_scheme="dark")
        phone.goto(address)
        phone.screenshot(path=folder / "serve-inbox.png")


if __name__ == "__main__":
    main()
