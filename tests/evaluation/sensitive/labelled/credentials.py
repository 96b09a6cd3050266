"""Credentials in the forms that agents record: prose, JSON, logs, shell, code, configuration."""

import base64
import json

from tests.evaluation.sensitive.labelled.kinds import PREFIXED, fill
from tests.evaluation.sensitive.labelled.sample import ALNUM, BASE64, HEX, Sample, body

_FRAMES = (
    "Use {} for the upload.",
    '{{"value": "{}", "n": 1}}',
    "2024-05-15T10:30:00Z INFO client started with {}",
    "I found this in the logs:\n{}\nplease rotate it",
    "({})",
    "tool_result={}",
    "Token={};retry=3",
    "see `{}` above",
)

TOKENS = [
    Sample(_FRAMES[place % len(_FRAMES)].format(token), (token,), kind=kind)
    for place, (kind, template) in enumerate([*PREFIXED.items()][::2])
    if kind != "wi-fi"  # its secret is a part
    for token in [fill(template, "token")]
]

_PEM = "\n".join(
    [
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        *(body(64, BASE64, line) for line in range(6)),
        "-----END " + "RSA PRIVATE KEY-----",
    ]
)
_EC = "\n".join(["-----BEGIN " + "EC PRIVATE KEY-----", body(64, BASE64, 11), body(44, BASE64, 12)])
KEYS = [
    Sample(f"here is the key\n{_PEM}\nthanks", (_PEM,), kind="private_key"),
    Sample(json.dumps({"key": _PEM}), (json.dumps(_PEM)[1:-1],), kind="private_key"),
    Sample(f"it was cut off: {_EC}", (_EC,), kind="private_key"),
]

_WORDS = [
    "hunter2",
    "Tr0ub4dor&3",
    "correct-horse-42",
    "S3cr3t!pw",
    "Winter2024!",
    "p@ssw0rd",
    "letmein99",
    "qwertz!23",
]
_LONG = [body(32, ALNUM, seed) for seed in range(20, 34)]
_HEXES = [body(40, HEX, seed) for seed in range(40, 46)]


def _password(text: str, word: str) -> Sample:
    return Sample(text.replace("{}", word), (word,), kind="password")


def _secret(text: str, word: str) -> Sample:
    return Sample(text.replace("{}", word), (word,), kind="secret")


PASSWORDS = [
    _password("password={}", _WORDS[0]),
    _password("DB_PASSWORD={}\nDB_HOST=db.internal", _WORDS[1]),
    _password('{"user": "anna", "password": "{}"}', _WORDS[2]),
    _password('{\\"login\\": \\"anna\\", \\"passwd\\": \\"{}\\"}', _WORDS[3]),
    _password("password: {}\nhost: example", _WORDS[4]),
    _password("The password is {}.", _WORDS[5]),
    _password("my password for the portal is {}, do not share it", _WORDS[6]),
    _password("Das Passwort lautet {}", _WORDS[7]),
    _password("mot de passe : {}", _WORDS[0]),
    _password("contraseña: {}", _WORDS[1]),
    _password("wachtwoord = {}", _WORDS[2]),
    _password("senha: {}", _WORDS[3]),
    _password("mysql --user=root --password={} shop", _WORDS[4]),
    _password("curl -u anna:{} https://api.example.com/v1", _WORDS[5]),
    _password("curl --user 'anna:{}' https://api.example.com/v1", _WORDS[6]),
    _password("machine ftp.example.com login anna password {}", _WORDS[7]),
    _password("CREATE USER 'anna' IDENTIFIED BY '{}';", _WORDS[0]),
    _password("ALTER ROLE anna WITH PASSWORD '{}'", _WORDS[1]),
    _password("Server=db;Database=shop;User Id=sa;Password={};Encrypt=true", _WORDS[2]),
    _password("jdbc:postgresql://db/shop?user=anna&password={}&ssl=true", _WORDS[3].replace("!", "x")),
    _password("<password>{}</password>", _WORDS[4]),
    _password("PGPASSWORD={} psql -h db", _WORDS[5]),
    _password("login with pwd: '{}'", _WORDS[6]),
    _password("passphrase => {}", "open-sesame-9"),
    _password("smtp_pass: {}", "mailme#1"),
    _password("db.password = `{}`", "back2tick"),
    _password('{"new_password": "{}", "old": null}', "N3w&Shiny"),
    _password("password = \"two words 2\"", "two words 2"),
    _password("Passcode: {}", "884422"),
    _password("root_password='{}'", "toor-toor"),
    _password("login: bob / password: {}", "sunshine"),
    _password("os.environ['X'] = 1; password = '{}'", "in-code-1"),
]  # fmt: skip
URLS = [
    Sample(f"postgres://app:{_WORDS[0]}@db.internal:5432/shop", (_WORDS[0],), kind="url_password"),
    Sample("https://anna:{}@git.example.com/x.git".format("pa55word"), ("pa55word",), kind="url_password"),
    Sample("redis://:{}@cache:6379/0".format("r3dis-only"), ("r3dis-only",), kind="url_password"),
    Sample(f"mongodb+srv://u:{_LONG[0]}@cluster0.ab1cd.mongodb.net/test", (_LONG[0],), kind="url_password"),
    Sample("amqp://guest:{}@mq//".format("gu3st!"), ("gu3st!",), kind="url_password"),
    Sample(
        f"git clone https://oauth2:{_LONG[1]}@gitlab.example.com/a/b.git", (_LONG[1],), kind="url_password"
    ),
]
_BASIC = base64.b64encode(b"anna:" + _WORDS[0].encode()).decode()
SECRETS = [
    _secret('{"api_key": "{}"}', _LONG[2]),
    _secret("API_KEY={}", _LONG[3]),
    _secret("export OPENWEATHER_API_KEY='{}'", _HEXES[0][:32]),
    _secret("aws_secret_access_key = {}", body(40, BASE64, 50)),
    _secret("client_secret: {}", _LONG[4]),
    _secret('"accessToken": "{}"', _LONG[5]),
    _secret("refresh_token={}&grant_type=refresh_token", _LONG[6]),
    _secret("https://api.example.com/v1/geo?q=Berlin&apikey={}", _HEXES[1]),
    _secret("X-Api-Key: {}", _LONG[7]),
    _secret("Authorization: Bearer {}", _LONG[8]),
    _secret("authorization: Token {}", _HEXES[2]),
    _secret('headers = {"Authorization": "Bearer {}"}', _LONG[9]),
    _secret("curl -H 'Authorization: Bearer {}' https://x.example", _LONG[10]),
    _secret("sent with bearer {} in the header", _LONG[11]),
    _secret("Authorization: Basic {}", _BASIC),
    _secret("Protocol=https;AccountName=a;AccountKey={};End=core", body(86, BASE64, 51) + "=="),
    _secret("Endpoint=sb://x.example/;SharedAccessKeyName=R;SharedAccessKey={}", body(43, BASE64, 52) + "="),
    _secret("Cookie: theme=dark; sessionid={}", _LONG[12]),
    _secret("Set-Cookie: session={}; Path=/; HttpOnly", _LONG[13]),
    _secret("JSESSIONID={}", _HEXES[3].upper()[:32]),
    _secret("my api key is {}", _HEXES[4]),
    _secret("app --api-token {} --verbose", _LONG[2][:24]),
    _secret("secret_key: \"{}\"", body(50, BASE64, 53)),
    _secret("signing-key={}", _HEXES[5]),
    _secret("<api_key>{}</api_key>", _LONG[3]),
    _secret("encryption_key = '{}'", body(44, BASE64, 54)),
    _secret('{\\"token\\": \\"{}\\"}', _LONG[4]),
    _secret("TOKEN={}", "550e8400-e29b-41d4-a716-446655440001"),
    _secret("auth_token: {}", "a1b2c3d4e5"),
    _secret('{"api_key": "{}"}', "hJkLm" + "NpQrStVwXyZabCdEf"),
    _secret("private_key_id: abc, private_key={}", _LONG[5]),
    _secret("https://blob.example.net/c/f.pdf?sv=2022&sig={}", body(43, ALNUM, 55) + "%3D"),
]  # fmt: skip
CREDENTIALS = [*TOKENS, *KEYS, *PASSWORDS, *URLS, *SECRETS]
