"""Synthetic credentials of many providers, each in several surroundings.

A form is written as a template: ``{a36}`` stands for 36 letters and digits, ``{h..}`` for hexadecimal digits,
``{u..}`` for capitals and digits, ``{l..}`` for small letters and digits, ``{s..}`` for the alphabet of URLs,
``{b..}`` for base64, ``{d..}`` for digits, ``{uuid}`` for a UUID. "~" separates a prefix, so that no file
contains a complete one; "~~" is the sign itself.
"""

import random
import re

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

PREFIXED = {
    "airtable": "pa~t{a14}.{h64}",
    "alibaba": "LT~AI{a20}",
    "anthropic": "sk-~ant-api03-{s93}AA",
    "artifactory": "AK~Cp{a69}",
    "atlassian": "ATA~TT3{s186}",
    "aws": "AK~IA{u16}",
    "aws session": "AS~IA{u16}",
    "azure client": "{a3}8Q~~{s34}",
    "bitbucket": "AT~BB{a32}",
    "cerebras": "cs~k-{l48}",
    "circleci": "CCI~PAT_{a22}_{h40}",
    "cloudflare origin": "v1~.0-{h24}-{h146}",
    "databricks": "da~pi{h32}",
    "digitalocean": "do~p_v1_{h64}",
    "discord bot": "M{a23}.{a6}.~{s38}",
    "discord webhook": "https://discord.com/~api/webhooks/{d18}/{s68}",
    "docker": "dck~r_pat_{s27}",
    "doppler": "dp~.pt.{a43}",
    "dynatrace": "dt0~c01.{u24}.{u64}",
    "facebook": "EA~AC{a120}",
    "figma": "fi~gd_{s43}",
    "fireworks": "f~w_{a24}",
    "github": "gh~p_{a36}",
    "github app": "gh~s_{a36}",
    "github fine-grained": "github~_pat_{a22}_{a59}",
    "gitlab": "gl~pat-{s20}",
    "gitlab pipeline": "gl~ptt-{h40}",
    "google": "AI~za{s35}",
    "google new": "A~Q.Ab8{s47}",
    "google oauth": "GOC~SPX-{s28}",
    "google access": "ya~29.{s80}",
    "grafana": "gl~sa_{a32}_{h8}",
    "grafana cloud": "gl~c_{a60}",
    "groq": "gs~k_{a52}",
    "hubspot": "pa~t-na1-{uuid}",
    "huggingface": "h~f_{a34}",
    "langfuse": "sk~-lf-{uuid}",
    "langsmith": "ls~v2_pt_{h32}_{h10}",
    "linear": "lin~_api_{a40}",
    "mailchimp": "{h32}~-us12",
    "mailgun": "ke~y-{h32}",
    "new relic": "NR~AK-{u27}",
    "notion": "nt~n_{d11}{a35}",
    "npm": "np~m_{a36}",
    "nvidia": "nva~pi-{s64}",
    "openai": "sk~-proj-{s74}T3BlbkFJ{s74}",
    "openai old": "sk~-{a20}T3BlbkFJ{a20}",
    "openrouter": "sk~-or-v1-{h64}",
    "perplexity": "pp~lx-{a48}",
    "pinecone": "pc~sk_{a5}_{a63}",
    "planetscale": "psc~ale_tkn_{s43}",
    "postman": "PM~AK-{h24}-{h34}",
    "pypi": "py~pi-AgEIcHlwaS5vcmc{s70}",
    "replicate": "r~8_{a37}",
    "resend": "r~e_{a8}_{a24}",
    "rubygems": "ruby~gems_{h48}",
    "sendgrid": "S~G.{s22}.{s43}",
    "sentry": "sntr~yu_{h64}",
    "shopify": "sh~pat_{h32}",
    "slack bot": "xo~xb-{d12}-{d13}-{a24}",
    "slack app": "xa~pp-1-A0{u9}-{d12}-{h64}",
    "slack webhook": "https://hooks.sl~ack.com/services/T{u8}/B{u10}/{a24}",
    "sonar": "sq~u_{h40}",
    "square": "sq0~atp-{s22}",
    "stripe": "sk~_live_{a24}",
    "stripe restricted": "rk~_live_{a24}",
    "stripe webhook": "wh~sec_{a32}",
    "supabase": "sb~p_{h40}",
    "supabase secret": "sb_~secret_{s31}",
    "tavily": "tv~ly-{a32}",
    "tavily dev": "tv~ly-dev-{a32}",
    "telegram": "{d10}:A~A{s33}",
    "terraform": "{a14}.atl~asv1.{s64}",
    "together": "tg~p_v1_{s43}",
    "twilio": "S~K{h32}",
    "vault": "hv~s.{s95}",
    "vercel": "vc~p_{a56}",
    "voyage": "p~a-{s43}",
    "weights": "wandb~_v1_{a80}",
    "xai": "x~ai-{a80}",
    "jwt": "ey~JhbGciOiJIUzI1NiJ9.ey~JzdWIiOiI{a28}.{s43}",
}  # fmt: skip
"""Kinds that are known by their form."""
NAMED = {
    "AWS_SECRET_ACCESS_KEY": "{b40}",
    "AZURE_STORAGE_KEY": "{b86}==",
    "AZURE_OPENAI_API_KEY": "{h32}",
    "Ocp-Apim-Subscription-Key": "{h32}",
    "DD_API_KEY": "{h32}",
    "DD_APP_KEY": "{h40}",
    "SECRET_KEY_BASE": "{h128}",
    "APP_KEY": "base64:{b43}=",
    "DJANGO_SECRET_KEY": "{b50}",
    "ALGOLIA_ADMIN_KEY": "{h32}",
    "CLOUDFLARE_API_TOKEN": "{s40}",
    "COHERE_API_KEY": "{a40}",
    "MISTRAL_API_KEY": "{a32}",
    "DEEPGRAM_API_KEY": "{h40}",
    "ASSEMBLYAI_API_KEY": "{h32}",
    "SERPAPI_API_KEY": "{h64}",
    "EXA_API_KEY": "{uuid}",
    "WEAVIATE_API_KEY": "{a36}",
    "ZILLIZ_TOKEN": "{h72}",
    "WANDB_API_KEY": "{h40}",
    "HEROKU_API_KEY": "{uuid}",
    "SNYK_TOKEN": "{uuid}",
    "CODECOV_TOKEN": "{uuid}",
    "TRAVIS_TOKEN": "{a22}",
    "TWITCH_CLIENT_SECRET": "{l30}",
    "SPOTIFY_CLIENT_SECRET": "{h32}",
    "OKTA_API_TOKEN": "00{s40}",
    "FASTLY_API_KEY": "{s32}",
    "FINNHUB_API_KEY": "{l20}",
    "PAGERDUTY_TOKEN": "{s20}",
    "TWILIO_AUTH_TOKEN": "{h32}",
    "MAILJET_SECRET": "{h32}",
    "RAILS_MASTER_KEY": "{h32}",
    "ENCRYPTION_KEY": "{b43}=",
    "JWT_SECRET": "{a48}",
    "SESSION_SECRET": "{h64}",
    "X-Api-Key": "{a40}",
    "X-Auth-Token": "{h32}",
    "PRIVATE-TOKEN": "{s26}",
    "LICENSE_KEY": "{u8}-{u8}-{u8}",
    "client_secret": "{a40}",
    "accessKeySecret": "{a30}",
    "signing_key": "{h64}",
    "webhook_secret": "{h40}",
    "refresh_token": "{a64}",
    "oauth_token_secret": "{a45}",
    "consumer_secret": "{a50}",
    "sharedAccessKey": "{b43}=",
    "instrumentation_key_secret": "{uuid}",
    "CI_DEPLOY_TOKEN": "{a24}",
    "密钥": "{a32}",
    "токен": "{a32}",
}
"""Kinds that are known by the name before them, with the form of their value."""
PASSWORD_NAMES = [
    *("password", "passwd", "DB_PASSWORD", "PGPASSWORD", "pwd", "passphrase", "Passwort", "Kennwort"),
    *("mot de passe", "contraseña", "senha", "wachtwoord", "пароль", "密码", "パスワード", "비밀번호"),
    *("hasło", "heslo", "şifre", "lösenord", "parola", "salasana", "adgangskode", "passord", "jelszó"),
    *("كلمة المرور", "סיסמה", "mật khẩu", "κωδικός"),
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
    """Draw the parts of a template; the same for the same seed."""
    draw = random.Random(f"{template}{seed}")
    template = template.replace("~~", "\0").replace("~", "").replace("\0", "~")

    def part(match: re.Match[str]) -> str:
        form = match[1]
        if form == "uuid":
            return "-".join("".join(draw.choices(HEX, k=size)) for size in (8, 4, 4, 4, 12))
        return "".join(draw.choices(_ALPHABETS[form[0]], k=int(form[1:])))

    return _PART.sub(part, template)


def build_samples(per_kind: int = 3, seed: object = 1) -> list[Sample]:
    """Put each kind of credential in several surroundings."""
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
