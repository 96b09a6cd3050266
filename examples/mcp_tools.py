"""Give the executor the tools of an MCP server, and require that it calls them.

python examples/mcp_tools.py
python examples/mcp_tools.py ollama:qwen3        a real model that can call tools

The server is mcp_server.py, which this program starts.
"""

import asyncio
import sys
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator

SERVER = str(Path(__file__).with_name("mcp_server.py"))


def reply(prompt: list[BaseMessage]) -> AIMessage | str:
    """Replace a model that can call tools: the calls are scripted, the results are real."""
    if "plan" in prompt[0].text.casefold():
        return '{"plan": ["Ask for the price of Moby Dick"]}'
    results = [message.text for message in prompt if isinstance(message, ToolMessage)]
    if len(results) == 2:
        return f"Moby Dick costs {results[0]} euros, {results[1]} with tax."
    if results:
        call = {"name": "with_tax", "args": {"amount": float(results[0])}, "id": "2"}
    else:
        call = {"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}
    return AIMessage("", tool_calls=[call])


async def main() -> None:
    """Start the server, read its tools, and run the task with them."""
    client = MultiServerMCPClient(
        {"bookshop": {"transport": "stdio", "command": sys.executable, "args": [SERVER]}}
    )
    tools = await client.get_tools()
    print("tools:", ", ".join(tool.name for tool in tools))
    orchestrator = LangGraphOrchestrator.from_model(
        sys.argv[1] if sys.argv[1:] else ScriptedChatModel(reply),
        tools=tools,
        contract=EvaluationContract(must_call=["price_of", "with_tax"]),
    )
    state = await orchestrator.arun("What does Moby Dick cost, without and with tax?")
    for call in state["results"][-1]["tool_calls"]:
        print(f"{call['name']}({call['args']}) returned {call['result'] or call['error']}")
    print(f"{state['status']}, {state['basis']}: {state['output']}")


if __name__ == "__main__":
    asyncio.run(main())
