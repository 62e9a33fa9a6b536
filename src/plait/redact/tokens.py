"""Values recognised by their form: key prefixes, private keys, encodings, numbers."""

import base64
import binascii
import ipaddress
import re

from plait.redact.likelihood import (
    NOTHING,
    QUOTE,
    any_value,
    is_at_word_start,
    is_in_patch,
    is_placeholder,
    is_random,
    run_of,
)
from plait.redact.model import Family, TextSpan, account_number, host_name, phone_number

HEX = "a-f0-9"
ALNUM = "A-Za-z0-9"
WORD = "A-Za-z0-9_"
URL = r"A-Za-z0-9_\-"
DOTTED = r"A-Za-z0-9._\-"
B64 = "A-Za-z0-9+/="
FEWEST = 6

# Name, label, prefix, characters of the rest, minimum and maximum length (0: any).
PREFIXED_KEYS: tuple[tuple[str, str, str, str, int, int], ...] = (
    # clouds
    ("aws-key", "aws access key", "A(?:KIA|SIA|BIA|CCA)", "A-Z0-9", 20, 20),
    ("aws-bedrock", "aws bedrock key", "ABSK", B64, 100, 0),
    ("google-api", "google api key", "AIza", URL, 39, 39),
    ("google-oauth", "google access token", r"ya29\.", URL, 30, 0),
    ("google-client", "google client secret", "GOCSPX-", URL, 35, 35),
    ("google-refresh", "google refresh token", "1//0", URL, 40, 0),
    ("digitalocean", "digitalocean token", "do[opr]_v1_", HEX, 71, 71),
    ("heroku", "heroku key", "HRKU-", URL, 41, 0),
    ("fly", "fly.io token", "(?:fo1_|fm[12][ar]?_)", B64 + r"_\-", 40, 0),
    ("alibaba", "alibaba access key", "LTAI", ALNUM, 16, 30),
    ("tencent", "tencent secret id", "AKID", ALNUM, 36, 36),
    ("scaleway", "scaleway key", "SCW", "A-Z0-9", 20, 20),
    ("supabase", "supabase token", "sbp_(?:v0_)?", HEX, 44, 0),
    ("supabase-secret", "supabase secret key", "sb_secret_", URL, 30, 0),
    ("vercel", "vercel token", "vc[pirak]_", ALNUM, 28, 0),
    ("netlify", "netlify token", "nf[pcou]_", ALNUM, 40, 0),
    ("planetscale", "planetscale token", "pscale_(?:tkn|oauth|pw)_", DOTTED + "=", 40, 0),
    ("render", "render key", "rnd_", ALNUM, 32, 0),
    ("doppler", "doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", DOTTED, 40, 0),
    ("pulumi", "pulumi token", "pul-", HEX, 44, 44),
    ("vault", "vault token", r"hv[sbr]\.", URL, 28, 0),
    ("databricks", "databricks token", "dapi", HEX + "-", 36, 38),
    ("tailscale", "tailscale key", "tskey-(?:[a-z]+-)?", URL, 24, 0),
    ("cloudflare-ca", "cloudflare origin key", r"v1\.0-", HEX + "-", 170, 0),
    ("cloudflare", "cloudflare token", "cf(?:ut|at|k)_", URL, 40, 0),
    ("ngrok", "ngrok token", "ak_2", ALNUM, 30, 30),
    # model providers
    ("anthropic", "anthropic key", "sk-ant-(?:[a-z]{2,8}[0-9]{2}-)?", URL, 32, 0),
    ("openai-project", "openai key", "sk-(?:proj|svcacct|admin|None|service)-", URL, 32, 0),
    ("openrouter", "openrouter key", "sk-or-(?:v1-)?", ALNUM, 40, 0),
    ("langfuse", "langfuse secret key", "sk-lf-", HEX + "-", 42, 42),
    ("openai", "openai key", "sk-", ALNUM, 35, 0),
    ("huggingface", "hugging face token", "(?:hf|api_org)_", ALNUM, 37, 0),
    ("groq", "groq key", "gsk_", ALNUM, 44, 0),
    ("replicate", "replicate token", "r8_", ALNUM, 40, 0),
    ("xai", "xai key", "xai-", ALNUM, 60, 0),
    ("perplexity", "perplexity key", "pplx-", ALNUM, 44, 0),
    ("fireworks", "fireworks key", "fw_", ALNUM, 24, 0),
    ("together", "together key", "tgp_v1_", URL, 40, 0),
    ("cerebras", "cerebras key", "csk-", ALNUM, 44, 0),
    ("nvidia", "nvidia key", "nvapi-", URL, 60, 0),
    ("elevenlabs", "elevenlabs key", "sk_", HEX, 51, 51),
    ("tavily", "tavily key", "tvly-(?:[a-z]+-)?", ALNUM + "-", 28, 0),
    ("voyage", "voyage key", "pa-", URL, 46, 46),
    ("firecrawl", "firecrawl key", "fc-", HEX, 35, 35),
    ("langsmith", "langsmith key", "lsv2_(?:pt|sk)_", HEX + "_", 50, 0),
    ("cursor", "cursor key", "key_", HEX, 68, 68),
    # forges
    ("github", "github token", "gh[pousr]_", ALNUM, 40, 0),
    ("github-fine", "github token", "github_pat_", WORD, 60, 0),
    (
        "gitlab",
        "gitlab token",
        "gl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|imt|agent|ffct|rtr)-",
        DOTTED,
        25,
        0,
    ),
    ("bitbucket", "bitbucket app password", "ATBB", ALNUM, 32, 0),
    ("atlassian", "atlassian token", "ATATT3", URL + "=", 100, 0),
    ("sourcegraph", "sourcegraph token", "sgp_(?:local_)?", HEX + "_", 44, 0),
    # chat
    ("slack", "slack token", "xox[abcdeoprs](?:\\.xox[abp])?-", URL, 24, 0),
    ("slack-app", "slack app token", "xapp-[0-9]-", URL, 40, 0),
    # payment
    ("stripe", "stripe key", "[sr]k_(?:live|test|prod)_", ALNUM, 24, 0),
    ("stripe-hook", "webhook secret", "whsec_", B64, 30, 0),
    ("square", "square token", "sq0[a-z]{3}-", URL, 28, 0),
    ("square-access", "square token", "EAAA[EF]", URL, 60, 68),
    ("razorpay", "razorpay key", "rzp_(?:live|test)_", ALNUM, 23, 0),
    ("plaid", "plaid token", "access-(?:sandbox|development|production)-", HEX + "-", 51, 0),
    ("flutterwave", "flutterwave key", "FLWSECK(?:_TEST)?-", ALNUM + "-", 30, 0),
    # package registries
    ("npm", "npm token", "npm_", ALNUM, 40, 40),
    ("pypi", "pypi token", "pypi-AgE", URL, 70, 0),
    ("rubygems", "rubygems key", "rubygems_", HEX, 57, 57),
    ("docker", "docker token", "dckr_(?:pat|oat)_", URL, 34, 0),
    ("nuget", "nuget key", "oy2", "a-z0-9", 46, 46),
    ("crates", "crates.io token", "cio", ALNUM, 35, 35),
    ("artifactory", "artifactory key", "AKCp", ALNUM, 72, 74),
    ("clojars", "clojars token", "CLOJARS_", "a-z0-9", 68, 68),
    # mail, messages
    ("mailgun", "mailgun key", "key-", HEX, 36, 36),
    ("twilio", "twilio key", "SK", HEX, 34, 34),
    ("brevo", "brevo key", "x(?:keysib|smtpsib)-", ALNUM + "-", 80, 0),
    ("resend", "resend key", "re_[A-Za-z0-9]{8}_", ALNUM, 30, 0),
    # monitoring
    ("newrelic", "new relic key", "NR(?:AK|II|JS|RA|BR)-", URL, 24, 0),
    ("sentry", "sentry token", "sntry[su]_", B64 + r"_\-", 60, 0),
    ("grafana", "grafana token", "gl(?:sa|c)_", WORD + "=", 40, 0),
    ("posthog", "posthog key", "ph[xr]_", ALNUM, 40, 0),
    ("honeycomb", "honeycomb key", "hc[abgx][a-z]{2}_", ALNUM, 50, 0),
    ("dynatrace", "dynatrace token", r"dt0[a-z][0-9]{2}\.", "A-Z0-9.", 90, 0),
    ("sonar", "sonar token", "sq[upa]_", HEX, 44, 44),
    # services
    ("shopify", "shopify token", "shp(?:at|ca|pa|ss|ua)_", "a-fA-F0-9", 38, 38),
    ("linear", "linear key", "lin_(?:api|oauth)_", ALNUM, 40, 0),
    ("notion", "notion token", "(?:ntn|secret)_", ALNUM, 46, 60),
    ("airtable", "airtable token", r"pat[A-Za-z0-9]{14}\.", HEX, 82, 82),
    ("figma", "figma token", "fig[dou]r?_", URL, 40, 0),
    ("postman", "postman key", "PMAK-", HEX + "-", 64, 64),
    ("hubspot", "hubspot token", "pat-(?:na|eu|ap)[0-9]-", HEX + "-", 44, 44),
    ("contentful", "contentful token", "CFPAT-", URL, 49, 49),
    ("dropbox", "dropbox token", r"sl\.(?:u\.)?", URL, 130, 0),
    ("typeform", "typeform token", "tfp_", DOTTED, 44, 0),
    ("readme", "readme key", "rdme_", "a-z0-9", 75, 75),
    ("prefect", "prefect key", "pn[ub]_", ALNUM, 40, 40),
    ("easypost", "easypost key", "EZ[AT]K", ALNUM, 58, 58),
    ("onepassword", "1password token", "ops_eyJ", B64 + r"_\-", 200, 0),
    ("twitter", "twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA", ALNUM + "%", 70, 0),
    ("age", "age secret key", "AGE-SECRET-KEY-1", "A-Z0-9", 74, 74),
    # from the rule sets of gitleaks and kingfisher (docs/decisions/0005-redaction.md)
    ("onepassword-key", "1password secret key", "A3-", "A-Z0-9-", 39, 40),
    ("adobe", "adobe client secret", "p8e-", ALNUM, 36, 36),
    ("aikido", "aikido secret", "AIK_(?:CI|SECRET)_", ALNUM, 27, 0),
    ("alibaba-sts", "alibaba access key", r"STS\.", ALNUM, 20, 68),
    ("apify", "apify token", "apify_api_", ALNUM, 44, 48),
    ("artifactory-reference", "artifactory key", "cmVmd", ALNUM, 64, 64),
    ("bitbucket-server", "bitbucket token", "BBDC-", B64, 37, 0),
    ("buildkite", "buildkite token", "bk(?:aa|aj|ar|ct|pt|pat|ps|ua)_", URL, 45, 0),
    ("canva", "canva client secret", "cnvca", URL, 56, 56),
    ("cartesia", "cartesia key", "sk_car_", WORD, 27, 0),
    ("circleci", "circleci token", "CCIP(?:AT|RJ)_", WORD, 70, 70),
    ("clickhouse", "clickhouse key", "4b1d", ALNUM, 42, 42),
    ("cloudsmith", "cloudsmith key", "csa_", ALNUM, 40, 40),
    ("cockroach", "cockroach key", "CCDB1_", WORD, 69, 69),
    ("configcat", "configcat key", "configcat-sdk-1/", URL + "/", 61, 61),
    ("astra", "datastax token", "AstraCS:", ALNUM + ":", 28, 0),
    ("deno", "deno token", "dd[op]_", ALNUM, 40, 40),
    ("devcycle", "devcycle key", "dvc_server_", ALNUM, 19, 0),
    ("devin", "devin key", "apk_(?:user_)?", B64, 84, 0),
    ("devin-user", "devin key", "cog_", "a-z2-7", 56, 56),
    ("swarm", "docker swarm token", "SWM(?:TKN|KEY)-1-", ALNUM + "+/-", 49, 0),
    ("duffel", "duffel token", "duffel_(?:test|live)_", URL + "=", 55, 55),
    ("elastic", "elastic key", "essu_", URL + "=", 65, 0),
    ("facebook", "facebook token", "EAA[MC]", ALNUM, 104, 0),
    ("facebook-graph", "facebook token", "EAACEdEose0cBA", ALNUM, 34, 0),
    ("frameio", "frame.io token", "fio-u-", URL + "=", 70, 70),
    ("gemini", "google api key", r"AQ\.Ab8RN6", URL, 53, 53),
    ("gitlab-runner", "gitlab token", "GR1348941", URL, 29, 29),
    ("grafana-old", "grafana token", "eyJrIjoi", B64, 48, 0),
    ("harness", "harness token", r"[ps]at\.", DOTTED, 72, 72),
    ("infracost", "infracost token", "ico-", ALNUM, 36, 36),
    ("intra42", "intra42 client secret", "s-s4t2(?:ud|af)-", HEX, 73, 73),
    ("ionic", "ionic token", "ion_", ALNUM, 46, 46),
    ("llamacloud", "llama cloud key", "llx-", ALNUM, 48, 56),
    ("mailersend", "mailersend token", r"mlsn\.", ALNUM, 35, 0),
    ("mercury", "mercury token", "mercury_production_", WORD, 60, 0),
    ("mergify", "mergify key", "mergify_application_key_", URL, 64, 0),
    ("minimax", "minimax key", "sk-api-", URL, 126, 126),
    ("miro", "miro token", "eyJtaXJv", URL, 39, 0),
    ("atlas", "mongodb atlas secret", "mdb_sa_sk_", URL, 50, 50),
    ("neon", "neon key", "napi_", ALNUM, 69, 69),
    ("nylas", "nylas key", "nyk_", ALNUM, 71, 71),
    ("octopus", "octopus deploy key", "API-", "A-Z0-9", 30, 30),
    ("onesignal", "onesignal key", "os_v2_(?:app|org)_", "a-z2-7", 113, 113),
    ("onfido", "onfido token", r"api_(?:live|sandbox)(?:_ca|_us)?\.", URL, 29, 0),
    ("openshift", "openshift token", "sha256~", URL, 50, 50),
    ("paddle", "paddle key", "pdl_(?:live|sdbx)_apikey_", WORD, 69, 69),
    ("persona", "persona key", "persona_(?:production|sandbox)_", URL, 38, 0),
    ("pinecone", "pinecone key", "pcsk_", WORD, 74, 75),
    ("pinterest", "pinterest token", "pina_", URL, 60, 0),
    ("polar", "polar token", "polar_(?:at|oat|pat)_", URL, 30, 0),
    ("ramp", "ramp client secret", "ramp_sec_", ALNUM, 57, 57),
    ("rootly", "rootly key", "rootly_", HEX, 71, 71),
    ("runpod", "runpod key", "rpa_", ALNUM, 34, 50),
    ("salesforce", "salesforce token", "00[A-Za-z0-9]{13}!", DOTTED, 96, 0),
    ("samsara", "samsara token", "samsara_api_", ALNUM, 38, 44),
    ("scalingo", "scalingo token", "tk-us-", URL, 54, 54),
    ("segment", "segment token", "sgp_", ALNUM, 68, 68),
    ("settlemint", "settlemint token", "sm_(?:aat|pat|sat)_", ALNUM, 23, 23),
    ("shippo", "shippo token", "shippo_(?:live|test)_", "a-fA-F0-9", 52, 52),
    ("unkey", "unkey root key", "unkey_", ALNUM, 26, 38),
    ("upcloud", "upcloud token", "ucat_", ALNUM, 29, 37),
    ("valtown", "val town token", "vtwn_", URL, 25, 0),
    ("wakatime", "wakatime key", "waka_", "a-z0-9-", 41, 0),
    ("wandb", "wandb key", "wandb_v1_", WORD, 86, 86),
    ("xendit", "xendit key", "xnd_(?:production|development)_", ALNUM, 71, 0),
    ("zuplo", "zuplo key", "zpka_", "a-z0-9_", 46, 46),
    ("packagist", "packagist token", "packagist_(?:ort|out|acs|ack)_", HEX, 42, 0),
    ("postman-collection", "postman key", "PMAT-", ALNUM, 31, 31),
    ("yandex", "yandex key", "AQVN", URL, 39, 42),
    ("launchdarkly", "launchdarkly key", "(?:sdk|mob|api)-", HEX + "-", 40, 40),
    ("defined", "defined networking token", "dnkey-", URL + "=", 85, 85),
    (
        "authress",
        "authress key",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.",
        DOTTED + "+/=",
        60,
        0,
    ),
    ("jina", "jina key", "jina_", URL, 60, 0),
    ("intercom", "intercom token", "dG9rOm", B64, 60, 0),
    (
        "key-in-base64",
        "private key",
        "LS0tLS1CRUdJTiB(?:QUklW|SU0Eg|FQyBQ|PUEVO|FTkNS|EU0Eg|QR1AgUFJJ)",
        B64,
        60,
        0,
    ),
)


def _key_like(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match random characters after words that only keys begin with."""
    rest = text[value.start : value.end].rpartition(b"_")[2]
    is_key = len(rest) >= MIN_KEY_LIKE and is_random(rest) and not is_placeholder(rest)
    is_key = is_key and not text.startswith(b"pk_", value.start)  # a publishable key
    is_escape = text[value.start - 1 : value.start] == b"\\"
    is_key = is_key and not is_escape and is_at_word_start(text, value.start)
    return (value,) if is_key else NOTHING


MIN_KEY_LIKE = 20
IRREGULAR = (
    Family(
        "slack-hook",
        r"hooks\.slack\.com\\{0,4}/(?:services|workflows|triggers)\\{0,4}/(?P<v>[A-Za-z0-9/+_\\-]{8,})",
        run_of(ALNUM + "/", 30),
        label="slack webhook",
    ),
    Family(
        "discord-hook",
        r"discord(?:app)?\.com\\{0,4}/api\\{0,4}/webhooks\\{0,4}/(?P<v>[0-9]{17,20}\\{0,4}/[A-Za-z0-9_-]{8,})",
        run_of(URL, 60),
        label="discord webhook",
    ),
    Family(
        "teams-hook",
        r"webhook\.office\.com\\{0,4}/webhookb2\\{0,4}/(?P<v>[A-Za-z0-9@/-]{8,})",
        run_of(URL, 60),
        label="teams webhook",
    ),
    Family(
        "discord",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 50, 80, before=r"[MNO][A-Za-z0-9_-]{22,27}"),
        label="discord bot token",
    ),
    Family(
        "telegram",
        r":AA[A-Za-z0-9_-]{32,}",
        run_of(URL, 43, 50, before=r"[0-9]{8,10}"),
        label="telegram bot token",
    ),
    Family(
        "sendgrid",
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 60, 80),
        label="sendgrid key",
        head=r"SG\.",
    ),
    Family(
        "mailchimp",
        r"-us[0-9]{1,2}",
        run_of(HEX, 36, 38, before=r"[a-f0-9]{32}"),
        label="mailchimp key",
    ),
    Family(
        "newrelic-license",
        r"NRAL",
        run_of(HEX + "NRAL", 40, 40, before=r"[a-f0-9]{36}"),
        label="new relic key",
    ),
    Family(
        "asana",
        r"[12]/[0-9]{13,20}(?:/[0-9]{13,20})?:[a-f0-9]{32}",
        run_of(HEX, 46),
        label="asana token",
    ),
    Family(
        "mws", r"amzn\.mws\.[a-f0-9-]{36}", run_of(HEX + "-", 45, 45), label="aws marketplace token"
    ),
    Family(
        "azure-client",
        r"[0-9]Q~[A-Za-z0-9_~.-]{31,}",
        run_of("A-Za-z0-9_~.-", 37, 42, before=r"[A-Za-z0-9_~.-]{3}"),
        label="azure client secret",
    ),
    Family(
        "terraform",
        r"\.atlasv1\.[A-Za-z0-9_=-]{8,}",
        run_of(URL, 60, before=r"[A-Za-z0-9]{14}"),
        label="terraform token",
    ),
    Family(
        "braintree",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
        run_of(HEX, 60),
        label="braintree token",
        head="access_token",
    ),
    Family(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{6,}|[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+)*",
        run_of(DOTTED, 40),
        label="json web token",
        head="eyJ",
    ),
    Family(
        "mapbox",
        r"[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 50),
        label="mapbox secret token",
        head=r"[sp]k\.eyJ",
    ),
)
KEY_LIKE = Family(
    "telling",
    r"[a-z][a-z0-9]{1,15}_(?:live|test|prod|production|sandbox|pat|sk|secret|sec|apikey|api|key|token|tkn|oat|sat|aat)_[A-Za-z0-9]{20,}",
    _key_like,
    label="key that begins like one",
)
REGULAR = tuple(
    Family(
        name,
        f"{head}[{letters}]{{{FEWEST},}}",
        run_of(letters, least, most or None),
        label,
        head=head,
    )
    for name, label, head, letters, least, most in PREFIXED_KEYS
)
KEYS: tuple[Family, ...] = (*IRREGULAR[:4], *REGULAR, *IRREGULAR[4:], KEY_LIKE)


END_LINE = rb"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
END = re.compile(END_LINE)
BODY = re.compile(
    rb"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}(?![A-Za-z0-9+/=])|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/=])"
)
INFO = re.compile(
    rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Private-MAC|Subject)\s?: ?[^\x00-\x1f\"\\<]*"
)
SHORT = re.compile(rb"[A-Za-z0-9+/]{4,15}={0,2}(?=[\s\"'\\<,&%|\xe2]|\Z)")
# What may be between two lines of a key: line breaks in all spellings, and margins added by tools.
BREAKS = rb"\r?\n|\\{1,7}r|\\{1,7}n|\x1f|\0|<br ?/?>|&#(?:10|xa|xA);|%0[dD]|%0[aA]|\\\r?\n"
MARGIN = re.compile(
    rb"(?:(?:" + BREAKS + rb")|[ \t]|\x1b\[[0-9;]*m|\\{1,7}[tu]001b\[[0-9;]*m|[\"'`,+>|#*;:\\/-]"
    rb"|\xe2\x94\x82|\xe2\x86\x92|\xe2\x94\x83|&gt;)+"
)
# Words of a margin: numbers, times, file names with numbers, hashes and names of a blame, levels.
PREFIX = re.compile(
    rb"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    rb"|[A-Z][a-z]{2}[ \t]+[0-9]{1,2}[ \t]+[0-9:]{8}[ \t]+[A-Za-z0-9_.-]{1,40}|[0-9]{1,6}(?=[\s:|\t)\xe2.-])"
    rb"|\^?[0-9a-f]{7,12} \([^()\n]{1,80}\)|[A-Za-z0-9_./-]{1,80}[:-][0-9]{1,6}[:-]|[A-Za-z0-9_.-]{1,40}(?=[ \t]*\|)"
    rb"|[A-Za-z0-9_.-]{1,40}\[[0-9]+\]:|(?:INFO|DEBUG|WARN|ERROR|TRACE|info|debug|warn|error)\b|\[[A-Za-z0-9_.: -]{1,40}\])"
)
LEAST = 16
MOST_LINES = 2000
FURTHEST = 300


def _block(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a private key from its first line to its last, or as far as it goes."""
    spans, letters, _ = _lines(text, match.end)
    return _join_lines(text, [match, *spans]) if letters >= LEAST else NOTHING


def _lines(text: bytes, place: int) -> tuple[list[TextSpan], int, int]:
    """Return the lines of a key after a position, their number of characters, and their end."""
    spans: list[TextSpan] = []
    letters = 0
    for _ in range(MOST_LINES):
        start = _behind_margin(text, place)
        if last := END.match(text, start):
            spans.append(TextSpan(*last.span()))
            return spans, letters, last.end()
        line = INFO.match(text, start) or BODY.match(text, start) or SHORT.match(text, start)
        if line is None or (start == place and spans):
            break
        spans.append(TextSpan(*line.span()))
        letters += len(line[0]) if line.re is not INFO else 0
        place = line.end()
    return spans, letters, place


def _behind_margin(text: bytes, place: int) -> int:
    """Return where the next line of a key would begin."""
    limit = place + FURTHEST
    while place < limit:
        if END.match(text, place):
            return place
        margin = MARGIN.match(text, place, limit)
        behind = margin.end() if margin else place
        if (
            margin
            and text[max(place, behind - 5) : behind].strip(b"-") == b""
            and text[behind : behind + 4] == b" END"
        ):
            return behind - 5
        if margin and b"----" in margin[0] and (last := END.search(text, place, behind + 60)):
            return last.start()
        prefix = PREFIX.match(text, behind, limit) if margin or behind == place else None
        if prefix is None or (
            margin is None and prefix.start() == place and place != limit - FURTHEST
        ):
            return behind
        place = prefix.end()
    return place


def _join_lines(text: bytes, spans: list[TextSpan]) -> tuple[TextSpan, ...]:
    merged = [spans[0]]
    for span in spans[1:]:
        between = text[merged[-1].end : span.start]
        if b"\n" in between or b"\x1f" in between or b"\0" in between:
            merged.append(span)
        else:
            merged[-1] = TextSpan(merged[-1].start, span.end)
    return tuple(merged)


BODY_LINE = re.compile(rb"[A-Za-z0-9+/]{40,80}={0,2}")


def _tail(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the lines before the last one, if the first is not shown."""
    first = match.start
    for line in reversed(list(BODY_LINE.finditer(text, max(0, match.start - 20_000), match.start))):
        if first - line.end() > 120 or b"CERTIFICATE" in text[line.end() : first]:
            break
        first = line.start()
    if first == match.start:
        return NOTHING
    spans, letters, _ = _lines(text, first)
    return _join_lines(text, spans) if letters >= LEAST and spans[-1].end >= match.end else NOTHING


def _body(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the lines of a key whose first characters identify it."""
    spans, letters, _ = _lines(text, match.start)
    return _join_lines(text, spans) if letters >= 48 and spans[0].start == match.start else NOTHING


BREAKS_AND_MARGINS = re.compile(rb"\\+[nr]|[\x00-\x20\x1f\\]")


def _letters_of(value: bytes) -> bytes:
    return BREAKS_AND_MARGINS.sub(b"", value)


def _part_of_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number of a private key in JSON, whose other fields say that it is one."""
    around = text[max(0, match.start - FURTHEST_FIELD) : match.end + FURTHEST_FIELD]
    is_private = text[match.start : value.start].lstrip(b'\\"').startswith(b"d")
    return (
        (value,)
        if is_private or b'"kty' in around or b'"kty' in around.replace(b"\\", b"")
        else NOTHING
    )


FURTHEST_FIELD = 4000
PRIVATE_KEYS: tuple[Family, ...] = (
    Family(
        "private-key",
        r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        _block,
        label="private key",
        canonical=_letters_of,
    ),
    Family(
        "putty-key",
        r"Private-Lines: [0-9]{1,3}",
        _block,
        label="private key",
        canonical=_letters_of,
    ),
    Family(
        "private-key-tail",
        r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        _tail,
        label="private key",
        canonical=_letters_of,
    ),
    Family(
        "private-key-body",
        r"(?:b3BlbnNzaC1rZXktdjEA|MII[CEJ][A-Za-z0-9+/]{2}IBA[AD]|MHcCAQEE|MIGkAgEBBD|MIGHAgEAMBMG|MC4CAQAwBQYDK2Vw|lQ[OPVdHEI][A-Z][BE])"
        r"[A-Za-z0-9+/]{20,}",
        _body,
        label="private key",
        canonical=_letters_of,
    ),
    Family(
        "wireguard",
        r"(?:Private|PreShared|Preshared|private|preshared)[kK]ey[ \t]*[=:][ \t]*(?P<v>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
        any_value,
        label="private key",
    ),
    Family(
        "wireguard-generated",
        r"wg gen(?:key|psk)[^\x00-\x1f\\]{0,60}(?:\r?\n|\\{1,7}n)(?P<v>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
        any_value,
        label="private key",
        trigger=r"wg gen(?:key|psk)",
    ),
    Family(
        "web-key",
        r"\\{0,7}\"(?:d|p|q|dp|dq|qi|k)\\{0,7}\"[ \t]*:[ \t]*\\{0,7}\"(?P<v>[A-Za-z0-9_+/-]{40,}={0,2})",
        _part_of_key,
        label="private key",
    ),
)


LABEL = "in base64"
# Three letters of plain text in base64, as the six bits of each character: other data matches by
# chance in one of fourteen groups of four.
PLAIN = "[I-Zabcdef][C-HS-Xi-nyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
WIDE = "[I-Za-f][AQgw][AB][A-Za-z0-9+/]A[C-H][AEIMQUYcgkosw048]A"
RUN = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")
HEX_RUN = re.compile(rb"(?:[0-9a-fA-F]{2})+")
BREAK = re.compile(rb"[ \t]*(?:\r?\n|\\{1,7}n)[ \t]{0,16}[+>|]?[ \t]{0,4}")
ROW = re.compile(rb"[0-9a-f]{6,8}:? {1,2}((?:[0-9a-f]{2,4} {1,2}){1,16})[ |]*([^\n]{1,18})?")
MOST = 4000
PRINTABLE = frozenset(range(32, 127)) | {9, 10, 13}
LEAST_PRINTABLE = 0.97


def _run(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match base64 from its first character to its last, across full lines."""
    spans: list[TextSpan] = []
    run = RUN.match(text, value.start)
    while run and len(spans) < MOST:
        spans.append(TextSpan(*run.span()))
        gap = BREAK.match(text, run.end())
        run = RUN.match(text, gap.end()) if gap else None
        if run and len(run[0]) > spans[0].end - spans[0].start:
            break
    full = b"".join(text[span.start : span.end] for span in spans)
    is_token = full.startswith(b"eyJ") and text[spans[-1].end : spans[-1].end + 1] == b"."
    return NOTHING if is_token or decode_value(full) is None else tuple(spans)


def _hex(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    run = HEX_RUN.match(text, value.start)
    return (TextSpan(*run.span()),) if run else NOTHING


def _dump(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the rows of a hex dump."""
    spans, place = [], match.start
    while row := ROW.match(text, place):
        spans.append(TextSpan(*row.span()))
        gap = BREAK.match(text, row.end())
        if gap is None:
            break
        place = gap.end()
    return tuple(spans)


def decode_value(value: bytes) -> bytes | None:
    """Return the text in an encoded value; None if there is none."""
    if ROW.match(value):
        rows = [re.sub(rb"\s", b"", row[1]) for row in ROW.finditer(value)]
        try:
            return bytes.fromhex(b"".join(rows).decode())
        except ValueError:
            return None
    if re.fullmatch(rb"(?:[0-9a-fA-F]{2})+", value):
        return _as_text(bytes.fromhex(value.decode()))
    plain = value.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return _as_text(base64.b64decode(plain + b"=" * (-len(plain) % 4)))
    except (binascii.Error, ValueError):
        return None


def _as_text(data: bytes) -> bytes | None:
    if len(data) > 8 and data[1::2].count(0) * 2 >= len(data) - 2:
        data = data[0::2]
    printable = sum(number in PRINTABLE for number in data[:400])
    return data if data and printable >= LEAST_PRINTABLE * len(data[:400]) else None


EDGE = r"(?:\A|[^A-Za-z0-9+/_-]|\\[nrt])"
ENCODED: tuple[Family, ...] = (
    Family("base64", rf"{EDGE}(?P<v>(?:{PLAIN}){{5}}|(?:{WIDE}){{3}})", _run, label=LABEL),
    Family("hex-dump", r"0{6,8}:? {1,2}(?:[0-9a-f]{2,4} {1,2}){4,}", _dump, label=LABEL),
    Family("hex", rf"{EDGE}(?P<v>(?:[2-7][0-9a-fA-F]){{12}})", _hex, label=LABEL),
)


VERSION_BEFORE = re.compile(
    rb"(?i)(?:\b(?:v|version|ver|release|build|tag|rev|schema|chrome|firefox|safari|edge|opera|netcore|runtime|sdk)|[=~^<>]=|@|==)[\s:=\"'/v-]{0,3}\Z"
)
DOCUMENTED = tuple(
    ipaddress.ip_network(item)
    for item in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
)
COMMON = frozenset(
    b"8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 1.2.3.4 4.3.2.1 255.255.255.0 10.0.0.1 10.0.0.0 192.168.0.1"
    b" 192.168.1.1 192.168.0.0 172.17.0.1 172.16.0.0 169.254.169.254 168.63.129.16".split()
)


def _internet(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match an IP address that belongs to somebody: not a version, nor a common one."""
    value = TextSpan(value.start, value.end - (text[value.end - 1 : value.end] == b":"))
    found = text[value.start : value.end]
    behind = text[value.end : value.end + 2]
    is_joined = text[value.start - 1 : value.start] in (b".", b"-")
    if not is_at_word_start(text, value.start) or (
        is_joined and not is_in_patch(text, value.start)
    ):
        return NOTHING
    if behind[:1].isalnum() or behind[:1] == b"_" or re.match(rb"[.-][0-9A-Za-z]", behind):
        return NOTHING
    if found in COMMON or VERSION_BEFORE.search(text, max(0, value.start - 16), value.start):
        return NOTHING
    return (value,) if _is_somebodys(found) else NOTHING


def _is_somebodys(found: bytes) -> bool:
    try:
        address = ipaddress.ip_address(found.decode())
    except ValueError:
        return False
    if address.version == 6 and re.search(rb"[0-9a-fA-F]{3}|::", found) is None:
        return False  # a serial number or a fingerprint
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return False
    if any(address.version == net.version and address in net for net in DOCUMENTED):
        return False
    return not (
        address.version == 4
        and (found[:2] in (b"0.", b"1.", b"2.", b"3.") or found.startswith(b"255."))
    )


DATE = re.compile(rb"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")


def _telephone(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number with as many digits as telephone numbers have."""
    found = text[value.start : value.end].rstrip(b" .-(/")
    digits = re.sub(rb"[^0-9]", b"", found)
    if DATE.match(found):
        return NOTHING
    if not 7 <= len(digits) <= 15 or len(set(digits)) < 3 or digits in b"01234567890123456789":
        return NOTHING
    if text[value.start - 1 : value.start].isalnum() or text[value.end : value.end + 1].isalnum():
        return NOTHING
    return (TextSpan(value.start, value.start + len(found)),)


def _international(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number with a country code, unless its plus sign is a diff marker."""
    found = text[value.start : value.end]
    before = text[max(0, value.start - 2) : value.start]
    is_patch = not before or before[-1:] in (b"\n", b"\0") or before == b"\\n"
    if is_patch and not re.search(rb"[0-9][ (-]", found):
        return NOTHING
    if before[-1:].isalnum() and before[:1] != b"\\":
        return NOTHING
    return _telephone(text, match, value)


def _bank(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a bank account number with correct check digits."""
    if not is_at_word_start(text, value.start):
        return NOTHING
    found = text[value.start : value.end].rstrip()
    if not is_at_word_start(text, value.start):
        return NOTHING
    for length in range(len(found), 14, -1):
        plain = re.sub(rb"[ \xa0]", b"", found[:length]).decode("latin-1").upper()
        if 15 <= len(plain) <= 34 and _is_checked(plain):
            return (TextSpan(value.start, value.start + length),)
    return NOTHING


def _is_checked(plain: str) -> bool:
    turned = plain[4:] + plain[:4]
    return turned.isalnum() and int("".join(str(int(item, 36)) for item in turned)) % 97 == 1


def _card(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a card number with a correct check digit."""
    digits = re.sub(rb"[ -]", b"", text[value.start : value.end])
    if (
        not 13 <= len(digits) <= 19
        or len(set(digits)) < (2 if len(digits) < value.end - value.start else 4)
        or not is_at_word_start(text, value.start)
    ):
        return NOTHING
    before = text[value.start - 1 : value.start]
    if before in (b".", b"-", b"/", b"x") or text[value.end : value.end + 1].isalnum():
        return NOTHING
    if digits.startswith(b"2") and (len(digits) != 16 or not b"2221" <= digits[:4] <= b"2720"):
        return NOTHING  # a time, such as 20240318101522
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = (digit - 48) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return (value,) if total % 10 == 0 else NOTHING


def _number(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number whose name says that it is an account's."""
    found = text[value.start : value.end]
    digits = sum(48 <= number <= 57 for number in found)
    is_part = text[value.end : value.end + 1].isalnum() or text.endswith(
        b"serialVersion", 0, match.start
    )
    return (value,) if digits >= 5 and not is_part else NOTHING


def _apart(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a number that is not part of a longer word."""
    before, behind = text[value.start - 1 : value.start], text[value.end : value.end + 2]
    is_joined = before in (b".", b"-", b"+", b":", b"/") or re.match(rb"[.:-]?[0-9A-Za-z_]", behind)
    return NOTHING if is_joined or not is_at_word_start(text, value.start) else (value,)


def _station(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a MAC address, unless it is made up."""
    parts = set(re.split(rb"[:-]", text[value.start : value.end].lower()))
    return _apart(text, match, value) if len(parts) > 3 else NOTHING


CALLS = (
    r"(?:[rR]ing me|[tT]ext me|[dD]ial|T(?:é|e)l|[tT]el(?:efon|efono|éfono|éphone|\.)?|TEL|[pP]hone|PHONE|[mM]obile?|[hH]andy|[fF]ax|FAX|[mM]obil(?:e phone|telefon)?|[fF]estnetz|GSM|[hH]otline|[vV]iber|[tT]elefoon|[tT]elefone|[cC]ell|WhatsApp|[sS]ignal"
    r"|SMS|sms|[cC]all(?: me)?|[rR]each me|[cC]ontact|[nN]umber|Rufnummer|Nummer)(?:[_ -]?(?:[nN]umber|[nN]o\.?|[nN]r\.?|nummer))?"
)
TO = r"(?:[ ]?(?:is|at|on|to|under|unter|sent to|ist|[:=])[ ]?|[ ]|\.:?[ ]?|:|\\{0,7}[\"'][ ]?[:=][ ]?\\{0,7}[\"']){1,3}"
DIGITS = r"(?P<v>\(?\+?[0-9][0-9 ()./-]{5,20}[0-9])"
ACCOUNTS = (
    r"(?:[aA]ccount|ACCOUNT|[cC]ustomer|CUSTOMER|[mM]ember|[pP]olicy|[iI]nvoice account|[rR]outing|[pP]assport|[tT]ax|[pP]roject|[sS]ubscription"
    r"|[pP]atient|[dD]river|[lL]icen[cs]e|[sS]ocial security|[cC]lient|[kK]onto|[kK]unden|[sS]teuer|[vV]ersicherungs|[pP]ersonal|[mM]itglieds|SSN|TIN|BSN"
    r"|[nN]ational|[cC]ontract|[vV]ertrags)[_ -]?"
    r"(?:[nN]umber|NUMBER|[nN]o\.?|[nN]r\.?|[nN]ummer|id|ID|Id|account|security number)?"
)

NUMBERS: tuple[Family, ...] = (
    host_name("mac", r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})", _station),
    phone_number("dashed-telephone", r"[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}", _apart),
    account_number("cpf", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _apart),
    account_number("queue", r"sqs\.[a-z0-9-]+\.amazonaws\.com/(?P<v>[0-9]{12})/", any_value),
    host_name("ipv4", r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", _internet),
    host_name(
        "ipv6",
        r"[0-9a-fA-F]{2,4}(?::[0-9a-fA-F]{1,4}){1,6}::?(?:[0-9a-fA-F]{1,4}:?){1,6}|fe80::[0-9a-fA-F:]{4,}",
        _internet,
        trigger=r"[0-9a-fA-F]{2,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F:]*:[0-9a-fA-F]|fe80::[0-9a-fA-F:]{4,}",
    ),
    phone_number(
        "telephone", rf"{CALLS}{TO}{DIGITS}", _telephone, trigger=rf"{CALLS}{TO}[(+0-9][0-9 (]"
    ),
    phone_number(
        "international",
        r"(?P<v>\+[1-9][0-9]{0,2}[ -]?\(?[0-9][0-9 ()./-]{5,18}[0-9])",
        _international,
        trigger=r"\+[1-9][0-9 (-]{8}",
    ),
    phone_number("national", r"(?P<v>\([2-9][0-9]{2}\) [2-9][0-9]{2}-[0-9]{4})", _telephone),
    account_number(
        "iban",
        r"(?P<v>[A-Z]{2}[0-9]{2}[ ]?(?:[A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4})",
        _bank,
        trigger=r"[A-Z]{2}[0-9]{2}[ ]?[A-Z0-9]{4}[ ]?[0-9]{4}",
    ),
    account_number(
        "card",
        r"(?P<v>(?:[3-6][0-9]|2[2-7])[0-9]{2}(?:[ -][0-9]{4}){3}|[3-6][0-9]{12,18}|2[2-7][0-9]{14})",
        _card,
        trigger=r"[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -]|[3-6][0-9]{12}|2[2-7][0-9]{14}",
    ),
    account_number(
        "social",
        r"(?:SSN|ssn|[sS]ocial[ _][sS]ecurity)[^\x00-\x1f0-9]{1,20}(?P<v>[0-9]{3}-[0-9]{2}-[0-9]{4})",
        any_value,
    ),
    account_number(
        "account-number",
        rf"{ACCOUNTS}(?:{QUOTE})?[ ]?(?:[:=#]|is|ist)?[ ]?(?:{QUOTE})?(?P<v>[A-Z]{{0,3}}[0-9][0-9A-Z-]{{5,20}})",
        _number,
        trigger=rf"{ACCOUNTS}(?:{QUOTE})?[ ]?(?:[:=#]|is|ist)?[ ]?(?:{QUOTE})?[A-Z]*[0-9]{{3}}",
    ),
    account_number(
        "tax",
        rf"(?:USt-Id(?:-?Nr\.?)?|UID|VAT|NIF|CIF|DNI|NIE|PESEL|BSN|CNPJ|NINO|EIN|SIREN|SIRET|AHV|CURP|Aadhaar|Steuer-?ID|Codice Fiscale|[cC]odice fiscale|[pP]ersonnummer)"
        rf"(?:[ ](?:ID|[nN]o\.?|[nN]umber|[nN]r\.?))?(?:{QUOTE})?[ :=#.]{{1,3}}(?:{QUOTE})?(?P<v>[A-Z]{{0,6}}[0-9][0-9A-Z. -]{{5,20}}[0-9A-Z])",
        _number,
    ),
    account_number(
        "bucket", r"[a-z0-9]-(?P<v>[0-9]{12})-(?:us|eu|ap|sa|ca|me|af)-[a-z]+-[0-9]", any_value
    ),
    account_number("registry", r"(?P<v>[0-9]{12})\.dkr\.ecr\.", any_value),
    account_number("customer", r"(?P<v>(?:cus|acct|sub|pm)_[A-Za-z0-9]{14,24})", any_value),
    account_number(
        "tenant",
        rf"(?:[sS]ubscriptions?|[tT]enant|TENANT|SUBSCRIPTION)[_-]?(?:ID|[iI]d)?(?:{QUOTE})?[ ]?[:=/ ][ ]?(?:{QUOTE})?"
        r"(?P<v>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})",
        any_value,
    ),
)
