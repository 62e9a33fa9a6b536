"""Chance to planted secrets in the places where logs have them.

Every secret is put together from parts when it is needed: none stands in a file.
"""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from urllib.parse import quote

from tests.redact.letters import ALNUM, B64, DIGITS, HEX, LOWER, UPPER, URL, drawn
from tests.redact.rule_sets import ROWS, made


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a secret in it."""

    family: str
    place: str
    text: str
    parts: tuple[str, ...]
    """What must not be left: the secret, or its parts where a line break cuts it."""


def uuid(rng: Random) -> str:
    """Return an id in the form of a uuid."""
    return "-".join(drawn(rng, HEX, count) for count in (8, 4, 4, 4, 12))


def jwt(rng: Random) -> str:
    """Return a token of three parts."""
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = json.dumps({"sub": drawn(rng, DIGITS, 10), "iat": 1_700_000_000}).encode()
    return f"{head}.{base64.urlsafe_b64encode(body).decode().rstrip('=')}.{drawn(rng, URL, 43)}"


# label, how it begins, its letters, how many follow
KEYS: tuple[tuple[str, str, str, int], ...] = (
    ("aws access key", "AK" + "IA", UPPER + "234567", 16),
    ("google api key", "AI" + "za", URL, 35),
    ("google access token", "ya" + "29.", URL, 120),
    ("google client secret", "GOC" + "SPX-", URL, 28),
    ("digitalocean token", "do" + "p_v1_", HEX, 64),
    ("heroku key", "HRKU" + "-AA", URL, 58),
    ("fly.io token", "fo" + "1_", URL, 43),
    ("alibaba access key", "LT" + "AI", ALNUM, 20),
    ("tencent secret id", "AK" + "ID", ALNUM, 32),
    ("supabase token", "sb" + "p_", HEX, 40),
    ("vercel token", "vc" + "p_", ALNUM, 56),
    ("netlify token", "nf" + "p_", ALNUM, 36),
    ("planetscale token", "pscale" + "_tkn_", URL, 43),
    ("doppler token", "dp" + ".pt.", ALNUM, 43),
    ("pulumi token", "pu" + "l-", HEX, 40),
    ("vault token", "hv" + "s.", URL, 90),
    ("databricks token", "da" + "pi", HEX, 32),
    ("tailscale key", "tskey" + "-auth-", ALNUM, 36),
    ("anthropic key", "sk-" + "ant-api03-", URL, 93),
    ("anthropic key", "sk-" + "ant-oat01-", URL, 93),
    ("openai key", "sk-" + "proj-", URL, 120),
    ("openai key", "s" + "k-", ALNUM, 48),
    ("openrouter key", "sk-" + "or-v1-", HEX, 64),
    ("hugging face token", "h" + "f_", LOWER + UPPER, 34),
    ("groq key", "gs" + "k_", ALNUM, 52),
    ("replicate token", "r" + "8_", ALNUM, 37),
    ("xai key", "xa" + "i-", ALNUM, 80),
    ("perplexity key", "ppl" + "x-", ALNUM, 48),
    ("cerebras key", "cs" + "k-", LOWER + DIGITS, 48),
    ("nvidia key", "nva" + "pi-", URL, 64),
    ("tavily key", "tvl" + "y-", ALNUM, 32),
    ("langsmith key", "lsv2" + "_pt_", HEX, 43),
    ("github token", "gh" + "p_", ALNUM, 36),
    ("github token", "gh" + "o_", ALNUM, 36),
    ("github token", "gh" + "s_", ALNUM, 36),
    ("github token", "github" + "_pat_", ALNUM, 82),
    ("gitlab token", "gl" + "pat-", URL, 20),
    ("bitbucket app password", "AT" + "BB", ALNUM, 32),
    ("atlassian token", "AT" + "ATT3", URL, 180),
    ("sourcegraph token", "sg" + "p_", HEX, 40),
    ("slack token", "xo" + "xb-", DIGITS + ALNUM, 50),
    ("slack token", "xo" + "xp-", DIGITS + ALNUM, 60),
    ("slack app token", "xap" + "p-1-", ALNUM, 80),
    ("stripe key", "sk_" + "live_", ALNUM, 24),
    ("stripe key", "rk_" + "live_", ALNUM, 99),
    ("webhook secret", "wh" + "sec_", ALNUM, 32),
    ("square token", "sq0" + "atp-", URL, 22),
    ("plaid token", "access-" + "production-", HEX, 40),
    ("npm token", "np" + "m_", ALNUM, 36),
    ("pypi token", "pypi" + "-AgEIcHlwaS5vcmc", URL, 120),
    ("rubygems key", "rubyg" + "ems_", HEX, 48),
    ("docker token", "dckr" + "_pat_", URL, 27),
    ("nuget key", "oy" + "2", LOWER + DIGITS, 43),
    ("crates.io token", "ci" + "o", ALNUM, 32),
    ("mailgun key", "ke" + "y-", HEX, 32),
    ("twilio key", "S" + "K", HEX, 32),
    ("brevo key", "xkey" + "sib-", HEX, 81),
    ("new relic key", "NR" + "AK-", UPPER + DIGITS, 27),
    ("sentry token", "sntr" + "yu_", HEX, 64),
    ("grafana token", "gl" + "sa_", ALNUM, 41),
    ("posthog key", "ph" + "x_", ALNUM, 43),
    ("sonar token", "sq" + "p_", HEX, 40),
    ("shopify token", "shp" + "at_", HEX, 32),
    ("linear key", "lin" + "_api_", ALNUM, 40),
    ("notion token", "nt" + "n_", ALNUM, 46),
    ("notion token", "secr" + "et_", ALNUM, 43),
    ("figma token", "fig" + "d_", URL, 40),
    ("contentful token", "CFP" + "AT-", URL, 43),
    ("dropbox token", "s" + "l.", URL, 140),
    ("aws bedrock key", "AB" + "SK", ALNUM, 128),
    ("google refresh token", "1/" + "/0", URL, 60),
    ("scaleway key", "SC" + "W", UPPER + DIGITS, 17),
    ("supabase secret key", "sb_" + "secret_", URL, 31),
    ("render key", "rn" + "d_", ALNUM, 32),
    ("cloudflare origin key", "v1" + ".0-", HEX, 170),
    ("cloudflare token", "cf" + "ut_", ALNUM, 48),
    ("ngrok token", "ak" + "_2", ALNUM, 26),
    ("fireworks key", "f" + "w_", ALNUM, 24),
    ("together key", "tgp" + "_v1_", URL, 43),
    ("elevenlabs key", "s" + "k_", HEX, 48),
    ("voyage key", "p" + "a-", URL, 43),
    ("firecrawl key", "f" + "c-", HEX, 32),
    ("cursor key", "ke" + "y_", HEX, 64),
    ("razorpay key", "rzp" + "_live_", ALNUM, 14),
    ("flutterwave key", "FLW" + "SECK-", ALNUM, 32),
    ("artifactory key", "AK" + "Cp", ALNUM, 69),
    ("clojars token", "CLO" + "JARS_", LOWER + DIGITS, 60),
    ("honeycomb key", "hc" + "aik_", ALNUM, 58),
    ("dynatrace token", "dt" + "0c01.", UPPER + DIGITS, 88),
    ("typeform token", "tf" + "p_", ALNUM, 59),
    ("readme key", "rd" + "me_", LOWER + DIGITS, 70),
    ("prefect key", "pn" + "u_", ALNUM, 36),
    ("easypost key", "EZ" + "AK", ALNUM, 54),
    ("1password token", "ops" + "_eyJ", ALNUM, 250),
    ("twitter bearer token", "A" * 21, ALNUM, 80),
    ("age secret key", "AGE-" + "SECRET-KEY-1", UPPER + DIGITS, 58),
)


def key(rng: Random, row: tuple[str, str, str, int]) -> str:
    """Return a key of one family."""
    _, head, letters, count = row
    return (
        head
        + drawn(rng, ALNUM if "-" in letters else letters, 1)
        + drawn(rng, letters, count - 2)
        + drawn(rng, "".join(sorted(set(letters) - set("-_"))), 1)
    )


IRREGULAR: dict[str, Callable[[Random], str]] = {
    "airtable token": lambda r: f"pat{drawn(r, ALNUM, 14)}.{drawn(r, HEX, 64)}",
    "azure client secret": lambda r: f"{drawn(r, ALNUM, 3)}8Q~{drawn(r, ALNUM, 34)}",
    "braintree token": lambda r: (
        "access_token$production$" + f"{drawn(r, LOWER + DIGITS, 16)}${drawn(r, HEX, 32)}"
    ),
    "discord bot token": lambda r: (
        f"MT{drawn(r, ALNUM, 24)}.G{drawn(r, ALNUM, 5)}" + f".{drawn(r, ALNUM, 38)}"
    ),
    "hubspot token": lambda r: f"pat-na1-{uuid(r)}",
    "json web token": jwt,
    "langfuse secret key": lambda r: f"sk-lf-{uuid(r)}",
    "mapbox secret token": lambda r: f"sk.eyJ{drawn(r, ALNUM, 60)}.{drawn(r, ALNUM, 22)}",
    "slack webhook": lambda r: (
        "https://hooks.slack.com/services/"
        + f"T{drawn(r, UPPER, 10)}/B{drawn(r, UPPER, 10)}/{drawn(r, ALNUM, 24)}"
    ),
    "discord webhook": lambda r: (
        "https://discord.com/api/webhooks/" + f"1{drawn(r, DIGITS, 18)}/{drawn(r, URL, 68)}"
    ),
    "teams webhook": lambda r: (
        "https://acme.webhook.office.com/webhookb2/"
        + f"{uuid(r)}@{uuid(r)}/IncomingWebhook/{drawn(r, HEX, 32)}"
    ),
    "mailchimp key": lambda r: f"{drawn(r, HEX, 32)}-us{r.randrange(1, 20)}",
    "postman key": lambda r: f"PMAK-{drawn(r, HEX, 24)}-{drawn(r, HEX, 34)}",
    "resend key": lambda r: f"re_{drawn(r, ALNUM, 8)}_{drawn(r, ALNUM, 24)}",
    "sendgrid key": lambda r: f"SG.{drawn(r, ALNUM, 22)}.{drawn(r, ALNUM, 43)}",
    "telegram bot token": lambda r: f"{drawn(r, '123456789', 10)}:AA{drawn(r, ALNUM, 33)}",
    "terraform token": lambda r: f"{drawn(r, ALNUM, 14)}.atlasv1.{drawn(r, ALNUM, 67)}",
}

# Where a key that tells what it is may stand.
PLACES: dict[str, str] = {
    "prompt": "please use {} for the calls, it expires tomorrow",
    "quoted": 'client = Client("{}", timeout=30)',
    "env file": "# settings\nSERVICE={}\nDEBUG=1\n",
    "export": "$ export SERVICE='{}'",
    "yaml": "service:\n  auth: {}\n  retries: 3\n",
    "json": '{{"service":{{"auth":"{}","retries":3}}}}',
    "json in json": '{{"body":"{{\\"auth\\":\\"{}\\"}}"}}',
    "escaped line": '"content": "first\\n{}\\nlast"',
    "curl": "curl -sS -H 'X-Auth: {}' https://api.example.com/v1/items",
    "address": "https://api.example.com/v1/items?auth={}&limit=10",
    "traceback": 'ValueError: 401 for credentials {} (request 7f)\n  File "x.py", line 3',
    "added line": "@@ -1,2 +1,3 @@\n import os\n+client = {}\n-client = None\n",
    "read": "     1→import os\n     2→client = '{}'\n     3→",
    "colours": "\x1b[32mservice\x1b[0m = \x1b[1;33m{}\x1b[0m",
    "markdown": "| name | value |\n|---|---|\n| service | `{}` |",
    "tuple": "('service', '{}', None)",
    "tag": '<add key="service" value="{}"/>',
    "docker file": "FROM python:3.12\nENV SERVICE={}\nRUN make",
    "log line": "2026-11-02T09:00:00Z INFO connecting with {}, attempt 1",
    "arguments": "./deploy --region eu --with {} --yes",
}


def split_over_lines(rng: Random, secret: str) -> tuple[str, tuple[str, ...]]:
    """Return a secret that a narrow terminal broke, and its parts."""
    cut = len(secret) // 2 + rng.randrange(3)
    text = f"the value that the service gave us is {secret[:cut]}\n{secret[cut:]}\n"
    return text, (secret[:cut], secret[cut:])


def planted(seed: int = 7) -> Iterator[Planted]:
    """Yield all planted secrets."""
    rng = Random(seed)
    yield from keys_in_places(rng)
    yield from cut_keys(rng)
    yield from written_otherwise(rng)
    yield from told_by_surroundings(rng)
    yield from private_keys(rng)
    for family, forms in (("other form", FORMS), ("not told", NOT_TOLD)):
        for form in forms:
            secret = drawn(rng, ALNUM, 24)
            yield Planted(family, form, form.format(secret), (secret,))


def keys_in_places(rng: Random) -> Iterator[Planted]:
    """Yield keys of every family, each in four places."""
    makers = [(row[0], partial(key, row=row)) for row in KEYS] + list(IRREGULAR.items())
    makers += [(label, partial(made, form=form)) for label, form in ROWS]
    names = sorted(PLACES)
    for number, (family, make) in enumerate(makers):
        for step in range(4):
            name = names[(number * 4 + step) % len(names)]
            secret = make(rng)
            parts = (secret.rpartition("/")[2] if "://" in secret else secret,)
            yield Planted(family, name, PLACES[name].format(secret), parts)


def cut_keys(rng: Random) -> Iterator[Planted]:
    """Yield keys that a line break or a colour cuts in two."""
    for row in KEYS[::3]:
        secret = key(rng, row)
        text, parts = split_over_lines(rng, secret)
        yield Planted(row[0], "over two lines", text, parts)
        secret = key(rng, row)
        text = f"{secret[:2]}\x1b[31m{secret[2:14]}\x1b[0m{secret[14:]}"
        yield Planted(row[0], "cut by colours", text, (secret[2:14], secret[14:]))


COMMON = [row for row in KEYS if row[1] in ("gh" + "p_", "sk-" + "ant-api03-", "xo" + "xb-")]


def written_otherwise(rng: Random) -> Iterator[Planted]:
    """Yield keys in base64, with percent codes and with escapes."""
    for row in COMMON * 3:
        secret = key(rng, row)
        hidden = base64.b64encode(secret.encode()).decode()
        yield Planted(row[0], "base64", f"data:\n  value: {hidden}\n", (hidden.rstrip("="),))
        yield Planted(row[0], "base64", f"echo {hidden} | base64 -d", (hidden.rstrip("="),))
        secret = key(rng, row)
        written = secret.replace("-", "\\u002d").replace("_", "\\u005F")
        yield Planted(row[0], "escapes", f'{{"auth":"{written}"}}', (written, secret))
    for _ in range(4):
        password = drawn(rng, ALNUM, 14)
        link = quote(f"postgres://app:{password}@db.example.com:5432/shop", safe="")
        yield Planted("password in an address", "percent codes", f"?next={link}", (password,))
        link = f"mysql:\\/\\/app:{password}@db.example.com\\/shop"
        yield Planted("password in an address", "escapes", f'{{"url":"{link}"}}', (password,))
        hidden = base64.b64encode(f"redis://:{password}@cache:6379".encode()).decode()
        yield Planted("password in an address", "base64", f"url: {hidden}", (hidden.rstrip("="),))


# What only the surroundings tell: family, places.
TOLD: dict[str, tuple[str, ...]] = {
    "secret in a setting": (
        "DB_PASSWORD={}\n",
        "export API_TOKEN='{}'",
        "  password: {}\n  host: db\n",
        '{{"client_secret": "{}", "id": 7}}',
        '{{\\"apiKey\\":\\"{}\\"}}',
        'const secretKey = "{}";',
        "aws_secret_access_key = {}\n",
        "spring.datasource.password={}\n",
        "Server=db;User Id=app;Password={};Encrypt=true",
        "jdbc:sqlserver://db:1433;user=app;password={};",
        "https://api.example.com/items?access_token={}&page=2",
        "x-api-key: {}\n",
        "-e POSTGRES_PASSWORD={} postgres:16",
        "env:\n  - name: SESSION_SECRET\n    value: {}\n",
        '{{"name":"SESSION_SECRET","value":"{}"}}',
        "+STRIPE_SECRET_KEY={}\n",
        "     3→SECRET_KEY = '{}'\n",
        "//registry.example.com/:_authToken={}\n",
        "os.environ['SERVICE_TOKEN'] = '{}'",
        "<password>{}</password>",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};Suffix=y",
        'auth_token: "{}"\n',
        "set -gx ENCRYPTION_KEY {}",
        "kind: Secret\ndata:\n  token: {}\n",
        "DD_API_KEY={} datadog-agent run",
        'TF_VAR_db_password="{}" terraform apply',
    ),
    "authorization header": (
        "Authorization: Bearer {}\n",
        "-H 'Authorization: Bearer {}'",
        '"Authorization": "token {}"',
        '{{\\"authorization\\":\\"Bearer {}\\"}}',
        "> authorization: Bearer {}\r\n",
        "headers={{'Authorization': 'Bearer {}'}}",
    ),
    "bearer token": ("curl with Bearer {} worked", "Bearer%20{}"),
    "cookie": (
        "Cookie: sid={}; theme=dark\n",
        "Set-Cookie: session={}; Path=/; HttpOnly; Secure\n",
        "-H 'cookie: _gh_sess={}'",
    ),
    "password in an address": (
        "postgres://app:{}@db.example.com:5432/shop",
        "mongodb+srv://app:{}@cluster0.example.net/?retryWrites=true",
        "redis://:{}@cache:6379/0",
        "amqp://worker:{}@mq/vhost",
        "git remote add origin https://ci:{}@git.example.com/a/b.git",
        "https://oauth2:{}@gitlab.example.com/a/b.git",
        'DATABASE_URL="mysql://root:{}@localhost/shop"',
        "pip install --extra-index-url https://reader:{}@pkgs.example.com/simple x",
    ),
    "token in an address": ("git clone https://{}@git.example.com/a/b.git",),
    "password of a command": (
        "curl -u admin:{} https://ci.example.com/job",
        "curl --user 'admin:{}' https://ci.example.com",
        "mysql -h db -u root -p{} shop",
        "sshpass -p '{}' ssh web1",
        "docker login -u me -p {} registry.example.com",
        "vault login --token {} --no-print",
        "tool sync --password {} --all",
    ),
    "password of netrc": ("machine git.example.com login ci password {}\n",),
    "azure signature": (
        "https://x.blob.core.windows.net/c/f?sv=2024&sig={}%2F" + "A" * 3 + "x%3D&se=2026",
    ),
}
LENGTHS = {"azure signature": 44, "token in an address": 40}

# Forms that were written down before anybody looked whether they are found.
FORMS: tuple[str, ...] = (
    'db_password = "{}"',
    "  adminPassword: {}\n",
    "//npm.pkg.github.com/:_authToken={}",
    "[pypi]\nusername = x\npassword = {}\n",
    "    token: {}\n",
    "aws_session_token={}\n",
    'DATABASES = {{"default": {{"PASSWORD": "{}"}}}}',
    "      - MYSQL_ROOT_PASSWORD={}\n",
    "      POSTGRES_PASSWORD: {}\n",
    "define('DB_PASSWORD', '{}');",
    '$env:API_TOKEN = "{}"',
    'var apiKey = "{}";',
    'private static final String SECRET = "{}";',
    'ApiKey: "{}",',
    "ALTER USER app IDENTIFIED BY '{}';",
    "CREATE ROLE app LOGIN PASSWORD '{}';",
    "SMTP_PASS={}\n",
    "requirepass {}\n",
    "PGPASSWORD={} psql -h db",
    "openssl rsa -passin pass:{} -in k",
    "keytool -storepass {} -list",
    "ansible_become_pass: {}\n",
    "az login -u me -p {}\n",
    "ftp://me:{}@files.example.com/",
    "jdbc:mysql://db/x?user=a&password={}",
    "client_secret={}&grant_type=client_credentials",
    '"refresh_token":"{}"',
    '"access_token" : "{}"',
    "X-Auth-Token: {}\r\n",
    "x-goog-api-key: {}\n",
    "--build-arg NPM_TOKEN={} .",
    "wget --password={} https://x",
    "http --auth me:{} example.com",
    "Set-Cookie: JSESSIONID={}; Path=/",
    '"cookie": "connect.sid=s%3A{}.abc"',
    'twilio_auth_token: "{}"',
    "JWT_SECRET={}",
    'NEXTAUTH_SECRET="{}"',
    "SECRET_KEY_BASE: {}",
    '"privateKey": "{}"',
    "api-key={}",
    "password is: {}",
    "The password is {}",
    "user=app password={} host=db",
    "Password={};",
    'auth=("me", "{}")',
    "Authorization: ApiKey {}",
    "Authorization: {}",
    'os.environ.setdefault("STRIPE_KEY", "{}")',
    "sed -i s/TOKEN=.*/TOKEN={}/ .env",
    "token='{}'",
    "const password = `{}`",
    '<setting name="ApiKey" value="{}"/>',
    'MAILGUN_SMTP_PASSWORD="{}"',
    "  clientSecret: {}\n",
    '"apiSecret": "{}"',
    "ENV SENTRY_AUTH_TOKEN {}",
    "ENV GH_TOKEN={}",
    "helm install x --set auth.password={}",
    "kubectl create secret generic s --from-literal=password={}",
    "spring.mail.password: {}",
    'datasource:\n  password: "{}"\n',
    '$password = ConvertTo-SecureString "{}" -AsPlainText',
    'connection = psycopg2.connect(user="a", password="{}")',
    'redis.Redis(password="{}")',
    "new Client({{ password: '{}' }})",
    "export OPENAI_KEY={}",
    "export MY_SECRET={}",
    '"bearer_token": "{}"',
    'curl "https://x/?api_key={}"',
    'curl -H "PRIVATE-TOKEN: {}"',
    'curl -H "X-Vault-Token: {}"',
    'curl -H "apikey: {}"',
    'hashed_password_salt = "{}"',
    "Your new API key: {}",
    "API key: {}",
    "Access token: {}",
    "access key {}",
    "Login with user bob and password {}",
    "PASSWORD: {}",
    "pwd={}",
    "ROOT_PW={}",
    "export VAULT_TOKEN={}",
    "LD_SDK_KEY={}",
    "SNYK_TOKEN={}",
    "CODECOV_TOKEN={}",
    "FIREBASE_TOKEN: {}",
    "AZURE_CLIENT_SECRET={}",
)
# What nothing near it tells: not found, and counted as such.
NOT_TOLD: tuple[str, ...] = (
    'echo "{}" | docker login --password-stdin',
    "gh auth login --with-token <<< {}",
    "kubectl create secret generic s --from-literal=key={}",
    "login: admin / {}",
    "secrets:\n  db: {}\n",
    'sudo -S <<< "{}"',
)


def told_by_surroundings(rng: Random) -> Iterator[Planted]:
    """Yield passwords and keys without a form of their own."""
    for family, places in TOLD.items():
        for number, place in enumerate(places):
            for _ in range(3):
                secret = drawn(rng, ALNUM, LENGTHS.get(family, 24 + number % 9))
                yield Planted(family, place.split("{}")[0].strip(), place.format(secret), (secret,))
    for _ in range(6):
        login = f"{drawn(rng, LOWER, 5)}:{drawn(rng, ALNUM, 12)}"
        hidden = base64.b64encode(login.encode()).decode()
        for text in ("Authorization: Basic {}\n", '{{"auths":{{"hub":{{"auth":"{}"}}}}}}'):
            yield Planted(
                "docker login" if "auths" in text else "authorization header",
                "basic",
                text.format(hidden),
                (hidden.rstrip("="),),
            )
    for word in ("Summer", "correct-horse", "Tr0ub4dor", "letmein", "zebra"):
        password = f"{word}{rng.randrange(10, 99)}!"
        for place in ("DB_PASSWORD={}\n", 'password: "{}"', "password = '{}'", "psql://a:{}@db/x"):
            yield Planted("chosen password", place, place.format(password), (password,))


def private_keys(rng: Random) -> Iterator[Planted]:
    """Yield private keys: in lines, in one line, in patches, numbered, and cut."""
    for kind in ("RSA ", "", "EC ", "OPENSSH ", "PGP ", "ENCRYPTED "):
        block = " BLOCK" if kind == "PGP " else ""
        body = [drawn(rng, B64, 64) for _ in range(5)] + [drawn(rng, B64, 30) + "=="]
        first = f"-----BEGIN {kind}PRIVATE KEY{block}-----"
        last = f"-----END {kind}PRIVATE KEY{block}-----"
        lines = [first, *body, last]
        parts = tuple(line.rstrip("=") for line in body)
        numbered = "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, 1))
        for place, text in {
            "lines": "\n".join(lines) + "\nrest",
            "one line": '{"private_key":"' + "\\n".join(lines) + '\\n"}',
            "twice escaped": '"{\\"key\\":\\"' + "\\\\n".join(lines) + '\\"}"',
            "patch": "\n".join("+" + line for line in lines) + "\n context",
            "numbered": numbered,
            "indented": "key: |\n" + "\n".join("    " + line for line in lines),
            "cut": "\n".join(lines[:4]),
            "crlf": "\r\n".join(lines),
        }.items():
            kept = parts[:3] if place == "cut" else parts
            yield Planted("private key", place, text, kept)
