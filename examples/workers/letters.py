"""What the workers run: a clerk who sends one letter. A scripted model stands for a real one."""

import os

import psycopg
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import Store

SEND = "INSERT INTO letters (key, customer) VALUES (%s, %s) ON CONFLICT DO NOTHING"


def send_letter(customer: str, config: RunnableConfig) -> str:
    """Send a letter; the idempotency key makes a call that a crash repeats have no second effect."""
    key = config.get("configurable", {})["idempotency_key"]
    with psycopg.connect(os.environ["PEM_QUEUE_DB"], autocommit=True) as connection:
        connection.execute(SEND, (key, customer))
    return f"The letter to {customer} is sent."


def answer(messages: list[BaseMessage]) -> AIMessage:
    """Call the tool, and then repeat what it returned."""
    if messages[-1].type == "tool":
        return AIMessage(messages[-1].text)
    customer = messages[-1].text.partition("Write to ")[2].split("\n")[0]
    return AIMessage("", tool_calls=[{"name": "send_letter", "args": {"customer": customer}, "id": "1"}])


def build(store: Store) -> LangGraphOrchestrator:
    """Build the orchestrator of a worker."""
    return LangGraphOrchestrator.from_model(
        ScriptedChatModel(answer),
        monitor_model=ScriptedChatModel(lambda _: '{"success": true, "feedback": "sent"}'),
        tools=[send_letter],
        contract=EvaluationContract(must_call=["send_letter"]),
        planning="never",
        checkpointer=store,
    )
