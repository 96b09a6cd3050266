"""The names under which credentials stand: of fields, variables, headers, and in sentences."""

from __future__ import annotations

from typing import Final

from evaluation.sensitive.detector import EncodedText, Pattern

LOGIN_NAMES: Final = (
    r"pass(?:word|wort|wd|phrase|code|ord)|\bpwd|_pwd|[_\-]pass\b|\x02+"
    r"|contrase(?:\xf1|ny|n|\xc3\xb1)a|mot[ _]de[ _]passe|motdepasse|\bmdp\b|\bsenha\b|_senha\b"
    r"|palavra[ _\-]passe"
    r"|wachtwoord|kennwort|salasana|adgangskode|kodeord|losenord|l(?:\xf6|\xc3\xb6)senord|kata[ _]sandi"
    r"|(?:\b|_)(?:parola|parool|heslo|haslo|geslo|lozinka|jelszo|sifre)\b|(?:\b|_)jelsz(?:\xf3|\xc3\xb3)"
)
"""Names whose value may be an ordinary word. ``\x02`` stands for a name in another script."""
_KINDS_OF_KEYS: Final = (
    "api|app|application|access|private|auth|encryption|encrypt|signing|account|master|session|service|storage"
    "|subscription|consumer|license|deploy|admin|write|ingest|function|functions|shared|hmac|aes|jwt|crypto|cipher"
    "|root|client|webhook|integration|server|deployment|recovery|bot|search|project|user|host|rest|sdk|org|sas"
)
KEY_NAMES: Final = (
    rf"secret|token|(?:{_KINDS_OF_KEYS})[_\- ]?key|credential|\bcreds\b|_creds\b|authorization|\bauth\b"
    r"|[_\-]auth\b"
    r"|\bjwt\b|_jwt\b|_pat\b|\bpsk\b|_psk\b|pre[_\-]?shared[_\-]?key|_dsn\b|webhook[_\- ]?url|\x03+"
    r"|[_\-]key\b|chave[ _](?:de[ _])?(?:api|acesso)|clave[ _](?:de[ _])?(?:api|acceso|secreta)"
    r"|cl(?:\xe9|\xc3\xa9|e)[ _]api"
    r"|(?:api|zugangs)[ _\-]?schl(?:\xfc|\xc3\xbc|ue)ssel|chiave[ _](?:api|segreta)"
)
"""Names whose value has to look generated, because "token" and "secret" stand before other things too."""
NAME_END: Final = (
    r"(?:[sS]|[_\-.]?(?:value|prod|production|dev|test|live|staging|key[_\-]base|base"
    r"|v[0-9]|[0-9]+|plain|raw|key|hash|base64|b64))?"
)
_PUBLIC_NAME: Final = Pattern(
    r"(?i)(?:(?:public|publishable|primary|foreign|partition|sort|cache|idempotency|unique|object|index|bucket|s3"
    r"|row|group|lookup|natural|sequence|dict|translation|i18n|css|hash|map|cursor|page|pagination|continuation)"
    r"[_\- ]?(?:key|token)|badge[.]svg[?]token|publickeytoken|[0-9]{12}:secret"
    r"|(?:key|token|secret)[_\-]?(?:id|name|type|count|length|size|file|path|url|uri))"
    r"[\"'\\\]`*\s]{0,8}(?:=>|:=|==?|:)?[\"'\\\s]{0,6}$"
)
_LONGEST_NAME: Final = 60
_PASSWORD_NAME: Final = Pattern(rf"(?i)(?:.*(?:{LOGIN_NAMES})|(?:.*[^a-z])?(?:pass|pin|cvv|cvc)){NAME_END}$")
_SECRET_NAME: Final = Pattern(rf"(?i).*(?:{KEY_NAMES}){NAME_END}$")


def name_kind(name: str) -> str | None:
    """Return the kind of value that a field of this name holds: ``password``, ``secret``, or None."""
    data = EncodedText(name).data
    if _PASSWORD_NAME.match_end(data, 0) >= 0:
        return "password"
    is_secret = _SECRET_NAME.match_end(data, 0) >= 0 and not is_public_name(data, len(data))
    return "secret" if is_secret else None


def is_public_name(data: bytes, start: int) -> bool:
    """Return whether the name before a value announces something that is no secret: ``cache_key: ...``."""
    return _PUBLIC_NAME.occurs_in(data[max(0, start - _LONGEST_NAME) : start])
