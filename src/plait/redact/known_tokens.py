"""The keys that tell what they are by how they begin: one family each."""

from plait.redact.look_alikes import NOTHING, is_at_word_start, is_placeholder, run_of
from plait.redact.model import Family, TextSpan
from plait.redact.strength import is_random

HEX = "a-f0-9"
ALNUM = "A-Za-z0-9"
WORD = "A-Za-z0-9_"
URL = r"A-Za-z0-9_\-"
DOTTED = r"A-Za-z0-9._\-"
B64 = "A-Za-z0-9+/="
FEWEST = 6

ROWS: tuple[tuple[str, str, str, str, int, int], ...] = (
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
    # from the rule sets of gitleaks and kingfisher (docs/decisions/0030)
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


def _rows_as_families() -> tuple[Family, ...]:
    return tuple(
        Family(
            name,
            label,
            f"{head}[{letters}]{{{FEWEST},}}",
            run_of(letters, least, most or None),
            head=head,
        )
        for name, label, head, letters, least, most in ROWS
    )


def _telling(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes what chance drew behind words that only keys begin with."""
    rest = text[value.start : value.end].rpartition(b"_")[2]
    is_key = len(rest) >= LEAST_TELLING and is_random(rest) and not is_placeholder(rest)
    is_escape = text[value.start - 1 : value.start] == b"\\"
    is_key = is_key and not is_escape and is_at_word_start(text, value.start)
    return (value,) if is_key else NOTHING


LEAST_TELLING = 20
IRREGULAR = (
    Family(
        "slack-hook",
        "slack webhook",
        r"hooks\.slack\.com\\{0,4}/(?:services|workflows|triggers)\\{0,4}/(?P<v>[A-Za-z0-9/+_\\-]{8,})",
        run_of(ALNUM + "/", 30),
    ),
    Family(
        "discord-hook",
        "discord webhook",
        r"discord(?:app)?\.com\\{0,4}/api\\{0,4}/webhooks\\{0,4}/(?P<v>[0-9]{17,20}\\{0,4}/[A-Za-z0-9_-]{8,})",
        run_of(URL, 60),
    ),
    Family(
        "teams-hook",
        "teams webhook",
        r"webhook\.office\.com\\{0,4}/webhookb2\\{0,4}/(?P<v>[A-Za-z0-9@/-]{8,})",
        run_of(URL, 60),
    ),
    Family(
        "discord",
        "discord bot token",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 50, 80, before=r"[MNO][A-Za-z0-9_-]{22,27}"),
    ),
    Family(
        "telegram",
        "telegram bot token",
        r":AA[A-Za-z0-9_-]{32,}",
        run_of(URL, 43, 50, before=r"[0-9]{8,10}"),
    ),
    Family(
        "sendgrid",
        "sendgrid key",
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 60, 80),
        head=r"SG\.",
    ),
    Family(
        "mailchimp",
        "mailchimp key",
        r"-us[0-9]{1,2}",
        run_of(HEX, 36, 38, before=r"[a-f0-9]{32}"),
    ),
    Family(
        "newrelic-license",
        "new relic key",
        r"NRAL",
        run_of(HEX + "NRAL", 40, 40, before=r"[a-f0-9]{36}"),
    ),
    Family(
        "asana",
        "asana token",
        r"[12]/[0-9]{13,20}(?:/[0-9]{13,20})?:[a-f0-9]{32}",
        run_of(HEX, 46),
    ),
    Family(
        "mws",
        "aws marketplace token",
        r"amzn\.mws\.[a-f0-9-]{36}",
        run_of(HEX + "-", 45, 45),
    ),
    Family(
        "azure-client",
        "azure client secret",
        r"[0-9]Q~[A-Za-z0-9_~.-]{31,}",
        run_of("A-Za-z0-9_~.-", 37, 42, before=r"[A-Za-z0-9_~.-]{3}"),
    ),
    Family(
        "terraform",
        "terraform token",
        r"\.atlasv1\.[A-Za-z0-9_=-]{8,}",
        run_of(URL, 60, before=r"[A-Za-z0-9]{14}"),
    ),
    Family(
        "braintree",
        "braintree token",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
        run_of(HEX, 60),
        head="access_token",
    ),
    Family(
        "jwt",
        "json web token",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{6,}|[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+)*",
        run_of(DOTTED, 40),
        head="eyJ",
    ),
    Family(
        "mapbox",
        "mapbox secret token",
        r"[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}",
        run_of(URL, 50),
        head=r"[sp]k\.eyJ",
    ),
)
TELLING = Family(
    "telling",
    "key that begins like one",
    r"[a-z][a-z0-9]{1,15}_(?:live|test|prod|production|sandbox|pat|sk|secret|sec|apikey|api|key|token|tkn|oat|sat|aat)_[A-Za-z0-9]{20,}",
    _telling,
)
KEYS: tuple[Family, ...] = (*IRREGULAR[:4], *_rows_as_families(), *IRREGULAR[4:], TELLING)
