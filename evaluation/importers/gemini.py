"""Gemini's contents: role ``model``, and ``parts`` with ``function_call`` and ``function_response``.

Source: https://ai.google.dev/api/caching#Content
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    Importer,
    as_parts,
    content_parts,
    content_texts,
    read_call,
    read_id,
    read_object,
    read_result,
    read_text,
)
from evaluation.values import JsonObject


def open_content(content: JsonObject) -> JsonObject | None:
    """Move the parts to ``content``, without the texts that it holds already."""
    parts, role = content.get("parts"), content.get("role")
    spelled = ROLES.get(role.strip().lower()) if isinstance(role, str) else None
    if not isinstance(parts, list) or spelled is None:
        return None
    first = as_parts(content.get("content"))
    known = "".join(content_texts(first))
    every = [*first, *(part for part in parts if not _is_text_in(part, known))]
    rest = {name: value for name, value in content.items() if name != "parts"}
    return {**rest, "role": spelled, "content": every}


def _is_text_in(part: object, known: str) -> bool:
    # Some frameworks write a text both as the content and as a part.
    return isinstance(part, dict) and part.keys() <= {"type", "text"} and str(part.get("text")) in known


def _read_field(part: JsonObject, *names: str) -> dict[str, object] | None:
    """Return the field with one of the names: Python writes function_call, JSON functionCall."""
    return next((read_object(part, name) for name in names if part.get(name) is not None), None)


def read_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the calls among the parts; code that the model had executed is a call of ``code_execution``."""
    for part in content_parts(message):
        call = _read_field(part, "function_call", "functionCall")
        code = _read_field(part, "executable_code", "executableCode")
        if call is not None:
            yield read_call(call)
        if code is not None:
            yield Call("code_execution", code)


def read_answers(message: JsonObject) -> Iterator[Answer]:
    """Yield the answers among the parts; a response with ``error`` is an error, as Gemini defines it."""
    for part in content_parts(message):
        answer = _read_field(part, "function_response", "functionResponse")
        result = _read_field(part, "code_execution_result", "codeExecutionResult")
        if answer is not None:
            response = read_object(answer, "response")
            yield Answer(
                answer.get("response"), read_id(answer), read_text(answer.get("name")),
                bool(response.get("error")),
            )  # fmt: skip
        if result is not None:
            is_error = result.get("outcome") not in (None, "OUTCOME_OK")
            yield Answer(read_result(result.get("output")), None, "code_execution", is_error)


_CALLS: Final = frozenset({
    "function_call", "functionCall", "function_response", "functionResponse", "executable_code",
    "executableCode", "code_execution_result", "codeExecutionResult",
})  # fmt: skip
_ASIDES: Final = frozenset({
    "thought", "thought_signature", "thoughtSignature", "inline_data", "inlineData", "file_data",
    "fileData", "video_metadata", "videoMetadata", "media_resolution", "mediaResolution",
})  # fmt: skip

GEMINI: Final = Importer("Gemini", open_content, read_calls, read_answers, _CALLS | {"text"}, asides=_ASIDES)
