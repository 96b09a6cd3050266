"""A contract in a deep agent and in its subagent: `create_deep_agent` of deepagents.

The subagent answers with a guess first, which its own contract refuses: only the second answer reaches the
deep agent, which makes the refund and answers under a contract of its own. A scripted model stands for a real
one. Needs `pip install deepagents`.
"""

from deepagents import SubAgent, create_deep_agent
from langchain_core.messages import AIMessage, HumanMessage

from agents import ActingTool, EffectsMiddleware
from agents.testing import ScriptedChatModel
from orchestrator import ContractMiddleware

REFUNDS: list[str] = []


def get_order(order_id: str) -> dict[str, object]:
    """Read an order."""
    return {"order_id": order_id, "total": 12.5}


def refund(order_id: str) -> dict[str, object]:
    """Refund an order."""
    REFUNDS.append(order_id)
    return {"status": "refunded"}


def call(tool: str, call_id: str, **args: str) -> AIMessage:
    """Let a scripted model call a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": call_id}])


reader: SubAgent = {
    "name": "order-reader",
    "description": "Reads orders.",
    "system_prompt": "Read the order and state its total.",
    "tools": [get_order],
    "model": ScriptedChatModel(
        [
            "The total is 15 euros.",
            call("get_order", "1", order_id="A17"),
            "The total is 12.50 euros.",
        ]
    ),
    "middleware": [ContractMiddleware({"must_call": ["get_order"]})],
}
model = ScriptedChatModel(
    [
        call("task", "2", description="What is the total of A17?", subagent_type="order-reader"),
        call("refund", "3", order_id="A17"),
        "I have refunded 12.50 euros for order A17.",
    ]
)
agent = create_deep_agent(
    model=model,
    tools=[refund],
    subagents=[reader],
    middleware=[
        EffectsMiddleware({"refund": ActingTool(succeeded={"/status": "refunded"})}),
        ContractMiddleware({"must_call": ["refund"], "required_content": [{"number": 12.5}]}),
    ],
)

state = agent.invoke({"messages": [HumanMessage("Refund order A17, and tell me the amount.")]})

for message in state["messages"]:
    print(f"{message.type}: {message.text or ', '.join(each['name'] for each in message.tool_calls)}")
verdict = state["verdict"]
print(f"accepted: {verdict['accepted']}, {verdict['basis']}. Refunds made: {len(REFUNDS)}")
