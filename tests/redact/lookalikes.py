"""Chance to texts that look as if they held a secret and hold none."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.redact.letters import ALNUM, B64, DIGITS, HEX, LOWER, UPPER, drawn
from tests.redact.planted import uuid


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A text that must stay as it is."""

    family: str
    text: str


def lookalikes(seed: int = 11) -> Iterator[LookAlike]:
    """Yield all look-alikes."""
    rng = Random(seed)
    yield from ids(rng)
    yield from digests(rng)
    yield from data(rng)
    for family, texts in PLAIN.items():
        for text in texts:
            yield LookAlike(family, text)


def ids(rng: Random) -> Iterator[LookAlike]:
    """Yield the ids that logs are full of."""
    for _ in range(6):
        for text in (
            uuid(rng),
            f'"uuid":"{uuid(rng)}","parentUuid":"{uuid(rng)}"',
            f"session {uuid(rng)} resumed",
            f"https://example.com/items/{uuid(rng)}?tab=1",
        ):
            yield LookAlike("uuid", text)
        for head in ("toolu_01", "msg_01", "req_011", "srvtoolu_01", "file_011", "batch_", "call_"):
            yield LookAlike("id of the api", f'"id":"{head}{drawn(rng, ALNUM, 22)}"')
        yield LookAlike("id of the api", f"agent-a{drawn(rng, HEX, 16)}.jsonl")
        yield LookAlike("id of the api", f"task {drawn(rng, LOWER + DIGITS, 9)} is running")


def digests(rng: Random) -> Iterator[LookAlike]:
    """Yield hashes in their usual places."""
    for number in range(6):
        sha1 = hashlib.sha1(str(number).encode()).hexdigest()
        sha256 = hashlib.sha256(str(number).encode()).hexdigest()
        sha512 = base64.b64encode(hashlib.sha512(str(number).encode()).digest()).decode()
        for text in (
            f"commit {sha1}\nAuthor: A",
            f"{sha1[:7]} Fix the token parser",
            f"index {sha1[:7]}..{sha1[7:14]} 100644",
            f"image: python@sha256:{sha256}",
            f"{sha256}  dist.tar.gz",
            f'"integrity": "sha512-{sha512}",',
            f'etag: W/"{sha1}"',
            f"package==1.0 --hash=sha256:{sha256}",
            f'checksum = "{sha256}"',
            f'"resolved": "https://npm.example.com/a/-/a-1.0.0.tgz#{sha1}"',
            f"md5 {hashlib.md5(sha1.encode()).hexdigest()}",
            f'"tree_hash": "{sha1}", "token_hash": "{sha256}"',
        ):
            yield LookAlike("hash", text)


def data(rng: Random) -> Iterator[LookAlike]:
    """Yield pictures, signatures and other long strings."""
    for _ in range(8):
        picture = "iVBORw0KGgo" + drawn(rng, B64, 900)
        yield LookAlike("picture", f'"data":"{picture}"')
        yield LookAlike("picture", f"![x](data:image/png;base64,{picture})")
        yield LookAlike("signature", f'"signature":"E{drawn(rng, B64, 400)}=="')
        yield LookAlike("signature", f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{drawn(rng, B64, 43)} a")
        certificate = "\n".join(drawn(rng, B64, 64) for _ in range(3))
        yield LookAlike(
            "certificate",
            f"-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----",
        )
        yield LookAlike("certificate", f"-----BEGIN PUBLIC KEY-----\n{certificate}")
        minified = ";".join(
            f"var {rng.choice(LOWER)}={rng.choice(LOWER)}.{drawn(rng, LOWER, 3)}" for _ in range(20)
        )
        yield LookAlike("minified code", f"!function(e,t){{{minified}}}(this);")
        yield LookAlike(
            "mapping", f'"mappings":"{",".join(drawn(rng, UPPER, 4) for _ in range(40))}"'
        )


PLAIN: dict[str, tuple[str, ...]] = {
    "placeholder": (
        "API_KEY=your-api-key-here",
        "ANTHROPIC_API_KEY=sk-ant-...",
        "export ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
        "OPENAI_API_KEY=sk-your-key",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password: changeme",
        "DB_PASSWORD=<your-password>",
        "token: <token>",
        "secret=***",
        "password=********",
        'api_key = "YOUR_API_KEY"',
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_TOKEN_HERE",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer {token}",
        "postgres://user:password@localhost:5432/db",
        "postgresql://postgres:postgres@localhost/test",
        "https://user:pass@example.com/",
        "redis://:password@localhost:6379",
        "mysql://root:<password>@db/x",
        "mongodb://USER:${PASSWORD}@host/db",
        "ANTHROPIC_API_KEY=sk-ant-api03-example-key-for-the-docs",
        "token: my-example-token-12345",
        "curl -u user:password https://x",
        "curl -u $USER:$PASS https://x",
        "--password <password>",
        "--token $GITHUB_TOKEN --yes",
        "password: '{{ vault_password }}'",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "SECRET_KEY=change-this-in-production",
        '{"password": "REDACTED"}',
        "api_key: null",
        "token=None",
        'secret: ""',
        "password=",
        "npm_config_token=%NPM_TOKEN%",
        "xoxb-your-token-here",
        "sk_live_...",
        "ghp_…",
    ),
    "code": (
        "password = getpass()",
        "password = getpass.getpass('Password: ')",
        "token: string;",
        "token: str | None = None",
        "def login(user: str, password: str) -> Token:",
        "const token = await getToken(user)",
        "const token = process.env.GITHUB_TOKEN",
        'token = os.environ["GITHUB_TOKEN"]',
        'password = os.getenv("DB_PASSWORD")',
        "secret = settings.SECRET_KEY",
        "this.apiKey = config.apiKey;",
        "apiKey: this.options.apiKey,",
        "if password == expected_password:",
        "return token.value.length > 0",
        "self.token_count = total_tokens",
        "secret: Secret<String>,",
        "let token = tokens.next().unwrap();",
        "token_type = 'bearer_header'",
        "tokenUrl: 'https://auth.example.com/oauth/token'",
        "password_field = page.locator('#password')",
        "PASSWORD_MIN_LENGTH = 12",
        "token_expiry_seconds = 3600",
        "max_tokens: 4096, input_tokens: 123456",
        '"input_tokens":12345678,"cache_read_input_tokens":987654',
        "next_page_token=response.nextPageToken",
        "csrf_token = generate_csrf_token()",
        "private_key_path = '/etc/ssl/private/server.key'",
        "secretName: my-app-tls",
        "secretKeyRef:\n  name: db\n  key: password",
        "credentials: 'include'",
        "credentials = service_account.Credentials.from_file(path)",
        "export class TokenService implements OnInit {",
        "@Input() password: FormControl;",
        "password: z.string().min(8).max(128),",
        "passwordHash: await bcrypt.hash(password, 10)",
        "api_key=api_key, secret=secret)",
        "Password = models.CharField(max_length=128)",
        "func (s *Server) SetToken(token string) error {",
        "match token { Token::Ident(name) => name }",
        "token = 'function_call_arguments'",
        'key = "api_key_name"',
        "PRIVATE_KEY_HEADER = 'x-private-key'",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        "secrets.token_urlsafe(32)",
        "access_token: accessToken,",
        "password: passwordInput.value,",
        "get_secret(name='db-password')",
        "eos_token='<|endoftext|>'",
        "Cookie: name=value; theme=dark",
        "document.cookie = 'theme=dark'",
        "chown -R node:node /app && docker run -u 1000:1000 x",
        "ssh_key_name: deploy-key-production",
        "auth: 'required'",
        'headers["Authorization"] = f"Bearer {token}"',
        "`Authorization: Bearer ${apiKey}`",
    ),
    "expression": (
        r"/password\s*=\s*['\"]([^'\"]+)['\"]/",
        r"ghp_[A-Za-z0-9]{36}",
        r"sk-ant-[a-zA-Z0-9_-]{20,}",
        r"re.compile(r'token=([A-Za-z0-9]+)')",
        r"(?i)api[_-]?key\s*[:=]\s*\S+",
        r"AKIA[0-9A-Z]{16}",
        r"xox[abp]-[0-9a-zA-Z-]{10,48}",
        r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+",
        r"-----BEGIN (RSA )?PRIVATE KEY-----",
        r"https?://[^:]+:[^@]+@",
        r"secret: '^[a-z0-9]{8,}$'",
        r"grep -E 'password|token=[a-f0-9]+' .env",
    ),
    "prose": (
        "The password must be at least 12 characters long.",
        "Your token: expired. Please log in again.",
        "Password: incorrect",
        "The secret is to keep functions small.",
        "token usage: 1234567 of 2000000",
        "Set the API key in the environment (see ANTHROPIC_API_KEY).",
        "Authorization: required for this endpoint",
        "it uses Bearer authentication for everything",
        "secrets: are kept in the vault",
        "password, token, secret: these words alone are harmless",
        "the access key: stored-in-keychain",
        "Add `token: write` to the workflow permissions",
        "permissions:\n  id-token: write\n  contents: read",
        "task-management-for-everyone and risk-assessment-documents",
        "desk-booking-system, flask-sqlalchemy-extension, sk-learn",
        "the cookie: a short history of web sessions",
        "pass: 120, fail: 3, skip: 7",
        "Linux kernel 6.1 has it",
        "npm_lifecycle_event npm_package_version npm_config_registry",
        "hf_transfer and hf_hub_download are enabled",
    ),
    "address": (
        "git@github.com:owner/name.git",
        "ssh://git@github.com/owner/name.git",
        "noreply@anthropic.com",
        "user@example.com",
        "react@18.2.0 and @types/node@20.11.5",
        "icon@2x.png",
        "uses: actions/checkout@v4",
        "@app.route('/login')",
        "@pytest.mark.parametrize",
        "python@3.12",
        "file.py@main",
        "lib@latest.js",
        "https://localhost:3000/@vite/client",
        "http://127.0.0.1:8080/x@y",
        "import x from '@scope/pkg.name'",
    ),
    "host": (
        "~/.local/bin/plait",
        ".env.local and settings.local.json",
        "CLAUDE.local.md",
        "threading.local()",
        "import com.sun.internal.Foo",
        "host.docker.internal:8080",
        "localhost:5432",
        "this.internal.value",
        "config.local",
        "node_modules/internal/x",
    ),
    "path": (
        "src/pages/home/index.tsx",
        "./home/user.py",
        "/home/user/project",
        "/home/runner/build/x",
        "GET /users/42/home",
        "import Home from '../home/Home'",
        "/Users/Shared/x",
        "/home/ubuntu/app.log",
        "C:\\Users\\Public\\x",
        "assets/Users/list.vue",
        "stay-at-home-parents-blog",
    ),
    "version": (
        "plait 2.1.325 (Claude Code)",
        "python-dateutil==2.9.0.post0",
        "v1.0-rc.1+build.20261102",
        "node:20.11.1-alpine3.19",
        "key-value stores and key-events",
        "SKU SK-1234567 and EAN 4006381333931",
        "AIzawa is a name",
        "xai-sdk, xai-style",
        "pul-request and pal-ette",
        "re_match_group and re_compile_flags_x",
        "fc-list and fc-cache -fv",
        "fw_update and fw_version_string_long_name",
        "rnd_generator_state_for_tests_only",
        "secret_manager_service_account_reader_role",
        "dapi-config.yaml",
        "key_management_and_rotation_policy",
    ),
    "more code and prose": (
        "The token is invalid, please retry",
        "password is required",
        "secret is stored in AWS",
        "set PASSWORD to something strong",
        "tokens: 512",
        'const KEY = "ArrowLeft"',
        "API_KEY is not set",
        'throw new Error("PASSWORD is missing")',
        "MAX_TOKEN, 1000",
        "getToken(userId)",
        'useState<string>("token")',
        'key: "user_preferences_v2"',
        'CACHE_KEY = "items:v3:2024"',
        'LOCAL_STORAGE_KEY = "app.settings.v1"',
        "REDIS_KEY=queue:jobs:42",
        "password, username = creds",
        "(password, salt) => hash",
        "TOKEN_URL, CLIENT_ID",
        "pass: 34, skip: 2",
        "if (pass == total)",
        "secret_key_id: 7",
        '"token": {"type": "string"}',
        "token by token",
        "translated to English",
        "ssh_authorized_keys: []",
        "private_key_file, cert_file",
        'auth = ("user", "pass")',
        'requests.get(url, auth=("user", "password"))',
        "SECRET_LENGTH, 32",
        '"keyPath": "id_v2_store1"',
        'DB_KEY_PREFIX = "shop:prod:1"',
        "Authorization: Bearer token123",
        'license_key: "XXXX-XXXX"',
        "webhook_secret=${SECRET}",
        "password: str = Field(..., min_length=8)",
        'tokenizer_class: "LlamaTokenizerFast2"',
        'key_id = "key_2024_01"',
    ),
}
