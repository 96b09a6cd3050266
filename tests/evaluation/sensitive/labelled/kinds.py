"""Synthetic credentials of many providers, each in several surroundings.

A form is written as a template: ``{a36}`` stands for 36 letters and digits, ``{h..}`` for hexadecimal digits,
``{u..}`` for capitals and digits, ``{l..}`` for small letters and digits, ``{s..}`` for the alphabet of URLs,
``{b..}`` for base64, ``{d..}`` for digits, ``{uuid}`` for a UUID. "~" separates a prefix, so that no file
contains a complete one; "~~" is the sign itself.
"""

import json
import random
import re
from pathlib import Path

from tests.evaluation.sensitive.labelled.sample import ALNUM, BASE64, HEX, UPPER, URLSAFE, Sample

_ALPHABETS = {
    "a": ALNUM,
    "h": HEX,
    "u": UPPER,
    "l": "abcdefghijklmnopqrstuvwxyz0123456789",
    "s": URLSAFE,
    "b": BASE64,
    "d": "0123456789",
}
_PART = re.compile(r"\{(uuid|[ahulsbdq]\d+)\}")

_TABLE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PREFIXED: dict[str, str] = _TABLE["prefixed"]
"""Kinds that are known by their form."""
NAMED: dict[str, str] = _TABLE["named"]
"""Kinds that are known by the name before them, with the form of their value."""
PASSWORD_NAMES = [
    *("password", "passwd", "DB_PASSWORD", "PGPASSWORD", "pwd", "passphrase", "Passwort", "Kennwort"),
    *("mot de passe", "contraseña", "senha", "wachtwoord"),
    *("hasło", "heslo", "şifre", "lösenord", "parola", "salasana", "adgangskode", "passord", "jelszó"),
]  # fmt: skip
_ANYWHERE = (
    "Use {} for the upload.",
    'the log shows "{}" twice',
    "please rotate `{}` today",
    "2024-05-15T10:30:00Z INFO started with {}",
    '{"result": "{}", "count": 3}',
    "client = Client('{}')",
    "https://api.example.com/v1/items?q=1&ref={}",
)
_ASSIGNED = (
    "{name}={}",
    'export {name}="{}"',
    '{"{name}": "{}"}',
    "{name}: {}\nregion: eu",
    "{name} = '{}'",
    "curl -H '{name}: {}' https://api.example.com",
    "The {name} is {}",
)
_LOGINS = (
    "{name}={}",
    '{"user": "anna", "{name}": "{}"}',
    "{name}: {}\nhost: db",
    "{name} = '{}'",
    "{name} : {}",
)
_WORDS = ("hunter2real", "Tr0ub4dor&3", "Winter2024!", "p@ssw0rd99", "S3cr3t!pw", "qwertz!23")


def fill(template: str, seed: object) -> str:
    draw = random.Random(f"{template}{seed}")
    template = template.replace("~~", "\0").replace("~", "").replace("\0", "~")

    def part(match: re.Match[str]) -> str:
        form = match[1]
        if form == "uuid":
            return "-".join("".join(draw.choices(HEX, k=size)) for size in (8, 4, 4, 4, 12))
        return "".join(draw.choices(_ALPHABETS[form[0]], k=int(form[1:])))

    return _PART.sub(part, template)


def build_samples(per_kind: int = 3, seed: object = 1) -> list[Sample]:
    samples: list[Sample] = []
    draw = random.Random(f"samples{seed}")
    for kind, template in PREFIXED.items():
        frames = [*draw.sample(_ANYWHERE, per_kind - 1), draw.choice(_ASSIGNED[:5])]
        samples += _samples(kind, "SERVICE_KEY", template, frames, seed)
    for name, template in NAMED.items():
        samples += _samples(name, name, template, draw.sample(_ASSIGNED, per_kind), seed)
    for name in PASSWORD_NAMES:
        samples += _samples(f"login {name}", name, draw.choice(_WORDS), draw.sample(_LOGINS, per_kind), seed)
    return samples


def _samples(kind: str, name: str, template: str, frames: list[str], seed: object) -> list[Sample]:
    return [_sample(kind, name, fill(template, f"{seed}{turn}"), frame) for turn, frame in enumerate(frames)]


def _sample(kind: str, name: str, value: str, frame: str) -> Sample:
    return Sample(frame.replace("{name}", name).replace("{}", value), (value,), kind=kind)


KINDS = [*PREFIXED, *NAMED, *(f"login {name}" for name in PASSWORD_NAMES)]
