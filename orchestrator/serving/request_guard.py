"""Refuses foreign requests before anything reads them, and adds the headers that protect the pages."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass
from typing import Annotated, Final, Self, cast
from urllib.parse import parse_qs, quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.serving.responses import answer_problem, is_for_program

MIN_TOKEN: Final = 16
_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class ServerOptions(BaseModel):
    """How a server answers.

    Attributes:
        host: The address it listens on.
        token: The token that a client has to give; None for no login, which only a loopback address may have.
        read_only: Whether every change is refused.
        allowed_hosts: Further names of the server that a request may ask for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    token: Annotated[str | None, Field(min_length=MIN_TOKEN)] = None
    read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_token(self) -> Self:
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from other machines; give a token of at least {MIN_TOKEN} "
                "characters, or a loopback address such as 127.0.0.1"
            )
        return self

    def allows_host(self, name: str) -> bool:
        """Checks the name in a request's Host header; a foreign name is a sign of DNS rebinding."""
        own = (*_LOOPBACK, self.host, *self.allowed_hosts)
        is_own = name.casefold() in map(str.casefold, own)
        # A page of another site has a name; it cannot make a browser send the address of this machine.
        return is_own or (not is_loopback(self.host) and _read_address(name) is not None)


def is_loopback(host: str) -> bool:
    """Checks whether only this machine can reach an address."""
    address = _read_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _read_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


SESSION: Final = "pem_session"
CSRF: Final = "pem_csrf"
CSRF_FIELD: Final = "csrf"
MAX_BODY: Final = 256_000
"""Bytes of a request; an evaluation may have ``MAX_EVALUATION``."""
MAX_EVALUATION: Final = 10_000_000
_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_OPEN: Final = ("/login", "/static/")
"""Paths that need no login."""
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with it, browsers send no origin with the forms of our own pages.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused: a status and one sentence."""

    status: int
    sentence: str


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """An ASGI middleware.

    Attributes:
        app: The application behind it.
        options: Who may reach the server.
    """

    app: ASGIApp
    options: ServerOptions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = _keep_encoded(scope)
        request = Request(scope, receive)
        csrf = request.cookies.get(CSRF) or secrets.token_urlsafe(32)
        request.state.csrf = csrf
        request.state.read_only = self.options.read_only
        request.state.is_known = self._is_known(request)
        request.state.is_logged_in = self.options.token is not None and request.state.is_known
        secured = _add_headers(send, None if CSRF in request.cookies else csrf)
        refusal = self._find_refusal(request)
        body = None
        if refusal is None and request.method not in _SAFE:
            body = await _read_body(receive, _find_limit(request))
            refusal = _TOO_LARGE if body is None else _check_csrf(request, body, csrf)
        if refusal is not None:
            request.state.is_known = False
            response = answer_problem(request, refusal.status, refusal.sentence)
            await response(scope, receive, secured)
            return
        await self.app(scope, receive if body is None else _replay(body, receive), secured)

    def _find_refusal(self, request: Request) -> Refusal | None:
        host = split_host(request.headers.get("host", ""))
        if not self.options.allows_host(host):
            return Refusal(
                421, f"this server is not {host!r}; open it by the address that it was started with"
            )
        is_change = request.method not in _SAFE
        if is_change and not _is_own_origin(request.headers):
            return Refusal(403, "the request comes from the page of another site; use a page of this server")
        if not request.state.is_known and not request.scope["path"].startswith(_OPEN):
            return Refusal(
                401, "the token is missing or wrong; give it at /login, or as 'Authorization: Bearer'"
            )
        if is_change and self.options.read_only and not request.scope["path"].startswith(_OPEN):
            return Refusal(403, "this server is read-only; start it without --read-only to change something")
        return None

    def _is_known(self, request: Request) -> bool:
        token = self.options.token
        if token is None:
            return True
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        session = request.cookies.get(SESSION, "")
        return is_same(given, token) or is_same(session, sign_session(token))


def _keep_encoded(scope: Scope) -> Scope:
    """Leaves the name of a run encoded: a slash in it ends no part of the path. ``Thread`` decodes it."""
    if not scope["path"].startswith("/api/runs/"):
        return scope
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    return {**scope, "path": raw.decode("latin-1")}


_TOO_LARGE: Final = Refusal(413, "the request is too large; give a shorter text")


def sign_session(token: str) -> str:
    """Returns the value of the cookie that stands for a token."""
    return hmac.new(token.encode(), b"session", hashlib.sha256).hexdigest()


def is_same(first: str, second: str) -> bool:
    """Compares two secrets in constant time."""
    return hmac.compare_digest(first.encode(), second.encode())


def split_host(host: str) -> str:
    """Returns the name of a Host header, without its port; "" if it is no name with an optional port.

    "evil@127.0.0.1" and "127.0.0.1/x" are no names, although a parser of addresses finds one in them.
    """
    match = _HOST.fullmatch(host)
    return match["name"].strip("[]").casefold() if match else ""


def _is_own_origin(headers: Headers) -> bool:
    """Checks the origin of a change; a program sends none."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    is_own = origin is None or urlsplit(origin).netloc == headers.get("host")
    return is_own and site in (None, "same-origin", "none")


def _find_limit(request: Request) -> int:
    return MAX_EVALUATION if request.url.path == "/api/evaluations" else MAX_BODY


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """Reads the body of a request; None if it is larger than the limit."""
    body = b""
    while True:
        message = await receive()
        body += cast("bytes", message.get("body", b""))
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return messages.pop() if messages else await receive()

    return read


def _check_csrf(request: Request, body: bytes, csrf: str) -> Refusal | None:
    """Checks the token of a form; a program sends JSON, which no form of another site can."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if is_for_program(request):
        is_json = kind == "application/json" or not body
        return None if is_json else Refusal(415, f"the body is {kind!r}; give JSON as 'application/json'")
    fields = parse_qs(body.decode("utf-8", "replace"))
    given = fields.get(CSRF_FIELD, [""])[0]
    if CSRF in request.cookies and is_same(given, csrf):
        return None
    return Refusal(403, "the form has no valid token; load the page again, and send it from there")


def _add_headers(send: Send, new_csrf: str | None) -> Send:
    async def send_secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            # A script or a style is loaded again only if it has another tag.
            headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
            if new_csrf is not None and headers.get("content-type", "").startswith("text/html"):
                headers.append("Set-Cookie", f"{CSRF}={new_csrf}; Path=/; HttpOnly; SameSite=Strict")
        await send(message)

    return send_secured
