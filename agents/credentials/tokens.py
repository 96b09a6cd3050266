"""Finds keys and tokens by their form: a known prefix, a signed token, a private key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agents.credentials.detector import Detector, Pattern, Rule, Span, detect

_UUID: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

_FORMS: Final[tuple[tuple[str, str, str], ...]] = (
    # Services of language models, of search and of vectors.
    ("anthropic_key", "sk-ant-", r"[\w\-]{20,}"),
    ("langfuse_key", "sk-lf-|pk-lf-", _UUID),
    ("openai_key", "sk-", r"[\w\-]{20,}"),
    ("google_api_key", "AIza", r"[\w\-]{35}"),
    ("google_api_key", "AQ.", r"[\w\-]{30,}"),
    ("huggingface_token", "hf_|api_org_", "[A-Za-z0-9]{30,}"),
    ("groq_key", "gsk_", "[A-Za-z0-9]{20,}"),
    ("replicate_token", "r8_", "[A-Za-z0-9]{37}"),
    ("perplexity_key", "pplx-", "[A-Za-z0-9]{40,}"),
    ("xai_key", "xai-", "[A-Za-z0-9]{60,}"),
    ("langsmith_key", "lsv2_pt_|lsv2_sk_", "[0-9a-f]{32}_[0-9a-f]{10}"),
    ("nvidia_key", "nvapi-", r"[\w\-]{40,}"),
    ("tavily_key", "tvly-", r"[\w\-]{24,}"),
    ("pinecone_key", "pcsk_", r"[A-Za-z0-9_]{40,}"),
    ("cerebras_key", "csk-", "[A-Za-z0-9]{30,}"),
    ("fireworks_key", "fw_", "[A-Za-z0-9]{20,}"),
    ("voyage_key", "pa-|al-", r"[\w\-]{40,}"),
    ("together_key", "tgp_v1_", r"[\w\-]{30,}"),
    ("wandb_key", "wandb_v1_", r"[\w\-]{40,}"),
    # Clouds, hosting, databases and secret stores.
    ("aws_access_key", "AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|ANPA|AROA", "[A-Z0-9]{16}"),
    ("google_oauth", "GOCSPX-", r"[\w\-]{20,}"),
    ("google_oauth", "ya29.|1//0", r"[\w\-]{20,}"),
    ("digitalocean_token", "dop_v1_|doo_v1_|dor_v1_", "[0-9a-f]{64}"),
    ("databricks_token", "dapi|dkea|dose|dosed", "[0-9a-f]{32}(?:-[0-9])?"),
    ("alibaba_key", "LTAI", "[A-Za-z0-9]{16,24}"),
    ("cloudflare_key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("cloudflare_token", "cfut_|cfat_|cfk_", r"[\w\-]{40,}"),
    ("supabase_token", "sbp_|sbp_v0_|sbp_oauth_", "[0-9a-f]{40}"),
    ("supabase_key", "sb_secret_|sb_publishable_", r"[\w\-]{20,}"),
    ("planetscale_token", "pscale_tkn_|pscale_pw_|pscale_oauth_", r"[\w.\-]{32,}"),
    ("vercel_token", "vcp_|vck_|vci_|vca_|vcr_", "[A-Za-z0-9]{24,}"),
    ("vault_token", "hvs.|hvb.|hvr.", r"[\w\-]{24,}"),
    ("doppler_token", "dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", r"[\w.\-]{40,}"),
    # Code hosting, packages, continuous integration and monitoring.
    ("github_token", "ghp_|gho_|ghu_|ghs_|ghr_", "[A-Za-z0-9]{30,}"),
    ("github_token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    ("gitlab_token", "glpat-|gldt-|glrt-|glsoat-|glptt-|glcbt-", r"[\w.\-]{20,}"),
    ("bitbucket_token", "ATBB", r"[\w=\-]{28,}"),
    ("atlassian_token", "ATATT3|ATCTT3|ATSTT3", r"[\w=\-]{60,}"),
    ("npm_token", "npm_", "[A-Za-z0-9]{36}"),
    ("pypi_token", "pypi-", r"[\w\-]{50,}"),
    ("rubygems_key", "rubygems_", "[0-9a-f]{48}"),
    ("docker_token", "dckr_pat_|dckr_oat_", r"[\w\-]{20,}"),
    ("artifactory_key", "AKCp", "[A-Za-z0-9]{69,}"),
    ("circleci_token", "CCIPAT_|CCIPRJ_", "[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    ("sonar_token", "squ_|sqp_|sqa_", "[0-9a-f]{40}"),
    ("postman_key", "PMAK-|PMAT-", r"[0-9A-Za-z\-]{26,}"),
    ("grafana_token", "glsa_|glc_", r"[\w+/=]{30,}"),
    ("sentry_token", "sntrys_|sntryu_|sntryi_", r"[\w+/=\-]{40,}"),
    ("newrelic_key", "NRAK-|NRII-|NRJS-|NRRA-|NRIQ-|NRAA-", r"[A-Za-z0-9\-]{18,}"),
    ("dynatrace_token", "dt0c01.|dt0s01.|dt0s16.", "[A-Za-z0-9]{8,24}[.][A-Z0-9a-z]{64}"),
    # Payment, messages, collaboration and other services; and hashes of passwords.
    ("slack_token", "xoxa-|xoxb-|xoxc-|xoxd-|xoxe-|xoxe.xox|xoxp-|xoxr-|xoxs-|xapp-", r"[\w%\-]{10,}"),
    ("stripe_key", "sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_|whsec_", "[A-Za-z0-9+/=]{10,}"),
    ("square_token", "sq0atp-|sq0csp-|EAAA", r"[\w\-]{22,}"),
    ("facebook_token", "EAA", "[A-Za-z0-9]{60,}"),
    ("shopify_token", "shpat_|shpca_|shppa_|shpss_|shptka_|shpua_", "[0-9a-fA-F]{32}"),
    ("sendgrid_key", "SG.", r"[\w\-]{16,}[.][\w\-]{16,}"),
    ("mailgun_key", "key-|pubkey-", "[0-9a-f]{32}"),
    ("resend_key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("twilio_key", "SK|AC", "[0-9a-f]{32}"),
    ("hubspot_token", "pat-na1-|pat-na2-|pat-na3-|pat-eu1-|pat-ap1-", _UUID),
    ("linear_key", "lin_api_|lin_oauth_", "[A-Za-z0-9]{32,}"),
    ("notion_token", "ntn_|secret_", "[A-Za-z0-9]{40,}"),
    ("figma_token", "figd_|figdr_|figo_|figu_|figur_", r"[\w\-]{40,}"),
    ("dropbox_token", "sl.", r"[\w\-]{100,}"),
    ("password_hash", "$2a$|$2b$|$2y$", "[0-9]{2}[$][./A-Za-z0-9]{53}"),
    ("password_hash", "$argon2id$|$argon2i$|$6$|$5$|$y$|$scrypt$|pbkdf2_sha256$", "[./A-Za-z0-9$=,+]{30,}"),
)
"""The forms of keys and tokens that begin with a known prefix: a table to extend.

The issuers publish these forms for secret scanning. A row holds the kind, the prefixes (separated by "|"),
and what follows them as a regular expression (RE2) without groups. The first row that matches wins.
"""


_SEGMENT: Final = r"[\w\-]"
_BOUNDARY: Final = r"(?:^|[^A-Za-z0-9]|\\[bfnrt])"
_LONGEST: Final = 4096
"""Bytes of a token that are read. All that continues a longer one is taken to belong to it."""
_SHORT: Final = 3


def _any_of(prefixes: list[str]) -> str:
    return "|".join(re.sub(r"([.$])", r"[\1]", prefix) for prefix in dict.fromkeys(prefixes))


_PREFIXES: Final = [prefix for _, prefixes, _ in _FORMS for prefix in prefixes.split("|")]
_LONG_PREFIXES: Final = _any_of([prefix for prefix in _PREFIXES if len(prefix) > _SHORT])
_SHORT_PREFIXES: Final = _any_of([prefix for prefix in _PREFIXES if len(prefix) <= _SHORT])
_CANDIDATES: Final = Pattern(rf"{_BOUNDARY}((?:{_any_of(_PREFIXES)})[A-Za-z0-9_.\-+/=%$,:~|]{{8,}})")
_PATTERNS: Final = [
    (tuple(map(str.encode, prefixes.split("|"))), kind, Pattern(f"(?:{_any_of(prefixes.split('|'))}){rest}"))
    for kind, prefixes, rest in _FORMS
]
_KEY_LINE: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_RUN: Final = re.compile(rb"[A-Za-z0-9]{6,}")
_DIGIT_OR_CAPITAL: Final = re.compile(rb"^[0-9]|.[0-9A-Z]")


def _find_prefixed(data: bytes) -> Iterator[Span]:
    for start, end in _CANDIDATES.find_spans(data):
        token = data[start : min(end, start + _LONGEST)]
        kind, length = _identify_token(token)
        if length:
            yield Span(start, end if length == _LONGEST else start + length, kind, "credential")


def _identify_token(token: bytes) -> tuple[str, int]:
    """Return the kind and the length of the token at the start, or a length of 0."""
    # The first form wins, so "sk-ant-" has to stand before "sk-" in the table.
    for prefixes, kind, pattern in _PATTERNS:
        length = pattern.match_end(token, 0) if token.startswith(prefixes) else 0
        if length > 0 and not token[length : length + 1].isalnum() and _looks_generated(token[:length]):
            return kind, length
    return "", 0


def _looks_generated(token: bytes) -> bool:
    """Return whether a token is not a name in words such as ``sk-learn-pipeline-with-many-steps``."""
    return any(map(_DIGIT_OR_CAPITAL.search, _RUN.findall(token[2:])))


_TOKENS: Final = (
    ("jwt", Pattern(rf"{_BOUNDARY}(eyJ{_SEGMENT}{{8,}}(?:\.{_SEGMENT}{{6,}}){{1,3}}\.?{_SEGMENT}*)")),
    ("telegram_token", Pattern(rf"(?:^|[^0-9])([0-9]{{8,10}}:AA{_SEGMENT}{{32,33}})")),
    (
        "discord_token",
        Pattern(rf"{_BOUNDARY}([MNO]{_SEGMENT}{{23,25}}\.{_SEGMENT}{{6}}\.{_SEGMENT}{{27,38}})"),
    ),
    ("azure_secret", Pattern(r"(?:^|[^\w.~\-])([\w.~\-]{3}[78]Q~[\w.~\-]{31,34})")),
    ("mailchimp_key", Pattern(rf"{_BOUNDARY}([0-9a-f]{{32}}-us[0-9]{{1,2}})")),
    ("airtable_token", Pattern(rf"{_BOUNDARY}(pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}})")),
    ("terraform_token", Pattern(rf"{_BOUNDARY}([A-Za-z0-9]{{14}}\.atlasv1\.{_SEGMENT}{{60,}})")),
    ("slack_webhook", Pattern(r"(hooks[.]slack[.]com/(?:services|workflows|triggers)/[\w/]{20,})")),
    ("discord_webhook", Pattern(r"(discord(?:app)?[.]com/api/webhooks/[0-9]+/[\w\-]{20,})")),
    ("azure_sas", Pattern(r"[?&;]sig=([A-Za-z0-9%+/]{40,}=*)")),
)
_SAMPLE_PAYLOAD: Final = b"eyJzb21lIjoicGF5bG9hZCJ9"
"""``{"some":"payload"}``: the signed token that the manual of PyJWT prints."""
# A key that was cut off has no END line, but it is still secret.
_KEY_BLOCK: Final = Pattern(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^\-\x00]|-[^\-\x00])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)"
)


def _is_no_sample(data: bytes, start: int, end: int) -> bool:
    return _SAMPLE_PAYLOAD not in data[start:end]


def _is_key_block(data: bytes, start: int, end: int) -> bool:
    block = data[start:end]
    # Source code that names both lines has no key between them.
    return b"-----END" not in block or _KEY_LINE.search(block) is not None


DETECTORS: Final = (
    Detector(
        rf"{_BOUNDARY}(?:(?:{_LONG_PREFIXES})[\w.\-/+$%=:]{{8}}|(?:{_SHORT_PREFIXES})[\w\-/+|:]{{16}})",
        _find_prefixed,
    ),
    detect(
        r"eyJ[\w\-]{8}|[0-9]:AA[\w\-]{8}|[MNO][\w\-]{23,25}\.[\w\-]{6}\.|[78]Q~|[0-9a-f]-us[0-9]|\.atlasv1\."
        r"|pat[A-Za-z0-9]{14}\.|hooks[.]slack|api/webhooks|[?&;]sig=",
        [Rule(kind, pattern, _is_no_sample) for kind, pattern in _TOKENS],
    ),
    detect("-----BEGIN [A-Z0-9 ]*PRIVATE", [Rule("private_key", _KEY_BLOCK, _is_key_block)]),
)
