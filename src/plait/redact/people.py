"""What tells of people and machines: home paths, logins, hosts, addresses, accounts."""

import re

from plait.redact.look_alikes import NOTHING, WORD, is_at_word_start
from plait.redact.model import Family, TextSpan

QUOTE = r"""\\{0,7}["']"""

# Names that many machines share tell nothing of anybody.
NOBODY = frozenset(
    b"""user username users you me name runner ubuntu node vscode codespace linuxbrew shared public
    default circleci gitpod jovyan ec2-user vagrant pi app appuser root sandbox coder git postgres
    www-data admin administrator guest test docker jenkins gitlab-runner home-user youruser
    your-username yourname your_username xxx somebody someone all-users index page dashboard feed
    settings about profile foo bar whoever target project workspace""".split()
)
DRIVE = re.compile(
    rb"(?:[A-Za-z]:|/mnt/[a-z]|(?:\A|[^\w])/[a-z]|/(?:export|var|usr|nfs|data)|wsl[^\n]{0,40})\Z"
)
SPACED_NAME = re.compile(rb"[A-Za-z0-9_.\-]+(?: [A-Za-z0-9_.\-]+){1,2}(?=\\)")
USER_BEFORE = re.compile(rb"[A-Za-z_][A-Za-z0-9_.\-]{0,31}\Z")
LOGIN_BEFORE = re.compile(rb"(?::(?:\\{0,4}/){2}[^\x00-\x20/@]*:?|@)\Z")
ADDRESS_BEFORE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.%+\-]{0,63}\Z")
LABELS_BEFORE = re.compile(rb"[A-Za-z0-9](?:[A-Za-z0-9\-]*\.)*[A-Za-z0-9\-]*\Z")
PUBLIC_HOSTS = frozenset(
    b"""host.docker.internal gateway.docker.internal host.containers.internal
    metadata.google.internal cluster.local localhost.localdomain example.local my.local
    foo.local""".split()
)
NO_HOST = frozenset(
    b"localhost github.com gitlab.com bitbucket.org host server hostname file link".split()
)
CODE = frozenset(
    b"""com org net io java jdk sun env settings config threading this self module react node kotlin
    scala package lib src core test tests _ claude""".split()
)
SOFTWARE = re.compile(
    rb"(?i)\.(?:png|jpe?g|gif|svg|webp|js|mjs|cjs|ts|tsx|jsx|py|rb|rs|go|md|css|json|ya?ml|toml|sh"
    rb"|html?|txt|so|dll|lock|java|kt|php|vue|git|service|timer|socket|target|method|setter|getter)\Z"
)
COMMON_DOMAIN = re.compile(rb"@[^@]+\.(?:com|org|net|edu|gov|io|dev|eu|de|fr|uk|es|it|nl|ch|at)\Z")
OPEN_ADDRESS = re.compile(
    rb"(?i)(?:git|noreply|no-reply|donotreply|npm|hg|svn|ssh)@"
    rb"|(?:you|your[._-]?(?:name|email)|user|username|name|me|email|someone|foo|bar|test|tester|a|b|x"
    rb"|alice|bob|john|jane|john[._-]?doe|jane[._-]?doe|admin|info|first\.last)@"
    rb"(?:[a-z0-9-]+\.)*(?:example|test|localhost|domain|email|mail|acme|company|foo|bar|x|y|b)\."
    rb"|.*@users\.noreply\.github\.com\Z|.*\.(?:test|invalid|localhost|example)\Z"
)


def _home(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    start = match.start
    if not _is_at_path_start(text, start) and not DRIVE.search(text, max(0, start - 60), start):
        return NOTHING
    spaced = SPACED_NAME.match(text, value.start) if text[value.start - 1] == 0x5C else None
    end = spaced.end() if spaced else value.end
    name = text[value.start : end].rstrip(b".")
    if len(name) < 2 or name.lower() in NOBODY or SOFTWARE.search(name):
        return NOTHING
    return (TextSpan(value.start, value.start + len(name)),)


def _is_at_path_start(text: bytes, start: int) -> bool:
    if start and text[start - 1] in b".~*-)}]$@?%":
        return False
    return is_at_word_start(text, start)


def _slug(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return NOTHING if text[value.start : value.end].lower() in NOBODY else (value,)


def _login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    name = text[value.start : value.end]
    user = USER_BEFORE.search(text, max(0, value.start - 33), value.start - 1)
    if user is None or user[0] == b"git" or name.lower() in NO_HOST:
        return NOTHING
    return (value,)


def _user_of_login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    user = USER_BEFORE.search(text, max(0, value.start - 33), value.start - 1)
    if user is None:
        return NOTHING
    span = TextSpan(_behind_escape(text, user.start()), user.end())
    name = text[span.start : span.end]
    return (span,) if len(name) > 1 and name.lower() not in NOBODY else NOTHING


def _host(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    name = text[value.start : value.end].lower()
    return NOTHING if name in (b"version", b"kernel", b"localhost", b"x86") else (value,)


def _internal(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    labels = LABELS_BEFORE.search(text, max(0, match.start - 80), match.start + 1)
    follows = text[match.end : match.end + 2]
    if labels is None or re.match(rb"[\w\-(]|\.[A-Za-z]", follows):
        return NOTHING
    start = _behind_escape(text, labels.start())
    if text[start] not in WORD:
        return NOTHING
    name = text[start : match.end].lower()
    first = name.partition(b".")[0]
    if start and text[start - 1] in b"._-/\\" and text[start - 3 : start] != b"://":
        return NOTHING
    is_linked = text[start - 3 : start] == b"://" or text[start - 1 : start] == b"@"
    is_machine = b"-" in first or any(48 <= one <= 57 for one in first) or name.count(b".") > 1
    if name in PUBLIC_HOSTS or first in CODE or not (is_linked or is_machine):
        return NOTHING
    return (TextSpan(start, match.end),)


def _email(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    before = ADDRESS_BEFORE.search(text, max(0, match.start - 64), match.start + 1)
    if before is None:
        return NOTHING
    start = before.start()
    start = _behind_escape(text, start)
    if text[start] not in WORD:
        return NOTHING
    address = _without_ending(text[start : match.end])
    is_login = LOGIN_BEFORE.search(text, max(0, start - 80), start) is not None
    if is_login or SOFTWARE.search(address) or OPEN_ADDRESS.match(address):
        return NOTHING
    return (TextSpan(start, start + len(address)),)


def _without_ending(address: bytes) -> bytes:
    ending = SOFTWARE.search(address)
    shorter = address[: ending.start()] if ending else address
    return shorter if ending and COMMON_DOMAIN.search(shorter) else address


def _behind_escape(text: bytes, start: int) -> int:
    return start + (start > 0 and text[start - 1] == 0x5C and text[start] in b"nrt")


def _given(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    return (value,)


ACCOUNT_NAMES = (
    "ownerAccountUuid",
    "ownerOrganizationUuid",
    "accountUuid",
    "organizationUuid",
    "account_uuid",
    "organization_uuid",
    "accountId",
    "organizationId",
    "organizationName",
    "account_id",
    "organization_id",
    "orgId",
    "org_id",
    "userID",
    "anonymousId",
)
DOMAINS = (
    r"(?:(?:internal|corp|intranet|intra|lan)\.[A-Za-z0-9.-]+\.(?:com|net|org|io|dev|cloud|eu|de|uk|fr)"
    r"|internal|local|lan|corp|intranet|intra|localdomain|home\.arpa)"
)
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"

USER_OF_LOGIN = Family("login-user", "", "", _user_of_login, "user")
PEOPLE: tuple[Family, ...] = (
    Family(
        "home",
        "",
        r"[/\\]{1,8}(?:home|Users|Benutzer|Usuarios|Utilisateurs|Utenti|Gebruikers|Documents and Settings)[/\\]{1,8}(?:[A-Z][A-Z0-9-]{1,15}[/\\]{1,8})?"
        r"(?P<v>[A-Za-z0-9_][A-Za-z0-9_.-]{0,31})",
        _home,
        "user",
    ),
    Family(
        "slug",
        "",
        r"projects[/\\]{1,8}(?:[A-Z]-)?-(?:home|Users)-(?P<v>[A-Za-z0-9]{1,32})",
        _slug,
        "user",
    ),
    Family(
        "login",
        "",
        rf"[A-Za-z0-9_-]@(?P<v>{HOST})(?::[~/]|[ ][^\x00-\x1f\]\"'\\]{{1,60}}\][$#]|[ ][^\x00-\x20\]\"'\\]{{1,40}}[ ][%$#][ ])",
        _login,
        "host",
    ),
    Family(
        "remote",
        "",
        r"(?:ssh|scp|rsync|sftp|mosh)(?:[ \t]+[A-Za-z0-9_./=\x80-\xff-]+)*"
        rf"[ \t]+[A-Za-z_][A-Za-z0-9_.-]*@(?P<v>{HOST})",
        _login,
        "host",
    ),
    Family("uname", "", rf"(?:Linux|Darwin) (?P<v>{HOST}) [0-9]{{1,2}}\.[0-9]", _host, "host"),
    Family("internal", "", rf"[A-Za-z0-9-]\.{DOMAINS}", _internal, "host"),
    Family(
        "email",
        "",
        r"[A-Za-z0-9_.%+-]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}",
        _email,
        "email",
    ),
    Family(
        "account",
        "",
        rf"(?:{'|'.join(ACCOUNT_NAMES)}){QUOTE}[ ]?:[ ]?{QUOTE}"
        r"(?P<v>[A-Za-z0-9@._ -]{6,64})\\{0,7}\"",
        _given,
        "account",
    ),
    Family("arn", "", r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(?P<v>[0-9]{12}):", _given, "account"),
)
ALSO: dict[str, Family] = {"login": USER_OF_LOGIN, "remote": USER_OF_LOGIN}
"""What a match of one family tells besides."""
