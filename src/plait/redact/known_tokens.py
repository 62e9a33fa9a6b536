"""The keys that tell what they are by how they begin: one family each."""

from plait.redact.look_alikes import run_of
from plait.redact.model import Family

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
    ("slack", "slack token", "xox[abposrce](?:\\.xox[abp])?-", URL, 24, 0),
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
KEYS: tuple[Family, ...] = (*IRREGULAR[:4], *_rows_as_families(), *IRREGULAR[4:])
