"""Messages of a conversation, in the notation of OpenAI's chat; the id of a call is the name of its tool."""

import json


def user(content):
    return {"role": "user", "content": content}


def said(content, **fields):
    return {"role": "assistant", "content": content, **fields}


def calling(*names, **args):
    functions = ({"name": name, "arguments": json.dumps(args)} for name in names)
    return said(None, tool_calls=[{"id": f["name"], "type": "function", "function": f} for f in functions])


def answered(name, content="ok", **fields):
    return {"role": "tool", "tool_call_id": name, "content": content, **fields}
