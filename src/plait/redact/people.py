"""People and machines: home folders, user names, hosts, addresses, authors, accounts."""

import re

from plait.redact.given_names import GIVEN, begins_with_given_name
from plait.redact.likelihood import (
    BEGINS_LINE,
    NEW_LINE,
    NOTHING,
    QUOTE,
    WORD,
    any_value,
    is_at_word_start,
    is_in_patch,
    is_plain_word,
)
from plait.redact.model import Family, TextSpan, account_number, host_name, user_name
from plait.redact.names import (
    FULL,
    PARTICLES,
    PROGRAM,
    REVERSED,
    STREET,
    STREET_BEGINS,
    TITLED,
    UPPER,
    is_person,
    take_author_of_entry,
    take_name_of_age,
    take_name_of_number,
    take_names_of_address,
    take_numbered_street,
    take_person,
    take_street,
)

QUOTE_MARK = r"""\\{0,7}["']"""

# Names that many machines share reveal nothing about anybody.
NOBODY = frozenset(
    b"""user username users you me name runner ubuntu node vscode codespace linuxbrew shared public
    default circleci gitpod jovyan ec2-user vagrant pi app appuser root sandbox coder git postgres
    www-data admin administrator guest test docker jenkins gitlab-runner home-user youruser
    your-username yourname your_username xxx somebody someone all-users index page dashboard feed
    settings about profile foo bar whoever target project workspace""".split()
)
DRIVE = re.compile(
    rb"(?:[A-Za-z]:|/mnt/[a-z]|(?:\A|[^\w])/[a-z]|/(?:export|var|usr|nfs|data|opt|net|srv|mnt|storage|cluster|scratch"
    rb"|gpfs|lustre|hpc|shared|private|private/var|private/home|System/Volumes/Data|cygdrive/[a-z]|ssh-remote[^\s/]*|volume[0-9]{1,2}"
    rb"|Volumes/[\w. -]{1,40}|mnt/[\w.-]{1,40})|wsl[^\n]{0,40}|[\\/]{2,8}[\w.-]{1,40})\Z"
)
SPACED_NAME = re.compile(rb"[A-Za-z0-9_.\-]+(?: [A-Za-z0-9_.\-]+){1,2}(?=\\)")
USER_BEFORE = re.compile(rb"[A-Za-z_][A-Za-z0-9_.\-]{0,31}\Z")
LOGIN_BEFORE = re.compile(rb"(?::(?:\\{0,4}/){2}[^\x00-\x20/@]*:?|@)\Z")
ADDRESS_BEFORE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.%+\-]{0,63}\Z")
DOCUMENTED_ACCOUNTS = frozenset(
    b"123456789012 111122223333 444455556666 555566667777 000000000000 111111111111".split()
)
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
    rb"|(?:hello|hi|feedback|press|announce|users|alerts|svc[.-][a-z]+|support|contact|help|sales|team|office|mail|webmaster|postmaster|hostmaster|root|service|app|bot|ci|dev|jobs|news|billing|security|abuse|dpo|owner|bugs?|issues|lists?|[0-9a-f.]{12,})@"
    rb"(?:[a-z0-9-]+\.)*example\.(?:com|org|net)\Z|.*@(?:libssh\.org|openssh\.com)\Z"
    rb"|.*@users\.noreply\.github\.com\Z|.*\.(?:test|invalid|localhost|example)\Z"
)


LETTER_BEFORE = re.compile(rb"homes?/([a-z])/\Z")


def _cloud_account(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the number of a cloud account, unless documentation uses it."""
    return NOTHING if text[slice(*value)] in DOCUMENTED_ACCOUNTS else (value,)


def _home(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    start = match.start
    if not (
        not (start and text[start - 1] in b".~*-)}]$@?%" and not is_in_patch(text, start))
        and is_at_word_start(text, start)
    ) and not DRIVE.search(text, max(0, start - 60), start):
        return NOTHING
    spaced = SPACED_NAME.match(text, value.start) if text[value.start - 1] == 0x5C else None
    end = spaced.end() if spaced else value.end
    name = text[value.start : end].rstrip(b".")
    sorted_by = LETTER_BEFORE.search(text, match.start, value.start)
    if sorted_by and sorted_by[1][0] != name[0]:  # the folder of somebody with one letter
        return NOTHING
    if len(name) < 2 or name.lower() in NOBODY or SOFTWARE.search(name):
        return NOTHING
    return (TextSpan(value.start, value.start + len(name)),)


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


def _user_host(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
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
    is_machine = (
        b"-" in first or any(48 <= number <= 57 for number in first) or name.count(b".") > 1
    )
    if b"example" in name.split(b".") and not name.endswith((b".com", b".org", b".net")):
        return NOTHING
    if name in PUBLIC_HOSTS or first in CODE or not (is_linked or is_machine):
        return NOTHING
    return (TextSpan(start, match.end),)


MESSAGE_ID = re.compile(rb"(?i)(?:message-id|in-reply-to|references):\s*(?:<|&lt;)\Z")


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
    is_id = MESSAGE_ID.search(text, max(0, start - 40), start) is not None
    if is_login or is_id or SOFTWARE.search(address) or OPEN_ADDRESS.match(address):
        return NOTHING
    return (TextSpan(start, start + len(address)),)


SPELLED_BEFORE = re.compile(
    rb"[A-Za-z0-9_.+-]{1,40}(?:[ ]?[\[({](?:dot|DOT)[\])}][ ]?[A-Za-z0-9_-]{1,30}){0,2}[ ]?\Z"
)


def _spelled_email(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match an address whose signs are written as words."""
    name = SPELLED_BEFORE.search(text, max(0, match.start - 80), match.start)
    return (TextSpan(_behind_escape(text, name.start()), match.end),) if name else NOTHING


def _name_before_spelled(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name before an address whose signs are written as words."""
    name = SPELLED_BEFORE.search(text, max(0, match.start - 80), match.start)
    start = name.start() if name else match.start
    before = text[:start].rstrip(b" (<")
    return _name_before(before, TextSpan(len(before), len(before)), value)


def _without_ending(address: bytes) -> bytes:
    ending = SOFTWARE.search(address)
    shorter = address[: ending.start()] if ending else address
    return shorter if ending and COMMON_DOMAIN.search(shorter) else address


def _behind_escape(text: bytes, start: int) -> int:
    if (
        start > 1
        and text[start - 1] in b"[;"
        and COLOUR_BEFORE.search(text, max(0, start - 24), start)
    ):
        colour = REST_OF_COLOUR.match(text, start)
        return colour.end() if colour else start
    if start == 0 or text[start - 1] != 0x5C:
        return start
    code = WRITTEN_LETTER.match(text, start)
    return code.end() if code else start + (text[start] in b"nrt")


COLOUR_BEFORE = re.compile(rb"(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]*\Z")
REST_OF_COLOUR = re.compile(rb"[0-9;]*m")
WRITTEN_LETTER = re.compile(rb"u[0-9a-fA-F]{4}(?=[A-Za-z0-9_.%+-])")


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
    r"(?:(?:internal|corp|intranet|intra|lan|ad)\.[A-Za-z0-9.-]+\.(?:com|net|org|io|dev|cloud|eu|de|uk|fr)"
    r"|internal|local|lan|corp|intranet|intra|localdomain|home\.arpa)"
)
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"

ACCOUNT_NAME = re.compile(rf"{TITLED}[ ][^\x00-\x1f:,\"\\]{{2,60}}(?=[,:])".encode())


def _name_of_account(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the full name in a line of `passwd`."""
    name = ACCOUNT_NAME.match(text, match.end)
    is_account = text[match.end - 1 : match.end] == b":"
    return (TextSpan(*name.span()),) if name and is_account else NOTHING


NEXT_NAME = re.compile(
    rb"(?:[ \t]|\\{1,7}t)+([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])(?=[ \t\r\n\"'\\]|\Z)"
)


def _names_of_address(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names of a machine behind its address, as files of hosts have them."""
    found: list[TextSpan] = []
    place = match.end
    while (name := NEXT_NAME.match(text, place)) and is_machine(name[1]):
        found.append(TextSpan(*name.span(1)))
        place = name.end()
    return tuple(found)


BEFORE_STATION = re.compile(
    rb"([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])(?:[ \t]{0,8}[(\[<|,;]|[ \t]{1,20}(?:at|is|has)?)[ \t]*\Z"
)


def _name_of_station(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of a device before its MAC address."""
    names = (
        BEFORE_STATION.search(text, max(0, match.start - 64), match.start),
        BEHIND_STATION.match(text, match.end),
    )
    return tuple(TextSpan(*name.span(1)) for name in names if name and is_machine(name[1]))[:1]


BEHIND_STATION = re.compile(
    rb"[)\]]?(?:[ \t]|\\{1,7}t){1,20}\(?([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])(?![A-Za-z0-9_/:=(])"
)
ADDRESS = r"[A-Za-z0-9_.%+-]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}"
NAMES_OF_MAIL = user_name("names-of-mail", ADDRESS, take_names_of_address, is_many=True)
NAME_OF_NUMBER = user_name("name-of-number", "", take_name_of_number)
USER_OF_LOGIN = user_name("login-user", "", _user_of_login)
PEOPLE: tuple[Family, ...] = (
    user_name(
        "home",
        r"(?:[/\\]{1,8}(?:homes?|home[0-9]{1,2}|home\$|Users|Benutzer|Usuarios|Utilisateurs|Utenti|Gebruikers|Profiles|Documents and Settings)[/\\]{1,8}"
        r"(?:(?:[A-Z][A-Z0-9-]{1,15}|[A-Za-z0-9-]{1,30}(?:\.[A-Za-z0-9-]{1,30}){0,3}\.(?:com|org|net|edu|local|lan|corp|internal|intern|example|int|ad))[/\\]{1,8})?(?:[a-z]/)?"
        r"|/(?:scratch|work|data|net|gpfs|lustre|nfs|export|storage|cluster|mnt|hpc|fs[0-9]{0,2})[0-9]{0,2}/(?:users?|people|staff|students)/"
        r"|[/\\]{2,8}[A-Za-z0-9.-]{1,40}[/\\]{1,8}(?:users|profiles|profile|home)\$?[/\\]{1,8}|/afs/[A-Za-z0-9.-]{1,40}/(?:user|users|home|u)/(?:[a-z]/){0,2})"
        r"(?P<v>[A-Za-z0-9_][A-Za-z0-9_.-]{0,31})",
        _home,
    ),
    user_name(
        "slug", r"projects[/\\]{1,8}(?:[A-Z]-)?-(?:home|Users)-(?P<v>[A-Za-z0-9]{1,32})", _slug
    ),
    host_name(
        "login",
        rf"[A-Za-z0-9_-]@(?P<v>{HOST})(?::[~/]|[ ][^\x00-\x1f\]\"'\\]{{1,60}}\][$#]|[ ][^\x00-\x20\]\"'\\]{{1,40}}[ ][%$#][ ])",
        _login,
    ),
    host_name(
        "remote",
        r"(?:ssh|scp|rsync|sftp|mosh)(?:[ \t]+[A-Za-z0-9_./=\x80-\xff-]+)*"
        rf"[ \t]+[A-Za-z_][A-Za-z0-9_.-]*@(?P<v>{HOST})",
        _login,
    ),
    host_name("uname", rf"(?:Linux|Darwin) (?P<v>{HOST}) [0-9]{{1,2}}\.[0-9]", _user_host),
    host_name("internal", rf"[A-Za-z0-9-]\.{DOMAINS}", _internal),
    Family("email", ADDRESS, _email, kind="email"),
    NAMES_OF_MAIL,
    Family(
        "spelled-email",
        r"[\[({](?:at|AT)[\])}][ ]?[A-Za-z0-9-]{2,40}(?:(?:[ ]?[\[({](?:dot|DOT)[\])}][ ]?|\.)[A-Za-z]{2,20}){1,3}"
        r"|[ ](?:at|AT)[ ][A-Za-z0-9-]{2,40}(?:[ ](?:dot|DOT)[ ][A-Za-z]{2,20}){1,2}\b",
        _spelled_email,
        kind="email",
    ),
    account_number(
        "account",
        rf"(?:{'|'.join(ACCOUNT_NAMES)}){QUOTE_MARK}[ ]?:[ ]?{QUOTE_MARK}"
        r"(?P<v>[A-Za-z0-9@._ -]{6,64})\\{0,7}\"",
        any_value,
    ),
    account_number(
        "arn", r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(?P<v>[0-9]{12}):", _cloud_account
    ),
)
ALSO: dict[str, Family] = {
    "login": USER_OF_LOGIN,
    "remote": USER_OF_LOGIN,
    "owner-of-key": USER_OF_LOGIN,
    "spelled-email": user_name("name-of-spelled-email", "", _name_before_spelled),
    "user-at-desktop": USER_OF_LOGIN,
    "user-before": user_name("full-name", "", _name_of_account),
    "ipv4": host_name("names-of-address", "", _names_of_address, is_many=True),
    "mac": host_name("name-of-station", "", _name_of_station),
    "email": NAMES_OF_MAIL,
    "telephone": NAME_OF_NUMBER,
    "international": NAME_OF_NUMBER,
    "national": NAME_OF_NUMBER,
    "dashed-telephone": NAME_OF_NUMBER,
}
"""What a match of one family reveals besides."""


LINE = r"(?:\r?\n|\\{1,7}n)"


def _people(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of an author, unless it is a program's."""
    name = text[value.start : value.end].strip()
    if PROGRAM.search(name):
        return NOTHING
    return (TextSpan(value.start, value.start + len(name)),) if len(name) > 3 else NOTHING


def _person(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of a person after a word for what they do."""
    return _people(text, match, value) if is_person(text[slice(*value)]) else NOTHING


PERSON_KEYS = (
    "|".join(
        f"{first}{sign}{last}"
        for first in (
            "first",
            "last",
            "full",
            "given",
            "family",
            "middle",
            "maiden",
            "customer",
            "contact",
            "employee",
            "patient",
            "guest",
            "student",
            "card[_ ]?holder",
        )
        for sign, last in (("[_ -]?", "name"), ("", "Name"))
    )
    + "|surname|Surname|First name|Last name|Full name|Given name"
)

GREETINGS = "Hi|Hello|Hey|Dear|Hallo|Liebe[rs]?|Servus|Moin|Bonjour|Salut|Cher|Chère|Hola|Estimad[oa]|Querid[oa]|Ciao|Caro|Cara|Olá|Hej|Hei|Beste|Good (?:morning|evening|afternoon)|Guten (?:Tag|Morgen)|Buongiorno"
CLOSINGS = "[rR]egards|[wW]ishes|Cheers|Thanks|Thank you|[sS]incerely|Best|[gG]rüße|Grüßen|Gruß|Danke|LG|VG|MfG|Cordialement|Merci|Saludos|Gracias|Saluti|Grazie|Abraços|Obrigad[oa]|Groeten|Pozdrawiam"
ROLES = (
    "[rR]egistrant|[dD]isplay[_ ]?[nN]ame|[rR]eal[_ ]?[nN]ame|[pP]atient|[oO]wner|[aA]ssignee|[rR]eporter|[cC]ontact|[cC]ustomer|[eE]mployee|[tT]enant|[aA]pplicant"
    "|[aA]uthor|[mM]aintainer|[cC]ommitter|[rR]ecipient|[sS]ender|[aA]ttendee|[gG]uest|[iI]nsured|[pP]ayee|[bB]eneficiary|[cC]ard[ _-]?[hH]older"
    "|[aA]ccount[ _-]?[hH]older|[rR]equest[eo]r|[sS]upervisor|[iI]nstructor|[sS]tudent|[rR]eviewer|[aA]pprover|[pP]assenger|[bB]uyer|[sS]eller"
    "|[cC]ontact_person|[cC]reated_by|[uU]pdated_by|[aA]ssigned_to|[cC]reatedBy|[aA]ssignedTo|[kK]unde|[kK]undin|[pP]atientin|[mM]itarbeiter|[aA]nsprechpartner"
    "|[aA]ttendees|[pP]articipants|[rR]eviewers|[aA]ssignees|[oO]wners|[mM]aintainers|[aA]uthors|[lL]ieferadresse|[rR]echnungsadresse|[sS]hip to|[bB]ill to|[cC]reator"
    "|[iI]nhaber|[aA]bsender|[eE]mpfänger|[cC]liente|[pP]aciente|[aA]uteur|[aA]utor"
)


INTRODUCTIONS = "I'm|I’m|I am|Ich bin|Je suis|Soy|Sono|Je m'appelle|Me llamo|Mi chiamo|[mM]ein Name ist|[iI]ch heiße|[mM]i nombre es|[nN]ame's|[mM]am na imi(?:ę|e)|[nN]azywam si(?:ę|e)|[mM]e chamo|[iI]k ben|[mM]ijn naam is|[jJ](?:eg|ag) heter|[jJ]eg hedder|[jJ]menuji se|Меня зовут|меня зовут"
ACTIONS = re.compile(
    rb"(?:created|assigned|reported|opened|closed|requested|approved|reviewed|submitted|authored|maintained|edited|updated|modified|signed|merged|posted|prepared|verified|resolved|handled|owned|raised|invited|committed|pushed|written|sent|escalated|forwarded|delegated|addressed|delivered|ships?|shipped|billed|bill|deliver"
    rb"|rotated|changed|added|fixed|deployed|removed|renamed|revoked|issued|granted|tested|checked|translated|recorded|logged|booked|ordered|paid|cancelled|filed|thanks|kudos|credits?|talked|spoke|spoken|speak|talk|met|meeting|interview)"
    rb"(?:[ ](?:on[ ])?[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:Z]{4,10})?)? (?:by|to|with):?[ ]\Z",
    re.IGNORECASE,
)


def _acted(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match who did something."""
    found = ACTIONS.search(text, max(0, value.start - 48), value.start)
    return _person(text, match, value) if found else NOTHING


FULL_BEFORE = re.compile(rf"({REVERSED}|{FULL})\Z".encode())


def _name_before(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name before what somebody did."""
    found = FULL_BEFORE.search(text, max(0, match.start - 60), match.start)
    if found is None:
        return NOTHING
    start = _behind_escape(text, found.start(1))
    span = TextSpan(start, found.end(1))
    is_name = is_at_word_start(text, start) and is_person(text[slice(*span)])
    return (span,) if is_name else NOTHING


KEY_BEFORE = re.compile(rb"[A-Za-z0-9]\Z")


NEXT_PERSON = re.compile(
    rf"(?:{QUOTE})?(?:[,;][ ]|[ ](?:and|und|&)[ ]|{NEW_LINE}[ \t]*-[ ])(?:{QUOTE})?({FULL})(?![A-Za-z0-9@=(.])".encode()
)


def _labelled(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name after a word for what somebody does."""
    is_part = KEY_BEFORE.search(text, max(0, match.start - 1), match.start)
    if is_part and not is_at_word_start(text, match.start):
        return NOTHING
    found = _person(text, match, value)
    while found and (more := NEXT_PERSON.match(text, found[-1].end)):
        span = TextSpan(*more.span(1))
        if not is_person(text[slice(*span)]):
            break
        found = (*found, span)
    return found


AUTHORS: tuple[Family, ...] = (
    user_name(
        "author",
        r"(?:(?:Author|Committer|Tagger|Co-[aA]uthored-[bB]y|Signed-off-by|Reviewed-by|From|Commit|To|Cc|Acked-by|Tested-by|Reported-by):|author|committer|tagger)"
        r"[ ]+(?P<v>[^\x00-\x20<\"\\][^\x00-\x1f<\"\\]*)<",
        _people,
        trigger=r"(?:(?:Author|Committer|Tagger|[bB]y|From|Commit|To|Cc):|author|committer|tagger)[ ]+[^\x00-\x20<\"\\][^\x00-\x1f<\"\\]*<",
    ),
    user_name(
        "blamed",
        r"\([ ]{0,8}(?P<v>[A-Z\xc3-\xd3][a-z\x80-\xff-]+(?:[ ][A-Za-z\xc3-\xd3][A-Za-z.'\x80-\xff-]*){1,3})[ ]+20[0-9]{2}-[0-9]{2}-[0-9]{2}[ ]",
        _people,
    ),
    user_name(
        "full-name",
        rf"{QUOTE}(?:fullName|full_name|displayName|display_name|realName|real_name|givenName|familyName|firstName|lastName|first_name|last_name){QUOTE}"
        rf"[ ]?:[ ]?{QUOTE}(?P<v>[A-Z\xc3-\xd3][^\x00-\x1f\"'\\]{{3,40}}){QUOTE}",
        _people,
    ),
    user_name(
        "name-of-person",
        rf"(?:{PERSON_KEYS})(?:{QUOTE})?[ ]?(?:=>|[:=])[ ]?(?:{QUOTE})?(?P<v>{FULL}|{TITLED})(?={QUOTE}|[ \t]*(?:\r?\n|\\{{1,7}}n|[,;}})&]|│|\Z))",
        _person,
        trigger=rf"(?:{PERSON_KEYS})(?:{QUOTE})?[ ]?(?:=>|[:=])[ ]?(?:{QUOTE})?[A-Z\xc3-\xd3][a-z\x80-\xff]",
    ),
    user_name("code-author", rf"@author[ ]+(?P<v>{FULL})", _person),
    user_name(
        "name-and-mail",
        rf"{QUOTE}?name{QUOTE}?[ ]?[:=][ ]?{QUOTE}(?P<v>[A-Z\xc3-\xd3][^\x00-\x1f\"'\\]{{3,40}}){QUOTE},(?:[ \t\r\n]|\\{{1,7}}[nt])*{QUOTE}?e?mail",
        _people,
    ),
    user_name(
        "name-and-more",
        rf"(?:{QUOTE})?\b(?:name|customer|contact|recipient)(?:{QUOTE})?[ ]?[:=][ ]?(?:{QUOTE})?(?P<v>{FULL})(?:{QUOTE})?,?(?>{NEW_LINE}|[ \t])*+(?:{QUOTE})?(?:e?mail|phone|tel|mobile|address|street|birth)",
        _people,
        trigger=rf"(?:name|customer|contact|recipient)(?:{QUOTE})?[ ]?[:=][ ]?(?:{QUOTE})?[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ][A-Z\xc3-\xd3][a-z\x80-\xff]+",
    ),
    user_name(
        "tagged-name",
        rf"<(?:name|fullName|displayName|author)>(?P<v>{FULL})</[a-zA-Z]+>(?>{NEW_LINE}|[ \t])*+<(?:e?mail|organization|phone|url)",
        _people,
        trigger=r"<(?:name|fullName|displayName|author)>[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ]",
    ),
    user_name(
        "introduced", rf"[mM]y (?:full )?name is (?P<v>{TITLED}(?:[ ]{TITLED}){{0,2}})", _people
    ),
    user_name(
        "signed-name",
        rf"(?:[rR]egards|Cheers|Thanks|[sS]incerely|[gG]rüße|Grüßen|Gruß|Cordialement|Saludos),?(?:{NEW_LINE}[ \t]*){{1,2}}(?P<v>{FULL})(?=[ \t]*(?:\r?\n|│|\\{{1,7}}n|\\{{0,7}}\"|\Z))",
        _person,
        trigger=rf"(?:[rR]egards|Cheers|Thanks|[sS]incerely|[gG]rüße|Grüßen|Gruß|Cordialement|Saludos),?(?:{NEW_LINE}[ \t]*)+[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ]",
    ),
    account_number("street", STREET, take_street, trigger=STREET_BEGINS),
    account_number(
        "street-field",
        rf"(?:[sS]treet|[aA]ddress|[aA]dresse|[sS]tra(?:ß|ss)e|[aA]nschrift|[dD]irecci(?:ó|o)n|[iI]ndirizzo|[lL]ine)(?:[_ -]?(?:[aA]ddress|[lL]ine)?[_ -]?[12]?)(?:{QUOTE})?[ ]?(?:=>|[:=])[ ]?(?:{QUOTE})?"
        r"(?P<v>[A-Z0-9\xc3-\xd3][^\x00-\x1f\"\\;|<>(){}=@:]{4,60})",
        take_numbered_street,
        trigger=rf"(?:[sS]treet|[aA]dd?ress|[aA]dresse|[sS]tra(?:ß|ss)e|[aA]nschrift|[dD]irecci(?:ó|o)n|[iI]ndirizzo|[lL]ine)[_ -]?(?:[aA]ddress|[lL]ine)?[_ -]?[12]?(?:{QUOTE})?[ ]?(?:=>|[:=])[ ]?(?:{QUOTE})?[A-Z0-9\xc3-\xd3][A-Za-z0-9 \x80-\xff]",
    ),
    user_name(
        "titled",
        rf"(?:Herrn?|Frau|M(?:r|rs|s|x)\.?|Dr\.|Prof\.|Madame|Monsieur|Mme|Señora?|Signora?|Senhora?|Hr\.|Fr\.)[ ](?P<v>(?:(?:Dr|Prof)\.[ ])?{TITLED}(?:[ ]{PARTICLES}{TITLED})?)",
        take_person,
        trigger=r"(?:Herrn?|Frau|M(?:r|rs|s|x)\.?|Dr\.|Prof\.|Madame|Monsieur|Mme|Señora?|Signora?|Senhora?|Hr\.|Fr\.)[ ][A-Z\xc3-\xd3]",
    ),
    user_name(
        "greeted",
        rf"(?:{GREETINGS})[ ](?P<v>{TITLED}(?:[ ]{TITLED})?)(?=,(?:[ ]|\r?\n|\\{{1,7}}n|\Z)|!(?:\r?\n|\\{{1,7}}n))",
        take_person,
        trigger=rf"(?:{GREETINGS})[ ][A-Z\xc3-\xd3]",
    ),
    user_name(
        "signed-first",
        rf"(?:{CLOSINGS})(?:,?(?:{NEW_LINE}[ \t]*){{1,2}}|,[ ])(?P<v>{TITLED})(?=[ \t]*(?:\r?\n|│|\\{{1,7}}n|\\{{0,7}}\"|\Z))",
        take_person,
        trigger=rf"(?:{CLOSINGS})(?:,|\r?\n|\\+n)",
    ),
    user_name(
        "introduces-itself",
        rf"(?:{INTRODUCTIONS})[ ](?P<v>{FULL}|{TITLED}(?=[ ](?:from|aus|von|de)[ ]))(?=[ ](?:from|at|and|with|aus|von|und|de|et|y|i|z|van)\b|[,.;!]|\r?\n|\\{{1,7}}n|\Z)",
        take_person,
        trigger=rf"(?:{INTRODUCTIONS})[ ][A-Z\xc3-\xd3]",
    ),
    user_name(
        "acted",
        rf"[dDpsntkewgZ0-9] (?:by|to|with):?[ ](?P<v>{FULL})(?=[ \t]*(?:[(<,;|.)\"'\\]|\r?\n|\Z)|[ ][a-z])",
        _acted,
        trigger=r"[dDpsntkewgZ0-9] (?:by|to|with):?[ ][A-Z\xc3-\xd3][a-z\x80-\xff]",
    ),
    user_name(
        "labelled",
        rf"(?:{ROLES})(?:{QUOTE})?[ ]?(?:=>|[:=])(?:[ \t]{{0,8}}\[?|{NEW_LINE}[ \t]*-[ ])(?:{QUOTE})?(?P<v>{REVERSED}|{FULL})(?=[ \t]*(?:\r?\n|\\{{1,7}}n|[,;|(<)}}]|\\{{0,7}}[\"']|│|\Z))",
        _labelled,
        trigger=rf"(?:{ROLES})(?:{QUOTE})?[ ]?(?:=>|[:=])(?:[ \t]*\[?(?:{QUOTE})?[A-Z\xc3-\xd3]|(?:\r?\n|\\+n))",
        is_many=True,
    ),
    user_name(
        "mentioned",
        rf"(?:[aA]sk|[pP]ing|[cC]ontact|[cC]all|[eE]-?mail|[tT]ell|[mM]essage|[nN]otify|Cc|[vV]isit|[mM]eet|[fF]rag|[rR]uf|[kK]ontaktiere)[ ](?P<v>{FULL})"
        rf"(?=[ ](?:for|to|about|if|when|under|at|on|re|via|and|before|after|that|unter|wegen|an|ob)[ ]|[,.;!?])",
        take_person,
        trigger=r"(?:[aA]sk|[pP]ing|[cC]ontact|[cC]all|[eE]-?mail|[tT]ell|[mM]essage|[nN]otify|Cc|[vV]isit|[mM]eet|[fF]rag|[rR]uf|[kK]ontaktiere)[ ][A-Z\xc3-\xd3][a-z\x80-\xff]+[ ][A-Za-z]",
    ),
    user_name(
        "quoted",
        r"[ ](?:wrote|schrieb|escribi(?:ó|o)|escreveu|ha scritto|a (?:é|e)crit|napisa(?:ł|l)a?|schreef|skrev|napsala?)(?:[ ]?:|[ ](?:on|am|in|le|el)[ ])"
        r"|[ ](?:added a comment|left a comment|commented(?:[ ](?:on|[0-9]|yesterday|an?[ ])|:)|requested changes|approved th(?:is|ese) |requested a review|assigned this)"
        r"|[ ]{1,4}\[?[0-9]{1,2}:[0-9]{2}[ ]?(?:AM|PM|am|pm)\]?[ ]{0,3}(?:\r?\n|\\{1,7}n)",
        _name_before,
    ),
    user_name(
        "signing-identity",
        rf"(?:Apple|iPhone|Mac)[ ](?:Development|Distribution|Developer):[ ](?P<v>{FULL})[ ]\([A-Z0-9]{{10}}\)",
        take_person,
    ),
    user_name(
        "patient-name",
        rf"(?P<v>{TITLED}\^{TITLED}(?:\^{TITLED})?)",
        take_person,
        trigger=r"[A-Z\xc3-\xd3][a-z\x80-\xff]+\^[A-Z\xc3-\xd3][a-z\x80-\xff]",
    ),
    user_name(
        "log-end",
        rf"[ ]<(?P<v>{FULL})>",
        take_author_of_entry,
        trigger=r"[ ]<[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ]",
    ),
    user_name(
        "log-day",
        rf"[0-9]-[0-9]{{2}}[ ](?P<v>{FULL})(?=[ ,:|(])",
        take_author_of_entry,
        trigger=r"[0-9]-[0-9]{2}[ ][A-Z\xc3-\xd3][a-z\x80-\xff]+[ ]",
    ),
    user_name(
        "tagged-person",
        rf"<(?:author|fullName|displayName|owner|assignee|reporter|customer|contact|creator)>(?P<v>{FULL})</",
        _person,
        trigger=r"<(?:author|fullName|displayName|owner|assignee|reporter|customer|contact|creator)>[A-Z\xc3-\xd3]",
    ),
    user_name(
        "aged",
        r"[0-9][ ](?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)[ ,0-9a-z]{0,12} ago",
        take_name_of_age,
    ),
    user_name("account-name", r":[x*!]:[0-9]{4,6}:[0-9]{1,6}:", _name_of_account),
    user_name(
        "git-variable",
        rf"GIT_(?:AUTHOR|COMMITTER)_NAME=(?:{QUOTE})(?P<v>[^\x00-\x1f\"'\\]{{4,40}})",
        _people,
    ),
    user_name(
        "git-section",
        rf"\[user\]{LINE}[ \t\\]*t?name[ ]?=[ ]?(?P<v>[^\x00-\x1f\"'\\]{{4,40}})",
        _people,
    ),
    user_name(
        "card-name",
        rf"FN(?:;[^:\x00-\x1f]{{1,30}})?:(?P<v>{TITLED}(?:[ ]{TITLED}){{1,3}})",
        _people,
    ),
    user_name(
        "person-field",
        rf"(?:Assignee|Reporter|Requester|Reviewer|Approver|Approved by|Created by|Updated by|Assigned to|Owner|Contact|Manager|Author|Customer|Attendees?|Name|Full name|Patient|Employee)"
        rf"(?:\*\*)?:(?:\*\*)?[ \t]{{1,8}}(?P<v>{FULL})(?=[ \t]*(?:\r?\n|\\{{1,7}}n|[,;|(<]|\\{{0,7}}[\"']|\Z))",
        _person,
        trigger=r"(?:Assignee|Reporter|Requester|Reviewer|Approver|[dD] by|Assigned to|Owner|Contact|Manager|Author|Customer|Attendees?|Name|Full name|Patient|Employee)(?:\*\*)?:(?:\*\*)?[ \t]+[A-Z\xc3-\xd3][a-z\x80-\xff]+[ ]",
    ),
    user_name("git-name", rf"user\.name[ =](?:{QUOTE})(?P<v>[^\x00-\x1f\"'\\]{{4,40}})", _people),
)


def _take_given_name(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a given name and a family name, up to a word that is none."""
    before = text[match.start - 1 : match.start]
    if before.isalnum() or before in (b"_", b"/", b"@", b".", b"-", b"$", b"#"):
        return NOTHING
    end = value.end
    while is_person(text[value.start : end]) is False:
        end = text.rfind(b" ", value.start, end)
        if end < 0 or b" " not in text[value.start : end]:
            return NOTHING
    if text[end : end + 1] in (b"(", b"_", b"=") or text[end : end + 1].isalnum():
        return NOTHING
    return (TextSpan(value.start, end),)


GIVEN_NAMED: tuple[Family, ...] = (
    user_name(
        "given-name",
        rf"(?P<v>{TITLED}(?:[ ](?:{PARTICLES}{TITLED}|{UPPER}\.)){{1,2}})",
        _take_given_name,
        trigger=rf"(?:{GIVEN})(?:-[A-Z][a-z]+)?[ ](?:(?:van|von|de|der|den|del|della|da|dos|di|la|bin|al|ten|ter|zu)[ ])*[A-Z\xc3-\xd3]",
    ),
)
"""Given names with what follows them, wherever they are."""

NAME = r"[A-Za-z_][A-Za-z0-9_.-]{1,31}"
START = r"(?:\A|\n|\\n|\x00)"
# Users and groups of operating systems.
SYSTEM = frozenset(
    b"""staff wheel sudo adm users daemon bin sys sync games man lp mail news uucp proxy backup list irc
    nobody nogroup systemd dbus mysql redis mongodb nginx apache httpd tomcat sshd ntp messagebus syslog
    everyone operator dialout cdrom audio video plugdev netdev docker kvm lpadmin dip input render users
    true false null none string int auto always never this that the and for with from who not any all
    bash zsh sh node npm python python3 java ruby php rust claude anthropic dependabot github-actions
    service account owner member anonymous unknown system local default value key id password""".split()
)
COMMON_HOSTS = frozenset(
    b"""utf-8 utf8 x86-64 x64 ipv4 ipv6 http2 es6 base64 sha256 md5 localhost key-based re-run config-file
    real-time built-in read-only opt-in log-in up-to-date client-side server-side end-to-end step1 step2
    host1 host2 node1 key1 copy-id keyscan keygen agent add""".split()
)


ANY_HOST = frozenset(b"localhost none null example host server unknown true string".split())


def is_somebody(name: bytes) -> bool:
    """Return whether a name is a person's rather than a program's or a common one."""
    lower = name.lower()
    is_common = lower in NOBODY or lower in SYSTEM or is_plain_word(lower)
    return len(name) > 1 and not is_common and SOFTWARE.search(name) is None and not name.isupper()


# A path, a call or an address; a backslash before `n` or a quote is JSON's.
GOES_ON = re.compile(rb"[@(/]|\\++(?![nrt\"'])")


def _user(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match somebody's name, without punctuation after it."""
    name = text[value.start : value.end].rstrip(b".-")
    goes_on = GOES_ON.match(text, value.end) is not None
    return _trimmed(value, len(name)) if is_somebody(name) and not goes_on else NOTHING


def _name_of_record(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name before what a server of names says of it."""
    name = LABELS_BEFORE.search(text, max(0, match.start - 80), match.start)
    if name is None or not is_machine(name[0]):
        return NOTHING
    return (TextSpan(_behind_escape(text, name.start()), name.end()),)


def _short_home(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a short path to a home, unless the path is that of an address."""
    before = text[match.start - 1 : match.start]
    is_first = before in (b"", b"\xb9", b"\x92") or before in b" \t\r\n\0\"'`=:("
    return _somebody(text, match, value) if is_first or is_in_patch(text, match.start) else NOTHING


def _user_in_own_line(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a setting that begins its line."""
    is_first = BEGINS_LINE.search(text, max(0, match.start - 120), match.start) is not None
    return _user(text, match, value) if is_first else NOTHING


def _somebody(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of somebody in a path."""
    return (value,) if is_somebody(text[value.start : value.end]) else NOTHING


def _rare(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name that is no everyday word: longer, or with a digit or a dot."""
    found = _user(text, match, value)
    name = text[value.start : value.end]
    is_rare = len(name) >= 5 and (
        len(name) >= 7 or any(number in b"0123456789._" for number in name)
    )
    return found if is_rare and b"-" not in name else NOTHING


TWO_NAMES = re.compile(rb"(%s)[ \t]+(%s)" % (NAME.encode(), NAME.encode()))


def _listed_owner(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the owner of a listed file, and the group if it is named like a person."""
    names = TWO_NAMES.match(text, value.start)
    groups = (1, 2) if names else ()
    return tuple(TextSpan(*names.span(n)) for n in groups if names and is_somebody(names[n]))


def _packed(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the owner in the listing of an archive, and a group that is named like somebody."""
    group = re.compile(NAME.encode()).match(text, value.end + 1)
    spans = (value, TextSpan(*group.span())) if group else (value,)
    return tuple(span for span in spans if is_somebody(text[slice(*span)]))


def _pair(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    spans = (value, TextSpan(value.end + 1, match.end))
    return tuple(span for span in spans if is_somebody(text[span.start : span.end]))


BEFORE = re.compile(rb"(%s)\Z" % NAME.encode())


def _user_before(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name before a match."""
    found = BEFORE.search(text, max(0, match.start - 32), match.start)
    if found is None or not is_at_word_start(text, found.start(1)) or not is_somebody(found[1]):
        return NOTHING
    start = found.start(1)
    start += text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"r", b"t")
    return (TextSpan(start, found.end(1)),)


def is_machine(name: bytes) -> bool:
    """Return whether a word looks like the name of a machine."""
    first = name.partition(b".")[0]
    has_sign = b"-" in first.strip(b"-") or any(48 <= number <= 57 for number in first)
    is_word = name.lower() in COMMON_HOSTS or SOFTWARE.search(name) is not None
    is_number = not any(number in WORD and not 48 <= number <= 57 for number in first)
    return len(first) >= 3 and has_sign and not is_word and not is_number


def _login_host(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    name = text[value.start : value.end].rstrip(b".")
    return _trimmed(value, len(name)) if is_machine(name) else NOTHING


def _shared(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the machine that shares a folder; an escaped letter is none."""
    is_code = re.match(rb"[uUx][0-9A-Fa-f]{2,8}\b", text[value.start : value.end])
    return NOTHING if is_code else _login_host(text, match, value)


def _named_host(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match what is said to be the name of a machine, unless it is a common one."""
    name = text[value.start : value.end].rstrip(b".").lower()
    return (
        NOTHING
        if name in ANY_HOST or len(name) < 3 or is_plain_word(name)
        else _trimmed(value, len(name))
    )


def _trimmed(value: TextSpan, length: int) -> tuple[TextSpan, ...]:
    return (TextSpan(value.start, value.start + length),)


PLACE = re.compile(rb"[^\n|;&\"\\]{0,120}?[ \t](?:[A-Za-z0-9_.-]+@)?(%s):[/~.]" % HOST.encode())


def _copied(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the machine that a file is copied to or from."""
    found = PLACE.match(text, match.end - 1)
    return (
        (TextSpan(*found.span(1)),)
        if found and len(found[1]) > 2 and not found[1].isdigit()
        else NOTHING
    )


CALL = re.compile(rb"[(\[{<$]|\.[A-Za-z]|[ \t]*[(=]")


def _set(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a setting, unless it is code."""
    is_part = (
        match.start > 0 and text[match.start - 1] in b"$.-" and not is_in_patch(text, match.start)
    )
    return NOTHING if is_part or CALL.match(text, value.end) else _user(text, match, value)


OF_THINGS = re.compile(rb"owner|author|userName|assignee|reviewer|actor|[bB]y|uploader")


def _field(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a field; things have owners too, so it must be rare."""
    is_of_thing = OF_THINGS.search(text, match.start, value.start) is not None
    return _rare(text, match, value) if is_of_thing else _set(text, match, value)


def _slugged(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name in a project folder."""
    before = text[max(0, match.start - 2) : match.start]
    is_start = not before or before[-1] in b"/\\ \"'`\n(:=" or before == b"\\n"
    return _user(text, match, value) if is_start else NOTHING


# What belongs to a program or to a group of people: part of the name of an account says so.
OF_SERVICE = re.compile(
    rb"(?i)(?:\A|[-_.])(?:svc|service|srv|app|api|bot|ci|cd|deploy(?:er|ment)?|backup|build(?:er|kite|bot)?|admin|administrator|root|db|dba|sql|sa|web|www|mail"
    rb"|smtp|test|demo|dev|prod|staging|user|guest|readonly|ro|rw|monitor|monitoring|grafana|prometheus|jenkins|gitlab|github|runner|worker|robot|system|ops|oauth2?"
    rb"|token|access|default|master|replica|replicator|repl|migrator|migrations?|reports?|reader|writer|client|server|scanner|kafka|elastic|kibana|airflow|ansible"
    rb"|terraform|registry|publisher|integration|webhook|sync|cron|batch|jobs?|etl|loader|analytics|data|info|support|sales|office|team|login|account|name|public|shop|store|portal|buchhaltung|kontakt|vertrieb)(?:\Z|[-_.0-9])"
    rb"|(?:user|admin|svc|bot|app|service|role|account|group|agent|server)\Z"
)
LOGIN_NAME = re.compile(rb"[a-z][a-z0-9._-]{3,31}|[A-Z]{2,16}\.[A-Z]{2,20}")
NEAR_PASSWORD = re.compile(
    rb"(?i)pass(?:w|code|phrase|wd|\b|_)|pwd|[^\w]pw\b|secret|token|kennwort|has(?:\xc5\x82|l)o|heslo|contrase|senha|mot de passe|wachtwoord"
    rb"|l\xc3\xb6senord|(?:\xc5\x9f|s)ifre|parol|jelsz|salasana|clave|keyring|\xe5\xaf\x86\xe7\xa0\x81|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb"
)
NEAR_LOGIN = 200
"""How far from the name of an account its password may be."""


def is_login(name: bytes) -> bool:
    """Return whether the name of an account is a person's rather than a program's."""
    is_own = LOGIN_NAME.fullmatch(name) is not None and OF_SERVICE.search(name) is None
    return is_own and (is_somebody(name) or name.isupper())


def _login_with_password(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of somebody's account next to a word for its password."""
    name = text[value.start : value.end].rstrip(b".-")
    around = (
        text[max(0, match.start - NEAR_LOGIN) : match.start],
        text[value.end : value.end + NEAR_LOGIN],
    )
    is_near = any(NEAR_PASSWORD.search(part) for part in around)
    is_call = CALL.match(text, value.end) and not text.startswith(b"</", value.end)
    is_quoted = text[value.start - 1 : value.start] in (b'"', b"'", b"`")
    is_rare = len(name) >= 6 or any(number in b"0123456789._" for number in name)
    is_near = is_near or begins_with_given_name(name)
    if not is_near or not is_login(name) or is_call or not (is_quoted or is_rare):
        return NOTHING
    return _trimmed(value, len(name))


def _own_login(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of somebody's account where nothing else may be."""
    return (value,) if is_login(text[slice(*value)]) else NOTHING


def _owner_of_key(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the machine in the comment of a key, if it or its user is somebody's."""
    is_key = KEY_BEFORE_COMMENT.search(text, max(0, match.start - 800), match.start + 1)
    return _own_machine(text, match, value) if is_key else NOTHING


KEY_BEFORE_COMMENT = re.compile(
    rb"(?:AAAA[A-Za-z0-9+/]{20,}={0,3}|SHA256:[A-Za-z0-9+/]{30,44}|MD5:[0-9a-f:]{47}|Comment:)\Z"
)


def _own_machine(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the machine after a user's name, if one of them is somebody's."""
    user = USER_BEFORE.search(text, max(0, value.start - 33), value.start - 1)
    host = text[slice(*value)]
    is_own = is_machine(host) or (user is not None and is_login(user[0]))
    return (value,) if is_own and host.lower() not in NO_HOST else NOTHING


# First words of names with a device that are nobody's.
OF_DEVICES = re.compile(
    rb"(?i)(?:my|your|our|the|an?|for|new|old|test|dev|work|home|office|company|ci|build|spare|own|apple|samsung|google|lenovo|dell|microsoft|fake|mock|demo|default"
    rb"|device|icon|non|any|each|per|is|on|user|admin|docker|github|remote|example|first|second|personal|private|backup|main|other|this|that|iphone|ipad|macbook|via|with|and|or|all|use|see|simulator|sim|booted)s?\Z"
)


def _owner_of_device(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a device that is named after somebody."""
    name = re.compile(rb"[A-Za-z]{3,20}\Z").search(text, max(0, match.start - 20), match.start + 1)
    if name is None or OF_DEVICES.fullmatch(name[0]) or is_plain_word(name[0]):
        return NOTHING
    is_sure = SURE_DEVICE.match(text, match.start + 2) is not None
    if not (is_sure or begins_with_given_name(name[0])):
        return NOTHING
    start = _behind_escape(text, name.start())
    is_part = text[start - 1 : start] in (b"-", b"/", b".", b"_") or not is_at_word_start(
        text, start
    )
    goes_on = text[match.end : match.end + 1] in (b"/", b"_", b"(")
    return NOTHING if (is_part and start) or goes_on else (TextSpan(start, match.end),)


USER_LABELS = (
    r"(?i:user(?:[_ -]?(?:name|id))?|log(?:in|on)(?:[_ -]?name)?|account(?:[_ -]?name)?|nick(?:name)?|benutzer(?:name)?|utilisateur|usuario|usu(?:á|a)rio|utente|nome utente"
    r"|(?:nazwa )?u(?:ż|z)ytkownika?|gebruiker(?:snaam)?|anv(?:ä|a)ndar(?:e|namn)|bruke?r(?:navn)?|k(?:ä|a)ytt(?:ä|a)j(?:ä|a)(?:tunnus)?|kullan(?:ı|i)c(?:ı|i)(?: ad(?:ı|i))?"
    r"|u(?:ž|z)ivatel(?:sk(?:é|e) jm(?:é|e)no)?|felhaszn(?:á|a)l(?:ó|o)(?:n(?:é|e)v)?|utilizator|identifiant)"
    r"|имя пользователя|[Лл]огин|[Пп]ользователь|用户名|账号|ユーザー名|사용자"
)
USER_JOIN = rf"(?:{QUOTE})?(?:[ ]?(?:=>|[:=]|：)[ \t]{{0,8}}|[ ]string[ ]|[ ]value=|</[a-zA-Z]{{1,20}}>(?>{NEW_LINE}|[ \t])*+<[a-zA-Z]{{1,20}}[^<>]{{0,40}}>)(?:{QUOTE})?"
DEVICE_NAMES = r"(?i:iphone|ipad|i?macbook|imac|mbp|mba|mac-?(?:mini|studio|pro)|thinkpad|galaxy-[a-z][0-9]{1,2}|pixel-[0-9]|surface-(?:pro|go)|airpods)"
SURE_DEVICE = re.compile(DEVICE_NAMES.encode())
ANY_DEVICE = r"(?i:desktop|laptop|pc|nuc|workstation|notebook|phone|tablet|android|x1|xps|watch|surface|pixel|galaxy|mac|nas|server|vm|box)"
"""Devices that only a given name before them makes somebody's."""
LOGINS: tuple[Family, ...] = (
    user_name(
        "login-with-password",
        rf"(?:{USER_LABELS}){USER_JOIN}(?P<v>{NAME})(?=[\s\"'`<,;&}})]|\\|\Z)",
        _login_with_password,
        trigger=rf"(?:{USER_LABELS})(?:{QUOTE})?(?:[ ]?(?:=>|[:=]|：)|[ ]string[ ]|[ ]value=|</)",
    ),
    user_name(
        "login-of-machine",
        rf"(?:login|LOGIN)[ \t]+(?P<v>{NAME})(?>{NEW_LINE}|[ \t])++(?:password|account)",
        _own_login,
        trigger=r"login[ \t]+[A-Za-z_]",
    ),
    user_name(
        "login-in-url",
        rf"https?:\\{{0,4}}/\\{{0,4}}/(?P<v>{NAME}):[^\x00-\x20/@\"'<>]+@",
        _own_login,
    ),
    user_name(
        "entry", rf"\b(?:uid|sAMAccountName|samaccountname)(?:=|:[ ])(?P<v>{NAME})", _own_login
    ),
    user_name("secret-of", rf"(?:ppp|hotspot) (?:secret|user) add name=(?P<v>{NAME})", _own_login),
    host_name(
        "owner-of-key",
        r"[A-Za-z0-9+/=:][ ]\"?[A-Za-z_][A-Za-z0-9_.-]*@(?P<v>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)",
        _owner_of_key,
    ),
    host_name(
        "user-at-desktop",
        r"[A-Za-z0-9_-]@(?P<v>[A-Za-z0-9]+-(?i:desktop|laptop|pc|nuc|workstation|notebook|macbook|mbp|thinkpad)(?:-?[0-9]{1,3})?)\b",
        _own_machine,
    ),
    host_name(
        "owner-of-device",
        rf"[A-Za-z]-(?:{DEVICE_NAMES}|{ANY_DEVICE})(?:-[A-Za-z0-9]{{1,8}}){{0,3}}\b",
        _owner_of_device,
    ),
    user_name(
        "listed",
        rf"[-dlbcps][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?[ \t]+[0-9]+[ \t]+(?P<v>{NAME})[ \t]+{NAME}[ \t]",
        _listed_owner,
        trigger=r"[-dlbcps][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?[ \t]+[0-9]+[ \t]+[A-Za-z_]",
        is_many=True,
    ),
    user_name(
        "packed",
        rf"[r-][w-][xsS-][r-][w-][xtT-][ \t]+(?P<v>{NAME})/{NAME}[ \t]+[0-9]",
        _packed,
        is_many=True,
    ),
    user_name("stat", rf"[UG]id:[ ]\([ ]*[0-9]+/[ ]*(?P<v>{NAME})\)", _user),
    user_name("cron", rf"(?:\*|[0-9])[ \t]+(?:\*|[0-9])[ \t]+(?P<v>{NAME})[ \t]+/", _rare),
    user_name("short-home", rf"/u/(?P<v>{NAME})/", _short_home),
    user_name(
        "tailnet", rf"(?P<v>{NAME})@[ ]{{2,20}}(?:linux|macOS|windows|iOS|android)[ ]", _somebody
    ),
    user_name(
        "tilde",
        rf"[ \t\"'=:]~(?P<v>{NAME})/",
        _somebody,
    ),
    user_name("asked", rf"(?:whoami|id -un|logname){NEW_LINE}[ \t]*(?P<v>{NAME})", _user),
    user_name(
        "user-setting",
        rf"(?:(?:username|user_name|userName|Username|Login|login_name|ansible_user|remote_user|ssh_user)(?:[ ]?:[ ]?|=)|(?:USER|LOGNAME|USERNAME|SUDO_USER|USERNAME%)(?:=| is ))(?:{QUOTE})?(?P<v>{NAME})",
        _set,
    ),
    user_name(
        "run-as",
        rf"(?:ssh -l|sudo -u|sudo -iu|su -|su -l|runuser -u|--user=|--username[ =])[ \t]*(?P<v>{NAME})",
        _user,
    ),
    user_name("also-uid", rf",[0-9]{{4,6}}\((?P<v>{NAME})\)", _user),
    user_name(
        "user-field",
        rf"{QUOTE}(?:user|username|login|userName|owner|author|assignee|reviewer|actor|createdBy|created_by|updatedBy|uploader){QUOTE}[ ]?:[ ]?{QUOTE}(?P<v>{NAME}){QUOTE}",
        _field,
    ),
    user_name("mailbox", rf"/var/(?:spool/)?(?:mail|cron/crontabs)/(?P<v>{NAME})", _user),
    user_name("folder-slug", r"-(?:home|Users)-(?P<v>[A-Za-z0-9_.]{2,32})-", _slugged),
    host_name(
        "local-host",
        r"(?:[hH]ost(?:[ ]?[:=])?|HOST=|ping|PING|-h|nslookup|dig|server_name|ssh|nameserver|telnet)"
        rf"[ \t]+(?:{QUOTE})?(?P<v>[A-Za-z0-9-]+\.(?:local|lan|home|intra|corp|internal|localdomain))",
        _named_host,
    ),
    user_name("uid", rf"(?:uid|gid|groups|euid)=[0-9]+\((?P<v>{NAME})\)", _user),
    user_name("owner-pair", rf"chown(?: -R)?[ \t]+(?P<v>{NAME}):{NAME}", _pair, is_many=True),
    user_name(
        "user-command",
        r"(?:chown(?: -R)?|useradd(?: -[a-z]+)*|adduser|userdel(?: -r)?|passwd|crontab -u|exec -u"
        r"|usermod -aG [a-z]+|enable-linger|runuser -u|-U|asuser [0-9]+|gpasswd -a|chage -l|deluser"
        r"|net user|smbpasswd(?: -[a-z]+)*|pdbedit(?: -[a-z]+)*|htpasswd(?: -[a-zA-Z]+)*[ \t]+[^ \t]+|-SamAccountName|-password -a|user --name)"
        rf"[ \t=]+(?:{QUOTE})?(?P<v>{NAME})",
        _rare,
    ),
    user_name(
        "user-config",
        rf"{NEW_LINE}[ \t]+User[ \t]+(?P<v>{NAME})(?:\r?\n|\\{{1,7}}n|\\{{0,7}}[\"']|\Z)",
        _user,
        trigger=rf"{NEW_LINE}[ \t]+User[ \t]+[A-Za-z_]",
    ),
    user_name(
        "user-of-log",
        rf"(?:Accepted [a-z/-]+ for|Failed [a-z/-]+ for(?: invalid user)?|Invalid user|(?:opened|closed) for user|authenticating user|Disconnected from user)[ ](?P<v>{NAME})(?=[ ](?:from|by|[0-9])|\()",
        _somebody,
        trigger=r"(?:Accepted [a-z/-]+ for|Failed [a-z/-]+ for|Invalid user|(?:opened|closed) for user|authenticating user|Disconnected from user)[ ][A-Za-z_]",
    ),
    user_name(
        "user-told",
        r"(?:Accepted [a-z]+ for|Failed password for(?: invalid user)?|(?:opened|closed) for user|Invalid user|[lL]ogged in(?: to [a-z.]+)? as"
        r"|[sS]igned in as|[aA]uthenticated as|[lL]ogged in to [a-z.]+ account|[aA]dded user|NickServ IDENTIFY|crontab for|[rR]un(?:ning)? as user:?|on ttys[0-9]+ as|Switching to user)[ ]"
        rf"(?P<v>{NAME})",
        _rare,
    ),
    user_name(
        "domain-user",
        rf"[A-Z][A-Z0-9]{{2,14}}\\{{1,4}}(?P<v>{NAME})[ \t](?:logged|signed|has)",
        _user,
    ),
    user_name("media", rf"/media/(?P<v>{NAME})/", _somebody),
    user_name(
        "denied",
        rf"(?:for user|denied for user|[uU]ser|role)[ ](?:{QUOTE})(?P<v>{NAME})(?:{QUOTE})(?:@| does not| has| cannot| is not)",
        _user,
    ),
    user_name("iam-user", rf"iam::[0-9]*:user/(?:[A-Za-z0-9_-]+/)*(?P<v>{NAME})", _user),
    user_name("unit-user", rf"User=(?P<v>{NAME})", _user_in_own_line),
    user_name("principal", rf"(?:principal:?[ ]|kinit[ ])(?P<v>{NAME})@[A-Z]", _user),
    user_name(
        "name-told",
        rf"(?:[mM]y|[tT]he|[yY]our|[oO]ur|[hH]is|[hH]er)[ ](?:username|user name|user|login|handle|account name)[ ]is[ ](?:{QUOTE})?(?P<v>{NAME})",
        _rare,
    ),
    user_name(
        "domain-login",
        rf"(?:/user:|/u:|[ ]-[uU][ ]|[uU]ser(?:name|[ ]?[iI][dD])?[ ]?[:=][ ]?|whoami{LINE}|Credential[ ]?\(?|-UserName[ ])(?:{QUOTE})?[A-Z][A-Z0-9-]{{1,14}}\\{{1,4}}(?P<v>{NAME})",
        _user,
    ),
    user_name(
        "user-option",
        r"(?:mysql|mysqldump|mariadb|psql|pg_dump|pg_restore|createdb|mongosh|mongodump|docker login|podman login|sqlcmd|cqlsh|ldapsearch|smbclient|xfreerdp)"
        rf"(?:[ \t]+[A-Za-z0-9_./=:-]+){{0,6}}[ \t]+(?:-[uU][ =]?|--user(?:name)?[ =])(?P<v>{NAME})",
        _rare,
    ),
)
MACHINES: tuple[Family, ...] = (
    user_name("prompt", rf"(?P<v>{NAME})[ ]at[ ]{HOST}[ ]in[ ][~/]", _user),
    user_name(
        "ssh-user",
        rf"User[ \t]+(?P<v>{NAME}){LINE}[ \t]*(?:IdentityFile|HostName|Hostname|Port|ProxyJump|ForwardAgent|IdentitiesOnly)",
        _user,
    ),
    user_name("sudoers-file", rf"sudoers\.d/(?P<v>{NAME})", _user),
    user_name(
        "user-before",
        r"[ \t]+ALL[ \t]*=[ \t]*\(|:[x*!]:[0-9]{4,6}:[0-9]{1,6}:|:\$(?:y|[0-9][a-z]?)\$|[ \t]+[0-9]{1,7}[ \t]+[0-9]{1,3}\.[0-9][ \t]+[0-9]{1,3}\.[0-9][ \t]"
        r"|[ \t]+(?:pts/[0-9]|tty[a-z]?[0-9])[ \t]|[ ]:[ ]TTY=|[ \t]*:[ \t]*(?:EAP|XAUTH|NTLM)[ \t]",
        _user_before,
    ),
    host_name(
        "remote-host",
        r"(?:\A|[^A-Za-z0-9_.-])(?:ssh|mosh|telnet|ping|ping6|sftp|nc|ncat|traceroute|dig|nslookup|host|tracepath|curl|wget)[ \t]+(?:-[A-Za-z0-9]+[ \t]+(?:[0-9]+[ \t]+)?)*"
        rf"(?P<v>{HOST})(?:[ \t\n\\\"']|\Z)",
        _login_host,
        trigger=r"(?:\A|[^A-Za-z0-9_.-])(?:ssh|mosh|telnet|ping6?|sftp|nc|ncat|traceroute|dig|nslookup|tracepath)[ \t]+[-A-Za-z0-9]",
    ),
    host_name(
        "record",
        r"\.?(?:[ \t]|\\{1,7}t)+[0-9]{1,6}(?:[ \t]|\\{1,7}t)+IN(?:[ \t]|\\{1,7}t)+(?:A|AAAA|CNAME|PTR|MX)\b",
        _name_of_record,
        trigger=r"\.?(?:[ \t]|\\+t)+[0-9]+(?:[ \t]|\\+t)+IN(?:[ \t]|\\+t)",
    ),
    host_name("copied", r"(?:scp|rsync)[ \t]", _copied),
    host_name(
        "host-variable",
        rf"(?:HOSTNAME|COMPUTERNAME|USERDOMAIN|[hH]ostname|nodename|NodeName|Node Name|Machine|[sS]erver|ComputerName|LocalHostName|HostName)(?:=|:[ ]|{NEW_LINE}[ ]?)(?P<v>{HOST})",
        _named_host,
        trigger=rf"(?:HOSTNAME|COMPUTERNAME|USERDOMAIN|[hH]ostname|nodename|NodeName|ComputerName|LocalHostName|HostName)(?:=|:[ ]|{NEW_LINE}[ ]?)[A-Za-z0-9]",
    ),
    host_name(
        "driver-host",
        rf"(?:[sS]erver|SERVER|Data Source|[hH]ost|HOST)=(?:tcp:)?(?P<v>{HOST})(?:\\|,[0-9]|;)",
        _login_host,
    ),
    host_name("instance", rf"instance=\\{{0,7}}\"(?P<v>{HOST}):[0-9]", _named_host),
    host_name("host-flag", rf"[ \t](?:-h|--host)[ =](?P<v>{HOST})", _login_host),
    host_name(
        "syslog",
        rf"[JFMASOND][a-z]{{2}} [ 0-9][0-9] [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} (?P<v>{HOST}) [a-zA-Z0-9_./-]+(?:\[[0-9]+\])?:",
        _named_host,
    ),
    host_name(
        "service-log",
        rf"[0-9]T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})[ ](?P<v>{HOST}) [a-zA-Z0-9_./-]+(?:\[[0-9]+\])?:[ ]",
        _login_host,
    ),
    host_name(
        "ssh-host",
        rf"Host[ \t]+(?P<v>{HOST}){NEW_LINE}[ \t]+(?:HostName|Hostname|User|Port|IdentityFile|ProxyJump)[ \t]",
        _login_host,
        trigger=r"Host[ \t]+[A-Za-z0-9][A-Za-z0-9.-]*(?:[ \t]|\r?\n|\\)",
    ),
    host_name(
        "share",
        rf"(?:\A|[ \t=])(?:\\{{2}}|\\{{4}}|//)(?P<v>{HOST})[\\/]{{1,2}}[A-Za-z]",
        _shared,
        trigger=r"(?:\A|[ \t=])(?:\\{2,4}|//)[A-Za-z0-9]",
    ),
    host_name(
        "host-told",
        rf"(?:Connection to|[rR]esolve hostname|host name \"|connect to(?: host)?|PING|Connected to|connecting to|scan report for|127\.0\.1\.1|{START}Host|HostName)[ \t]*(?P<v>{HOST})",
        _login_host,
    ),
    host_name(
        "named-url",
        r"[a-z]://(?:[A-Za-z0-9_.-]+@)?(?P<v>[A-Za-z0-9][A-Za-z0-9-]*):[0-9]+",
        _login_host,
    ),
)
