"""A contract in your own agent: `create_agent` answers only what meets the contract.

The first answer is a guess, and it is refused: the agent goes back to its model, reads the order and answers
again. The refund of the first attempt is not made a second time. A scripted model stands for a real one.
"""

from langchain.agents import create_agent
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


def call(tool: str, call_id: str) -> AIMessage:
    """Let the scripted model call a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": {"order_id": "A17"}, "id": call_id}])


model = ScriptedChatModel([
    call("refund", "1"),
    "I have refunded 15 euros for order A17.",
    call("get_order", "2"),
    call("refund", "3"),
    "I have refunded 12.50 euros for order A17.",
])  # fmt: skip

acting = {"refund": ActingTool(succeeded={"/status": "refunded"})}
contract = {"must_call": ["get_order"], "required_content": [{"number": 12.5}]}
agent = create_agent(
    model,
    [get_order, refund],
    middleware=[EffectsMiddleware(acting), ContractMiddleware(contract, max_retries=2)],
)

state = agent.invoke({"messages": [HumanMessage("Refund order A17, and tell me the amount.")]})

verdict = state["verdict"]
for number, attempt in enumerate(verdict["attempts"], 1):
    print(f"attempt {number}: {attempt['status']}: {attempt['output']}")
    if attempt["feedback"]:
        print(f"  {attempt['feedback']}")
for effect in state["effects"].values():
    print(f"{effect['name']}: {effect['outcome']}, {effect['answer']}")
print(f"accepted: {verdict['accepted']}, {verdict['basis']}. Refunds made: {len(REFUNDS)}")
