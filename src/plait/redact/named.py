"""A name of a secret to its value: the notations and sentences that may follow, tried in order."""

import re
from typing import NamedTuple

from plait.redact.look_alikes import NOTHING, is_in_stand_in, is_placeholder
from plait.redact.model import Family, SecondLook, TextSpan
from plait.redact.nouns import BARE, NOUN, QUOTE, QUOTED, SPACE
from plait.redact.sentences import spoken, told, told_of
from plait.redact.settings import assigned, trimmed
from plait.redact.strength import is_passphrase, is_random

ATTRIBUTES = r"(?:[ \t]+[A-Za-z:]+=\\{0,7}[\"'][^\"'<>\\]{0,60}\\{0,7}[\"']){0,3}"
OPERATOR = r"(?:::?=?|\|\|=|\?\??=|=>|==?=?|<-|->|→|—|–|：|,|\(|\|\|?|>)"
EQUALS = (
    rf"(?:\*{{1,2}}|{QUOTE})?(?:\]|\))?(?:{QUOTE})?{ATTRIBUTES}(?:{SPACE}{OPERATOR}|[ \t](?:is|was|to|BY|by)[ \t:])"
    rf"(?:\*{{2}})?[ \t]{{0,8}}(?:(?:PASSWORD|password|new )?\(|\[[ \t\r\n]*|\([ \t]*\r?\n[ \t]*|\(sensitive(?: value)?\)[ ]->[ ]|(?:with|value|text):[ ]|\{{|![a-z_]+[ ]|env\({QUOTE}[A-Z_]+{QUOTE},[ ])?"
)
CALLED = rf"(?:{QUOTE})?\]?(?:{QUOTE})?\)?(?:\.first\(\))?\.(?:type|fill|send_keys|sendKeys|setValue|val|set|keyboard)\("
BLOCK = r"(?:\r?\n|\\{1,7}n)[ \t+>:]{0,16}"
OWN = (
    r"(?:[ ](?:for|of|on|to|in|from|at|von|für|zu|de|del|du|des|da|do|pour|para|per|van|voor|från|till|til|od|от|для|к"
    r"|you need|we use|I use)(?:[ ](?:[^\x00-\x20\"'`:=;]{1,40}|{QUOTE}[^\x00-\x1f\"'`]{1,60}{QUOTE})){1,5}"
    r"|[ ]\([^\x00-\x1f()\"'`]{1,40}\))"
).replace("{QUOTE}", QUOTE)
VERBS = (
    r"is|was|will be|should be|must be|might be|may be|could be|would be|now|are|ist|lautet|war|sei|est|était|es|era|é|è|foi|to|jest|je|on|är|er|este|là"
    r"|είναι|это|такой|такий|так|має|hier|היא|هي|set to|equals|becomes|changed to|reset to|as|from|below|follows|enter|use|try"
)
IS = rf"(?:[ ](?:{VERBS})(?:[ ]?:)?[ ]|'s[ ]|(?:は|が|是：|是|为|是|는|은)[ ]?|[ ]?(?:->|→|—|–|=>)[ ]?|[ ]-[ ]|[ ]\([ ]?)"
COLON = r"[ ]?(?:[:=：])[ ]?"
VALUE = rf"(?:「|『|“|„|«|‘|{QUOTE}(?=\\))?(?P<v>[bfru@]?{QUOTE}{QUOTED}|{BARE})"
SAID = rf"(?P<v>{QUOTE}{QUOTED})"
TYPE = r"\??:[ ]?[A-Za-z&'<>\[\]?*. ]{2,30}?[ ]?="
ELSE = r"(?:\|\||\?\?|\?:|:-|or|,|:)"
ENVIRONMENT = r"(?:env|Env|ENV|config|Config|settings|os\.|\$\{)"


class Tail(NamedTuple):
    """What may follow the name of a secret, and a look at the value in it."""

    expression: re.Pattern[bytes]
    look: SecondLook


def _tail(expression: str, look: SecondLook) -> Tail:
    return Tail(re.compile(expression.encode()), look)


TAILS: tuple[Tail, ...] = (
    _tail(
        rf"(?:{QUOTE})?(?:,|>|[ \t]\{{|/?>[ \t\r\n]*</?[a-zA-Z]+|</[a-z]+>)?(?:[ \t\r\n+]|\\{{1,7}}[nrt])*"
        rf"(?:[a-zA-Z]+={QUOTE}[A-Za-z]+{QUOTE}>?[ \t]*)?"
        rf"(?:\\{{0,7}}[\"']?[tT]ype\\{{0,7}}[\"']?[ :=\\\"'A-Za-z]{{2,30}},[ \t\\\"']*)?"
        rf"(?:{QUOTE}|<|--?)?(?:[A-Za-z_]{{0,12}}[vV]alue|default|string|content)(?:{QUOTE})?(?:{SPACE}[:=]|>|[ \t]){SPACE}{VALUE}",
        assigned,
    ),
    _tail(rf"{EQUALS}{VALUE}", assigned),
    _tail(rf"{TYPE}[ ]?{SAID}", assigned),
    _tail(
        rf"(?:{QUOTE})?{SPACE}[:=]{{1,2}}{SPACE}(?:[A-Za-z_.]{{0,30}}{ENVIRONMENT})[^\x00-\x1f;#]{{0,60}}?[ ]?{ELSE}[ ]?{SAID}",
        assigned,
    ),
    _tail(
        rf"</[a-z]{{1,6}}>:?(?:[ \t\r\n]*<[a-z][^<>\x00-\x1f]{{0,40}}>){{1,3}}[ \t\r\n]*{VALUE}",
        assigned,
    ),
    _tail(rf"{CALLED}{VALUE}", assigned),
    _tail(
        rf"(?:{QUOTE})?{SPACE}:?[ \t]?(?:[|>][-+]?)?{BLOCK}(?:{QUOTE})?(?P<v>{BARE})",
        assigned,
    ),
    _tail(rf"{IS}{VALUE}", told),
    _tail(rf"{OWN}(?:{IS}|{COLON}){VALUE}", told),
    _tail(rf"(?:[ ][^\x00-\x20\"'`:=;,.()]{{1,20}}){{1,3}}(?:{IS}|{COLON}){VALUE}", told_of),
    _tail(
        rf"[ ,][^\x00-\x1f:;=.\"'`]{{1,60}}[ ](?:generated|created|again|below|this|use|used)[ ]?:[ ]{VALUE}",
        told,
    ),
    _tail(rf"[ \t]{{1,40}}(?:[0-9][ \t])?{VALUE}", spoken),
)


def _named(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Takes the value that the first fitting notation gives the name."""
    if is_in_stand_in(text, match.start):
        return NOTHING
    for tail in TAILS:
        found = tail.expression.match(text, match.end)
        if found is None:
            continue
        whole = TextSpan(match.start, found.end())
        if spans := tail.look(text, whole, TextSpan(*found.span("v"))):
            return (*spans, *_more(text, spans[-1].end))
    return NOTHING


# What goes on in the next string of a list or a sum, or is told as another one.
MORE = re.compile(
    rf"{QUOTE}(?:[ \t]*[,+.]?[ \t]*(?:\\{{1,2}})?(?:\r?\n|\\{{1,7}}n)?[ \t+]*|[ ](?:or|and|to|->|=>)[ ]){QUOTE}(?P<v>{QUOTED})"
    rf"|{QUOTE}?[ ](?:to|or)[ ](?:{QUOTE})?(?P<w>{BARE})|,?[ ](?:and )?(?:the )?new(?: one| password)?(?: is)?:?[ ](?P<x>{BARE})".encode()
)
MOST_MORE = 8


def _more(text: bytes, place: int) -> tuple[TextSpan, ...]:
    """Returns the strings that stand beside a secret and look like another, or like its rest."""
    found: list[TextSpan] = []
    while len(found) < MOST_MORE and (more := MORE.match(text, place)):
        span = trimmed(text, TextSpan(*more.span(more.lastgroup or 0)))
        value = text[span.start : span.end]
        if not (is_random(value) or is_passphrase(value)) or is_placeholder(value):
            break
        found.append(span)
        place = span.end
    return tuple(found)


# Texts are searched for a name and for what may lead to its value; what that is, a second look tells.
LEADS = (
    rf"(?:{QUOTE})?(?:[\])*]{{1,2}})?(?:{QUOTE})?(?:[ \t]{{0,8}}{OPERATOR}[ \t*]{{0,8}}[^\x00-\x20]{{3}}|[ \t]{{1,8}}[^\x00-\x20]|'s[ ]|は|が|是|为|는|은)"
    rf"|(?:{QUOTE})?[ \t]?(?:[:,>]|\{{)?[ \t]?[|>]?[-+]?(?:\r?\n|\\{{1,7}}n)[ \t:]|</[a-z]+>|(?:{QUOTE})?\]?{QUOTE}\)\."
)

NAMED: tuple[Family, ...] = (
    Family(
        "named",
        "secret in a setting",
        NOUN,
        _named,
        trigger=rf"{NOUN}(?:{LEADS})",
        is_many=True,
    ),
)
