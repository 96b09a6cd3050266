"""A Model Context Protocol server with two tools, over standard input and output (see mcp_tools.py)."""

from __future__ import annotations

from mcp.server.fastmcp import FastMCP

server = FastMCP("bookshop", log_level="WARNING")
PRICES = {"moby dick": 12.5, "ulysses": 18.0}


@server.tool()
def price_of(title: str) -> float:
    """Return the price of a book in euros."""
    try:
        return PRICES[title.lower()]
    except KeyError:
        raise ValueError(f"no book {title!r}; there are: {', '.join(PRICES)}") from None


@server.tool()
def with_tax(amount: float, percent: float = 7.0) -> float:
    """Add tax to an amount, rounded to cents."""
    return round(amount * (1 + percent / 100), 2)


if __name__ == "__main__":
    server.run(transport="stdio")
