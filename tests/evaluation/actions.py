"""One observed action, as the state of an evaluation holds it."""

from evaluation.report.report_model import Action


def observed(name="search", **fields):
    """Make an action with every key there; what is not given is absent from the record."""
    absent = dict.fromkeys(Action.__annotations__)
    return {**absent, "kind": "tool", "name": name, **fields}
