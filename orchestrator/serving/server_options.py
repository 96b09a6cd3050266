"""The options of a server: who may reach it, what it may change, and where evaluations are."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MIN_TOKEN: Final = 16
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class ServerOptions(BaseModel):
    """How a server answers.

    Attributes:
        host: The address it listens on.
        token: The token that a client has to give; None for no login, which only a loopback address may have.
        read_only: Whether every change is refused.
        allowed_hosts: Further names of the server that a request may ask for.
        evaluations: The folder whose stored evaluations can be compared; None for none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    token: Annotated[str | None, Field(min_length=MIN_TOKEN)] = None
    read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()
    evaluations: Path | None = None

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
