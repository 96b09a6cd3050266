"""Tools that act, and the runs of an executor that calls them."""

from langchain_core.messages import AIMessage

from agents import ActingTool, ExecutionAgent
from agents.testing import ScriptedChatModel
from tests.fakes.runs import build

APPROVE = {"answer": "approve", "answered_by": "Ada"}
DENY = {"answer": "deny", "text": "too early", "answered_by": "Ada"}


class Crash(KeyboardInterrupt):
    """Ends the process of a run, as far as a test can."""


class Office:
    """Tools that note each effect.

    Args:
        faults: Raised or answered after the effects, in their order; None for neither.

    Attributes:
        done: The effects.
    """

    def __init__(self, *faults):
        self.done: list[str] = []
        self.faults = list(faults)

    def act(self, effect, answer):
        self.done.append(effect)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, BaseException):
            raise fault
        return answer if fault is None else fault

    def tools(self):
        def pay(to: str, euros: float = 1.0) -> str:
            """Pay."""
            return self.act(f"pay {to} {euros}", f"paid {euros} to {to}")

        def send(to: str) -> str:
            """Send the letter."""
            return self.act(f"send {to}", f"sent to {to}")

        def read(name: str) -> str:
            """Read a file."""
            return self.act(f"read {name}", f"text of {name}")

        async def post(to: str) -> str:
            """Post the letter."""
            return self.act(f"post {to}", f"posted to {to}")

        return [pay, send, read, post]


def ask(*calls):
    """A reply that calls tools, each by its name and its first argument or all its arguments."""
    made = [
        {"name": name, "args": args if isinstance(args, dict) else {"name" if name == "read" else "to": args}}
        for name, args in calls
    ]
    return AIMessage("", tool_calls=[{**each, "id": str(at)} for at, each in enumerate(made)])


def build_acting(tools, *replies, monitor=None, plan=("act",), reply=None, **options):
    """An orchestrator whose executor has the tools of an office or these, and its model."""
    model = ScriptedChatModel(replies if reply is None else reply, usage=(3, 2))
    executor = ExecutionAgent(model, tools.tools() if isinstance(tools, Office) else tools)
    return build(executor, monitor, plan=plan, **{"synthesis": False, **options}), model


def list_outcomes(state):
    """The answer or error of each call of a run, with the gate that it did not pass."""
    calls = [call for record in state["results"] for call in record["tool_calls"]]
    return [(call["result"] or call["error"], call.get("gate")) for call in calls]


def list_effects(state):
    """The step, the tool and the outcome of each effect of a run."""
    return [(each["step_index"], each["name"], each["outcome"]) for each in state["effects"]]


def list_texts(model):
    return [message.text for message in model.prompts[-1]]


def approve(*names):
    """The option ``acting_tools`` by which a person approves each call of these tools."""
    return {name: ActingTool(approve=True) for name in names}
