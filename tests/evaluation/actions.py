"""One observed action, as the state of an evaluation holds it."""


def observed(name="search", **fields):
    """Make an action with every key there; what is not given is absent from the record."""
    absent = dict.fromkeys(
        (
            "args",
            "args_error",
            "args_text",
            "result",
            "error",
            "not_run",
            "outcome",
            "agent",
            "target",
            "latency_ms",
            "message",
        )
    )
    return {"kind": "tool", "name": name, **absent, **fields}
