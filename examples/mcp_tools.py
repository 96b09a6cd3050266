"""An executor with tools from an MCP server.

Run it with ``python examples/mcp_tools.py``; with a model of your own, that can call tools, with
``python examples/mcp_tools.py --model ollama:qwen3``.
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


def reply(prompt: list[BaseMessage]) -> AIMessage | str:
    """What a model that can call tools would answer: the calls are scripted, their results are real."""
    results = [message.text for message in prompt if isinstance(message, ToolMessage)]
    if not results:
        return AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "Moby Dick"}, "id": "1"}])
    if len(results) == 1:
        return AIMessage(
            "", tool_calls=[{"name": "with_tax", "args": {"amount": float(results[0])}, "id": "2"}]
        )
    return f"Moby Dick costs {results[0]} euros, {results[1]} with tax."


async def run(llm: BaseChatModel) -> str:
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
    # The script stands in for a model, so that the example runs anywhere; any tool-calling model goes here.
    llm = load_model(spec) if spec else ScriptedChatModel(reply)
    print(asyncio.run(run(llm)))


if __name__ == "__main__":
    main()
