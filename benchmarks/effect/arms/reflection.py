"""A LangGraph reflection loop: generate, reflect, and again until the reflection approves."""

from __future__ import annotations

from typing import Any, Final, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from benchmarks.effect.arms.base import Answer, Trial

_CRITIC: Final = (
    "You review an answer to a task. If the answer does everything that the task asks for, reply with the "
    "one word APPROVE. Otherwise, list what has to change."
)


class Reflection:
    """The model reviews its own answers, as LangGraph's tutorials on reflection show it."""

    name = "reflection"
    package = module = ""

    def answer(self, trial: Trial) -> Answer:
        """Run the loop; the claim is the approval of the last review."""
        final = build_loop(trial).invoke({"messages": [HumanMessage(trial.prompt.text)]})
        answers = [message for message in final["messages"] if isinstance(message, AIMessage)]
        return Answer(answers[-1].text, claimed=_approves(final["messages"]))


def build_loop(trial: Trial) -> Any:
    """Compile the graph for one trial."""

    def generate(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {"messages": [trial.model.invoke(state["messages"])]}

    def reflect(state: MessagesState) -> dict[str, list[BaseMessage]]:
        request = f"Task:\n{trial.prompt.text}\n\nAnswer:\n{state['messages'][-1].text}"
        review = trial.model.invoke([SystemMessage(_CRITIC), HumanMessage(request)])
        return {"messages": [HumanMessage(review.text)]}

    def decide(state: MessagesState) -> Literal["generate", "__end__"]:
        answers = sum(isinstance(message, AIMessage) for message in state["messages"])
        return END if _approves(state["messages"]) or answers > trial.retries else "generate"

    graph = StateGraph(MessagesState)
    graph.add_node("generate", generate)
    graph.add_node("reflect", reflect)
    graph.add_edge(START, "generate")
    graph.add_edge("generate", "reflect")
    graph.add_conditional_edges("reflect", decide)
    return graph.compile()


def _approves(messages: list[BaseMessage]) -> bool:
    return messages[-1].text.strip().upper().startswith("APPROVE")
