"""Strings without credentials that look like some: identifiers, hashes, placeholders, and source code."""

import random
from collections.abc import Callable

from tests.evaluation.sensitive.labelled.sample import ALNUM, BASE64, HEX

CODE = [
    "self.password = config['password']",
    "password = getpass()",
    "passwd = fallback_getpass(prompt, stream)",
    "def unix_getpass(prompt='Password: ', stream=None):",
    "token: str",
    "token: str | None = None,",
    "def login(user: str, password: str = '') -> Token:",
    "private_key: Ed25519PrivateKey | Ed448PrivateKey",
    "private_key: CertificateIssuerPrivateKeyTypes,",
    "api_key=os.environ['API_KEY'],",
    "api_key = settings.api_key",
    "self.user, self.password = user, password",
    "self.passwd = passwd",
    "userid = passwd = acct = ''",
    "passwd = passwd or ''",
    "self.authkey = process.AuthenticationString(authkey)",
    "authorization = authorization.split(':')",
    "password = auth[2]",
    "user_pass = '%s:%s' % (unquote(user), unquote(password))",
    "raise TypeError('pwd: expected bytes, got %s' % type(pwd))",
    "password=None, token=None)",
    "f'{user}:{password}@{host}'",
    "url = f'postgresql://{user}:{password}@{host}/{name}'",
    "LOG_AUTH      = 4       #  security/authorization messages",
    "handler_order = 490  # before Basic auth",
    "const token = await getToken(user);",
    "let api_key = std::env::var(\"API_KEY\")?;",
    "password := os.Getenv(\"DB_PASSWORD\")",
    "String password = request.getParameter(\"password\");",
    "$password = $_POST['password'];",
    "if (password !== confirmPassword) {",
    "private String secretKey;",
    "apiKey: process.env.API_KEY,",
    "CHALLENGE_PASSWORD: 'challengePassword',",
    "SK_START = b'-----BEGIN OPENSSH PRIVATE KEY-----'; SK_END = b'-----END OPENSSH PRIVATE KEY-----'",
]  # fmt: skip
_FIXED = [
    "api_key: YOUR_API_KEY",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "export TOKEN=<token>",
    "token: ${GITHUB_TOKEN}",
    "password: changeme_please_now",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "password: {{ .Values.password }}",
    "PWD=/home/anna",
    "SECRET_KEY=$(openssl rand -hex 32)",
    "-H 'Authorization: Bearer $TOKEN'",
    "Authorization: Bearer <access_token>",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "secretName: my-app-tls",
    "imagePullSecrets: regcred",
    "postgres://postgres:postgres@localhost:5432/postgres",
    "https://user:pass@example.com",
    "Enter your password: ",
    "token_endpoint: https://login.example.com/oauth2/token",
    '<input type="password" name="password">',
    "the token bucket algorithm limits 2000 requests",
    "Das Passwort muss 12 Zeichen lang sein.",
    "El token ha caducado: inicie sesión de nuevo.",
    "Пароль неверный, попробуйте ещё раз",
    "密码错误，请重试",
    "密码: 必填",
    "パスワードを忘れた場合",
    "La contraseña es incorrecta",
    "Mot de passe oublié ?",
    "пароль: обязательно",
    "tokens: 12345, cost: 0.0023",
    "SK-II essence and AC adapter 12V",
    "author_token_count = 12",
    "'Set-Cookie: fig=newton\\r\\nSet-Cookie: sugar=wafer'",
    '"api_key": "secret_key_123"',
    # A page shows its origin trials to every visitor; what follows the signature is the origin.
    *(
        form.format(
            "A4K3Du5/GlA5vvB+wjR/Bm7Qj13HUSRH40BDAAJrblRVlKBlaF1kxJgLuNRUSochqZoBrSGetZz2oV728VodgwsA"
            "AABNeyJvcmlnaW4iOiJodHRwczovL3Nob3AuZXhhbXBsZTo0NDMiLCJmZWF0dXJlIjoiTmF2VHlwZSIsImV4cGlyeSI6MTczOTcyNDMxMX0="
        )
        for form in (
            '"SystemEntropyOriginTrialToken": "{}"',
            "origin_trial_token={}",
            "Origin-Trial token: {}",
        )
    ),
]


def _forms(text: Callable[[str, int], str]) -> list[str]:
    uuid = "-".join(text(HEX, size) for size in (8, 4, 4, 4, 12))
    return [
        f"id: {uuid}",
        f"run-{uuid}",
        f"idempotency_key={uuid}",
        f"s3_key: uploads/2024/05/{uuid}.pdf",
        f"commit {text(HEX, 40)}",
        f"sha256:{text(HEX, 64)}",
        f"md5 {text(HEX, 32)}  file.tar.gz",
        f'"integrity": "sha512-{text(BASE64, 86)}=="',
        f"    --hash=sha256:{text(HEX, 64)} \\",
        f"data:image/png;base64,{text(BASE64, 400)}",
        f'ETag: "{text(HEX, 32)}"',
        f"cache_key: {text(HEX, 32)}",
        f'"cache_key": "{text(ALNUM, 24)}"',
        f'"cursor": "{text(ALNUM, 32)}"',
        f"call_{text(ALNUM, 24)}",
        f'"next_page_token": "{text(ALNUM, 24)}"',
        f"chatcmpl-{text(ALNUM, 29)}",
        f"toolu_{text(ALNUM, 24)}",
        f"primary_key={text(ALNUM, 8)}",
        f"partition_key: user_{text(HEX, 6)}",
        f"public_key: {text(BASE64, 43)}=",
        f"ssh-rsa {text(BASE64, 200)} user@host",
        f"kid: {text(ALNUM, 20)}",
        f"trace_id={text(HEX, 32)}",
        f"traceparent: 00-{text(HEX, 32)}-{text(HEX, 16)}-01",
        f"https://www.youtube.com/watch?v={text(ALNUM, 11)}",
        f"https://docs.google.com/document/d/{text(ALNUM, 44)}/edit",
        f"https://x.example/p?hash={text(HEX, 32)}",
        f"https://cdn.example/app.js?v={text(HEX, 20)}",
        f"image@sha256:{text(HEX, 64)}",
        f"tx 0x{text(HEX, 64)}",
        f"https://example.com/graph/badge.svg?token={text(ALNUM, 10).upper()}",
        f"nonce: {text(ALNUM, 16)}",
        f"arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-{text(ALNUM, 6)}",
    ]


def build_harmless(turns: int = 30) -> list[str]:
    """Draw many strings of each form, besides the fixed ones and the code."""
    draw = random.Random(11)
    drawn = [
        one for _ in range(turns) for one in _forms(lambda marks, size: "".join(draw.choices(marks, k=size)))
    ]
    return [*drawn, *_FIXED, *CODE]
