"""Pictures of a compiled graph, made on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import DrawingError

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing

    from orchestrator.graph.build import Graph


def mermaid(graph: Graph) -> str:
    """The graph as Mermaid text."""
    return _drawing(graph).draw_mermaid()


def png(graph: Graph) -> bytes:
    """The graph as a PNG picture.

    Raises:
        DrawingError: The package pygraphviz is not installed.
    """
    try:
        picture = _drawing(graph).draw_png(None)
    except ImportError as error:
        raise DrawingError(
            "a PNG picture needs the package pygraphviz, and Graphviz itself: "
            "pip install pygraphviz; draw_mermaid() needs neither"
        ) from error
    return picture


def _drawing(graph: Graph) -> Drawing:
    """What LangGraph draws, with every route: it shows one of two that lead to the same node."""
    drawing = graph.get_graph()
    drawn = {(edge.source, edge.target, str(edge.data)) for edge in drawing.edges}
    for source, branches in graph.builder.branches.items():
        for branch in branches.values():
            for label, target in (branch.ends or {}).items():
                if (source, target, str(label)) not in drawn:
                    ends = drawing.nodes[source], drawing.nodes[target]
                    drawing.add_edge(*ends, str(label), conditional=True)
    return drawing
