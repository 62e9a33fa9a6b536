"""The secrets that only their surroundings tell: one family each.

Quotes may be escaped any number of times, because logs hold JSON in JSON in JSON.
"""

from plait.redact.context_values import (
    assigned,
    basic,
    cookies,
    credential,
    flagged,
    header,
    spoken,
)
from plait.redact.model import Family
from plait.redact.spans import anywhere, block, letters_of

QUOTE = r"""\\{0,7}["'`]"""
SPACE = r"[ \t]{0,8}"
# In three spellings rather than in any case: "tokens" and its kin are everywhere in a log.
NOUNS = (
    "password|Password|PASSWORD|passwd|Passwd|PASSWD|passphrase|Passphrase|PASSPHRASE"
    "|secret|Secret|SECRET|token|Token|TOKEN"
    "|[aA][pP][iI][_-]?[kK](?:ey|EY)|(?:access|private|auth|account|signing|encryption|master"
    "|license|service|admin|storage|shared|webhook)[_-]?[kK]ey"
    "|(?:ACCESS|PRIVATE|AUTH|ACCOUNT|SIGNING|ENCRYPTION|MASTER|LICENSE|SERVICE|ADMIN|STORAGE|APP"
    "|WEBHOOK)[_-]?KEY|[a-z](?:Access|Private|Auth|Account|Signing|Encryption|Master)Key"
    "|credential|CREDENTIAL|[pP]wd|PWD|_PASS|_pass|PGPASS|_PSW|_PAT|AccountKey|SharedAccessKey"
    r"|_auth|_AUTH|\.dockerconfigjson|_DSN|_SALT|_KEY|_PW|[^A-Za-z0-9_]pass|IDENTIFIED|requirepass"
    r"|(?:API|api|Api|access|Access|secret|Secret) [kK]ey"
)
SUFFIX = r"(?:[_.-][A-Za-z0-9_.-]*|[A-Z0-9][A-Za-z0-9_]*)?"
EQUALS = (
    rf"(?:{QUOTE}\]?)?(?:{SPACE}(?::=|=>|==?=?|:|>|\(|,)|[ \t](?:is|was|to|BY|by)[ \t:])"
    r"[ \t]{0,8}"
)
BARE = r"""[^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff][^\x00-\x20"'`\\<>(),;{}\[\]|\x7f-\xff]{4,}"""
QUOTED = r"""[^\x00-\x1f"'`\\]{5,}"""

ASSIGNED = Family(
    "assigned",
    "secret in a setting",
    rf"(?:{NOUNS}){SUFFIX}{EQUALS}(?P<v>[bfru]?{QUOTE}{QUOTED}|{BARE})",
    assigned,
)
SPOKEN = Family(
    "told",
    "secret in a setting",
    rf"(?:PASSWORD|[pP]assword|passphrase|requirepass|masterauth|(?:API|api|access|secret) key"
    rf"|ENV [A-Z0-9_]+_(?:TOKEN|KEY|SECRET|PASSWORD)|ConvertTo-SecureString)[ \t]"
    rf"(?P<v>{QUOTE}{QUOTED}|{BARE})",
    spoken,
)
TUPLE = Family(
    "auth-pair",
    "password of a command",
    rf"auth{SPACE}=?{SPACE}\({SPACE}{QUOTE}[^\x00-\x1f\"'\\]+{QUOTE}{SPACE},{SPACE}{QUOTE}"
    r"(?P<v>[^\x00-\x20\"'`\\]{6,})",
    flagged,
)
NEXT_LINE = Family(
    "named-value",
    "secret in a setting",
    rf"(?:{NOUNS}){SUFFIX}(?:{QUOTE})?,?(?:[ \t\r\n]|\\{{1,7}}[nrt])*"
    rf"(?:{QUOTE})?[vV]alue(?:{QUOTE})?{SPACE}[:=]{SPACE}(?P<v>{QUOTE}{QUOTED}|{BARE})",
    assigned,
)
HEADER = Family(
    "authorization",
    "authorization header",
    rf"(?:[aA]uthorization|AUTHORIZATION)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:{QUOTE})?"
    rf"(?P<v>(?:[A-Za-z-]{{2,20}}[ \t]{{1,4}})?[A-Za-z0-9._~+/=:|-]{{8,}})",
    header,
)
BEARER = Family(
    "bearer",
    "bearer token",
    r"(?:Bearer|bearer|BEARER)(?:[ \t]{1,4}|%20|\+)(?P<v>[A-Za-z0-9._~+/=|-]{16,})",
    header,
)
COOKIE = Family(
    "cookie",
    "cookie",
    rf"(?:[cC]ookie|COOKIE)(?:{QUOTE})?{SPACE}[:=,]{SPACE}(?:{QUOTE})?"
    r"(?P<v>[A-Za-z0-9_.-]+=[A-Za-z0-9._~%+/=:|-]{8,}[^\x00-\x1f\"'\\]*)",
    cookies,
)
URL = Family(
    "url-password",
    "password in an address",
    r"[a-z0-9]:(?:\\{0,4}/){2}[^\x00-\x20\"'`\\<>/@:]*:(?P<v>[^\x00-\x20\"'`\\<>/@]{3,})@[A-Za-z0-9\[]",
    credential,
)
URL_TOKEN = Family(
    "url-token",
    "token in an address",
    r"https?:(?:\\{0,4}/){2}(?P<v>[A-Za-z0-9_-]{20,})(?::|:x-oauth-basic)?@[A-Za-z0-9]",
    credential,
)
CURL = Family(
    "curl-user",
    "password of a command",
    rf"[ \t](?:-u|--user|--auth|--proxy-user|--http-user)[ =]{SPACE}(?:{QUOTE})?"
    r"[^\x00-\x20\"'`\\:]+:(?P<v>[^\x00-\x20\"'`\\]{3,})",
    flagged,
)
FLAG = Family(
    "flag",
    "password of a command",
    r"(?:--?(?:[a-z]+-)?(?:password|passphrase|token|secret|api-key|pass|access-key|secret-key"
    rf"|storepass|keypass)[ \t]{{1,4}}|-pass(?:in|out)?[ \t]pass:)(?:{QUOTE})?"
    r"(?P<v>[^\x00-\x20\"'`\\<>(){}|-][^\x00-\x20\"'`\\<>(){}|]{4,})",
    flagged,
)
SHORT_FLAG = Family(
    "short-flag",
    "password of a command",
    rf"(?:sshpass[ \t]+-p[ \t]?|(?:mysql|mysqldump|mysqladmin|mariadb|[a-z]+ login|redis-cli)[ \t]"
    rf"[^\x00-\x1f\"'`\\|;&]{{0,80}}-[pa][ \t]?)(?:{QUOTE})?"
    r"(?P<v>[^\x00-\x20\"'`\\<>(){}|;-]{5,})",
    flagged,
)
SHELL = Family(
    "shell-set",
    "secret in a setting",
    r"setx?[ \t](?:-[A-Za-z]+[ \t])*[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASS)[ \t]{1,4}"
    rf"(?:{QUOTE})?(?P<v>[^\x00-\x20\"'`\\<>(){{}}|]{{6,}})",
    flagged,
)
LOGIN = Family(
    "docker-login",
    "docker login",
    rf"{QUOTE}auth{QUOTE}{SPACE}:{SPACE}{QUOTE}(?P<v>[A-Za-z0-9+/]{{8,}}={{0,2}})",
    basic,
)
NETRC = Family(
    "netrc",
    "password of netrc",
    r"login(?:[ \t\n]|\\{1,7}[nt])+[^\x00-\x20\"'\\]+(?:[ \t\n]|\\{1,7}[nt])+"
    r"password(?:[ \t\n]|\\{1,7}[nt])+(?P<v>[^\x00-\x20\"'\\]{5,})",
    flagged,
)
SIGNATURE = Family(
    "azure-sas",
    "azure signature",
    r"[?&]sig=(?P<v>[A-Za-z0-9%+/=]{40,})",
    anywhere,
)
PRIVATE_KEY = Family(
    "private-key",
    "private key",
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
    block,
    canonical=letters_of,
)
PUTTY = Family(
    "putty-key",
    "private key",
    r"Private-Lines: [0-9]{1,3}",
    block,
    canonical=letters_of,
)

CONTEXTS: tuple[Family, ...] = (
    PRIVATE_KEY,
    PUTTY,
    HEADER,
    BEARER,
    COOKIE,
    URL,
    URL_TOKEN,
    CURL,
    FLAG,
    SHORT_FLAG,
    SHELL,
    LOGIN,
    NETRC,
    SIGNATURE,
    TUPLE,
    NEXT_LINE,
    ASSIGNED,
    SPOKEN,
)
