"""Replies that hold no answer, each made of one that does."""

from __future__ import annotations

import json
from collections.abc import Mapping

FENCE = "```"


def broken(answer: Mapping[str, object]) -> dict[str, str]:
    """What goes wrong with any reply, by what it is."""
    document = json.dumps(answer)
    first = next(iter(answer))
    return {
        "nothing": "",
        "white space": " \n\t ",
        "null": "null",
        "true": "true",
        "a number": "42",
        "a word": "continue",
        "a JSON string": '"continue"',
        "an empty object": "{}",
        "an empty list": "[]",
        "an opening brace": "{",
        "a closing brace": "}",
        "prose": "All went well and I would continue.",
        "a key without a value": f'{{"{first}": }}',
        "a key alone": f'{{"{first}"}}',
        "cut before its end": document[:-1],
        "cut in its middle": document[: len(document) // 2],
        "cut after its first key": document[: len(first) + 3],
        "cut within a fence": f"{FENCE}json\n{document[:-1]}\n{FENCE}",
        "cut after prose": f"Here: {document[:-1]}",
        "whole and then cut": f"{document} {document[:-1]}",
        "without its first brace": document[1:],
        "without its commas": document.replace(",", ""),
        "without its colons": document.replace(":", ""),
        "the wrong closing bracket": document[:-1] + "]",
        "a list around it": f"[{document}]",
        "an object around it": f'{{"answer": {document}}}',
        "a thought that never ends": f"<think>{document}",
        "only a thought": f"<think>{document}</think>",
        "only a thought that never began": f"{document[1:]}</think>",
        "cut in two by the end of a thought": f'Look: {{"{first}": "</think>{document}',
        "every key in another language": json.dumps({f"ü{key}": value for key, value in answer.items()}),
        "every value null": json.dumps(dict.fromkeys(answer)),
        "every value a number": json.dumps(dict.fromkeys(answer, 7)),
        "every value an empty text": json.dumps(dict.fromkeys(answer, "")),
        "every value a nested object": json.dumps({key: {"is": value} for key, value in answer.items()}),
        "the first key twice": f'{{"{first}": "x", {document[1:]}',
        "YAML": "\n".join(f"{key}: {json.dumps(value)}" for key, value in answer.items()),
        "XML": "".join(f"<{key}>{value}</{key}>" for key, value in answer.items()),
        "two commas": document.replace(", ", ",, "),
        "an unfinished string": document.replace('"}', "}").replace('"]', "]").replace("}", '"'),
    }
