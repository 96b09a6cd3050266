"""Builds the web application of a store, and serves it.

A guard refuses foreign requests before anything reads them, and adds the headers that protect the pages.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import ipaddress
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Self
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from pydantic import model_validator
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.sync import DaemonExecutor
from orchestrator.persistence import Store
from orchestrator.runtime.budget import SettingsModel
from orchestrator.service.executions import RunBuilder, RunSessions
from orchestrator.service.run_service import RunService
from orchestrator.serving import routes
from orchestrator.serving.responses import FOLDER, KNOWN_ERRORS, answer_error, answer_problem, is_for_program

MIN_TOKEN: Final = 16
_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class ServerOptions(SettingsModel):
    """How a server answers.

    Attributes:
        host: The address it listens on.
        token: The token that a client has to give; None for no login, which only a loopback address may have.
        read_only: Whether every change is refused.
        allowed_hosts: Further names of the server that a request may ask for.

    Raises:
        ConfigurationError: The token is too short, or there is none for an address that others can reach.
    """

    host: str = "127.0.0.1"
    token: str | None = None
    read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_token(self) -> Self:
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from other machines; give a token of at least {MIN_TOKEN} "
                "characters, or a loopback address such as 127.0.0.1"
            )
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise ValueError(f"the token is too short; give at least {MIN_TOKEN} characters")
        return self

    def allows_host(self, name: str) -> bool:
        """Checks the name in a request's Host header; a foreign name is a sign of DNS rebinding."""
        is_own = name.casefold() in map(str.casefold, (*_LOOPBACK, self.host, *self.allowed_hosts))
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


MAX_BODY: Final = 256_000
"""Most bytes of a request."""
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
        request = Request(scope, receive)
        request.state.read_only = self.options.read_only
        refusal = self._find_refusal(request)
        if refusal is not None:
            response = answer_problem(request, *refusal)
            if refusal[0] == HTTPStatus.UNAUTHORIZED:
                response.headers["WWW-Authenticate"] = 'Basic realm="plan-execute-monitor", charset="UTF-8"'
            await response(scope, receive, _add_headers(send))
            return
        await self.app(scope, receive, _add_headers(send))

    def _find_refusal(self, request: Request) -> tuple[int, str] | None:
        host = split_host(request.headers.get("host", ""))
        if not self.options.allows_host(host):
            return 421, f"this server is not {host!r}; open it by the address that it was started with"
        is_change = request.method not in ("GET", "HEAD", "OPTIONS")
        if is_change and not _is_own_origin(request):
            return 403, "the request comes from the page of another site; use a page of this server"
        if is_change and not _is_small(request):
            return 413, "the request is too large, or of unknown length; give a shorter text"
        if not self._is_known(request):
            return (
                401,
                "the token is missing or wrong; give it as the password, or as 'Authorization: Bearer'",
            )
        if is_change and self.options.read_only:
            return 403, "this server is read-only; start it without --read-only to change something"
        return None

    def _is_known(self, request: Request) -> bool:
        token = self.options.token
        given = _read_token(request.headers.get("authorization", ""))
        return token is None or hmac.compare_digest(given.encode(), token.encode())


def _read_token(header: str) -> str:
    """Returns the token of a program (Bearer), or the password that a browser has asked for (Basic)."""
    scheme, _, value = header.partition(" ")
    if scheme.casefold() != "basic":
        return value
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except ValueError:
        return ""


def split_host(host: str) -> str:
    """Returns the name of a Host header, without its port; "" if it is no name with an optional port.

    "evil@127.0.0.1" and "127.0.0.1/x" are no names, although a parser of addresses finds one in them.
    """
    match = _HOST.fullmatch(host)
    return match["name"].strip("[]").casefold() if match else ""


def _is_own_origin(request: Request) -> bool:
    """Checks the origin of a change. Browsers send it with every form; a program sends none, and JSON."""
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return is_for_program(request)
    is_own = origin is None or urlsplit(origin).netloc == headers.get("host")
    return is_own and site in (None, "same-origin", "none")


def _is_small(request: Request) -> bool:
    size = request.headers.get("content-length", "0")
    # The server reads no more than this length.
    return "transfer-encoding" not in request.headers and size.isdecimal() and int(size) <= MAX_BODY


def _add_headers(send: Send) -> Send:
    async def send_secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            # A script or a style is loaded again only if it has another tag.
            headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
        await send(message)

    return send_secured


SWITCH_S: Final = 0.0001
"""How long a thread of a run computes while a page waits; Python's 5 ms add up over the reads of a page."""


def build_app(store: Store, builder: RunBuilder, options: ServerOptions | None = None) -> FastAPI:
    """Builds the application that shows the runs of a store, and executes runs.

    Args:
        store: The store, which stays open while the application serves.
        builder: Builds the orchestrators; ``OneOrchestrator`` has one for all runs.
        options: Who may reach it. Default: programs and browsers on this machine.
    """
    app = FastAPI(
        title="plan-execute-monitor",
        lifespan=_live,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = RunService(store.history, RunSessions(builder))
    for router in (routes.pages, routes.programs):
        app.include_router(router)
    styles: list[str | tuple[str, str]] = [("evaluation", "reporting/static")]  # of the reports
    app.mount("/static", StaticFiles(directory=FOLDER / "static", packages=styles))
    for error in KNOWN_ERRORS:
        app.add_exception_handler(error, answer_error)
    app.add_middleware(RequestGuard, options=options or ServerOptions())
    return app


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    service: RunService = app.state.service
    # A thread for each call: agents may block, and the end of the server does not wait for them.
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())
    service.sessions.open()
    yield
    await service.sessions.close()


class PageServer(uvicorn.Server):
    """A server that ends its streams first, because uvicorn waits for the connections."""

    def __init__(self, config: uvicorn.Config, service: RunService) -> None:
        """Takes the service of the application."""
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, and then the server."""
        self._service.closing.set()
        await super().shutdown(sockets)


def run_server(
    store: Store, builder: RunBuilder, options: ServerOptions, port: int, report: Callable[[str], None]
) -> None:
    """Serves a store until a signal ends the process.

    Args:
        store: The store.
        builder: Builds the orchestrators.
        options: Who may reach the server.
        port: The port; 0 for any free one.
        report: Gets a sentence with the address.

    Raises:
        OSError: The port is in use.
    """
    sys.setswitchinterval(SWITCH_S)
    app = build_app(store, builder, options)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.create_server((options.host, port), family=family) as listener:
        host, number = options.host, listener.getsockname()[1]
        address = f"http://{f'[{host}]' if ':' in host else host}:{number}"
        report(f"serving {store.where} on {address} until Ctrl-C")
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        PageServer(config, app.state.service).run(sockets=[listener])
