"""A graph for LangGraph Studio and the clients of LangGraph's server, which reads ``langgraph.json``.

    uv run --with "langgraph-cli[inmem]" langgraph dev

The environment variable MODEL names another model than the embedded one, such as "ollama:qwen3". Run as a
script, this file prints the graph with the evaluation inside, as Mermaid text.
"""

import os

from orchestrator import LangGraphOrchestrator

graph = LangGraphOrchestrator.from_model(os.environ.get("MODEL", "local")).graph

if __name__ == "__main__":
    print(graph.get_graph(xray=True).draw_mermaid())
