"""Give an executor the tools of an MCP server.

python examples/mcp_tools.py
python examples/mcp_tools.py --model ollama:qwen3      with a real model that can call tools
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient

from agents import ExecutionAgent, load_model
from agents.testing import ScriptedChatModel

SERVER = Path(__file__).with_name("mcp_server.py")


def call_tools(prompt: list[BaseMessage]) -> AIMessage | str:
    """Answer as a model that can call tools: the calls are scripted, the results are real."""
    results = [message.text for message in prompt if isinstance(message, ToolMessage)]
    if len(results) == 2:
        return f"Moby Dick costs {results[0]} euros, {results[1]} with tax."
    if results:
        call = {"name": "with_tax", "args": {"amount": float(results[0])}, "id": "2"}
    else:
        call = {"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}
    return AIMessage("", tool_calls=[call])


async def ask_price(llm: BaseChatModel) -> str:
    client = MultiServerMCPClient(
        {"bookshop": {"transport": "stdio", "command": sys.executable, "args": [str(SERVER)]}}
    )
    tools = await client.get_tools()
    print("tools:", ", ".join(tool.name for tool in tools))
    executor = ExecutionAgent(llm, tools=tools)
    return await executor.aexecute_step("What does Moby Dick cost, without and with tax?")


def main() -> None:
    parser = argparse.ArgumentParser(description="An executor with tools from an MCP server.")
    parser.add_argument("--model", help="a model that can call tools, such as ollama:qwen3")
    spec = parser.parse_args().model
    # The script replaces a model, so that the example runs anywhere.
    llm = load_model(spec) if spec else ScriptedChatModel(call_tools)
    print(asyncio.run(ask_price(llm)))


if __name__ == "__main__":
    main()
