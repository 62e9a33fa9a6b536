"""Names of people where tools print them: histories, patches, mails, settings of Git."""

import re

from plait.redact.look_alikes import NOTHING
from plait.redact.model import Family, TextSpan
from plait.redact.nouns import QUOTE

LINE = r"(?:\r?\n|\\{1,7}n)"
PROGRAM = re.compile(
    rb"(?i)\bbot\b|\[bot\]|claude|anthropic|github|dependabot|renovate|copilot|noreply|your name"
    rb"|author|test"
)


def _people(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the name of an author, unless a program is one."""
    name = text[value.start : value.end].strip()
    if PROGRAM.search(name):
        return NOTHING
    return (TextSpan(value.start, value.start + len(name)),) if len(name) > 3 else NOTHING


AUTHORS: tuple[Family, ...] = (
    Family(
        "author",
        "",
        r"(?:(?:Author|Committer|Tagger|Co-[aA]uthored-[bB]y|Signed-off-by|Reviewed-by|From|Commit|To|Cc|Acked-by|Tested-by|Reported-by):|author|committer|tagger)"
        r"[ ]+(?P<v>[^\x00-\x20<\"\\][^\x00-\x1f<\"\\]*)<",
        _people,
        "user",
        trigger=r"(?:(?:Author|Committer|Tagger|[bB]y|From|Commit|To|Cc):|author|committer|tagger)[ ]+[^\x00-\x20<\"\\][^\x00-\x1f<\"\\]*<",
    ),
    Family(
        "addressee",
        "",
        r"(?P<v>[A-Z][a-z]+(?:[ ][A-Z][A-Za-z.'-]*){1,3}[ ])<[A-Za-z0-9_.+-]+@",
        _people,
        "user",
    ),
    Family(
        "blamed",
        "",
        r"\((?P<v>[A-Z][a-z]+(?:[ ][A-Z][A-Za-z.'-]*){1,3})[ ]+20[0-9]{2}-[0-9]{2}-[0-9]{2}[ ]",
        _people,
        "user",
    ),
    Family(
        "full-name",
        "",
        rf"{QUOTE}(?:fullName|full_name|displayName|display_name|realName|real_name|givenName|familyName|firstName|lastName|first_name|last_name){QUOTE}"
        rf"[ ]?:[ ]?{QUOTE}(?P<v>[A-Z][^\x00-\x1f\"'\\]{{3,40}}){QUOTE}",
        _people,
        "user",
    ),
    Family(
        "name-and-mail",
        "",
        rf"{QUOTE}?name{QUOTE}?[ ]?[:=][ ]?{QUOTE}(?P<v>[A-Z][^\x00-\x1f\"'\\]{{3,40}}){QUOTE},(?:[ \t\r\n]|\\{{1,7}}[nt])*{QUOTE}?e?mail",
        _people,
        "user",
    ),
    Family(
        "gecos",
        "",
        r":[x*!]:[0-9]{4,6}:[0-9]{1,6}:(?P<v>[A-Z][a-z]+[ ][^\x00-\x1f:,\"\\]{2,40})[,:]",
        _people,
        "user",
    ),
    Family(
        "git-variable",
        "",
        rf"GIT_(?:AUTHOR|COMMITTER)_NAME=(?:{QUOTE})(?P<v>[^\x00-\x1f\"'\\]{{4,40}})",
        _people,
        "user",
    ),
    Family(
        "git-section",
        "",
        rf"\[user\]{LINE}[ \t\\]*t?name[ ]?=[ ]?(?P<v>[^\x00-\x1f\"'\\]{{4,40}})",
        _people,
        "user",
    ),
    Family(
        "git-name",
        "",
        rf"user\.name[ =](?:{QUOTE})(?P<v>[^\x00-\x1f\"'\\]{{4,40}})",
        _people,
        "user",
    ),
)
