"""How names of people are written, and what tells them from names of programs and teams."""

import re
import unicodedata
from collections.abc import Iterator

from plait.redact.likelihood import NOTHING, is_at_word_start
from plait.redact.model import TextSpan

# Letters of Latin, Greek and Cyrillic names as UTF-8, since texts are searched as bytes, or as JSON
# writes them.
UPPER = (
    r"(?:[A-Z]|\xc3[\x80-\x9e]|[\xc4\xc5\xc8][\x80-\xbf]|\xce[\x86-\xab]|\xd0[\x80-\xaf]"
    r"|\xe1[\xb8-\xbb][\x80-\xbf]|\\{1,7}u0[01][0-9a-fA-F]{2})"
)
LETTER = r"(?:[a-z-]|[\xc3-\xd3][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf]|\\{1,7}u0[01][0-9a-fA-F]{2})"
TITLED = rf"(?:(?:Mc|Mac|De|Di|Le|La)?{UPPER}(?:{LETTER}|-{UPPER}|'[A-Za-z]){{1,20}}|[OD]'{UPPER}{LETTER}{{1,20}})"
"""One capitalised word."""
PARTICLES = r"(?:(?:van|von|de|der|den|del|della|da|dos|di|la|bin|al|ten|ter|zu)[ ]){0,2}"
FULL = rf"{TITLED}(?:[ ](?:{PARTICLES}{TITLED}|{UPPER}\.)){{1,3}}"
"""Two to four of them: first names, initials, last names."""
REVERSED = rf"{TITLED}(?:[ ]{TITLED})?,[ ]{TITLED}"
"""The last name before the first."""

PROGRAM = re.compile(
    rb"(?i)\bbot\b|\[bot\]|claude|anthropic|github|dependabot|renovate|copilot|noreply|your name"
    rb"|author|test"
)
# Capitalised words that are no part of a name.
OF_NOBODY = re.compile(
    rb"\b(?:Team|Group|Platform|Service|Services|Engineering|Support|Inc|Ltd|GmbH|Corp|Unknown|None|Not|Admin|Systems?|Test|Example|User|Build|Page|App|Project|New|The|My|Your|String|Optional|Column|Text|Varchar|Char|Field|True|False|Null|Value|Integer|Any|Required|First|Last|Full|Name|Enter|Please"
    rb"|Users|World|There|All|Everyone|Everybody|Folks|Guys|Friends?|Sir|Madam|Customers?|Reader|Developers?|Assistant|Agents?|Model|Opus|Sonnet|Haiku|Code|Cloud|Server|Client|Studio|Labs?|Foundation|Software|Company|University|Technologies|Actions|Manager|Framework|Library|Office|Department|Sales|Info|Help|Security|Press|Billing|Hello|Mail|E-?[mM]ail|Privacy|Legal|Contact|Microsoft|Google|Apple|Amazon|Facebook|Meta|Mozilla|Linux|Windows|Docker|Python|Rust|Java|Node|Git|Visual|Red Hat|Debian|Ubuntu|Fedora|Perl|Ruby|Apache|Archive|Automatic|Maintainers?|Licen[cs]e|Copyright|Open|Source|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|April|June|July|August|September|October|November|December"
    rb"|This|That|These|Those|It|If|When|With|And|But|For|From|In|On|At|By|To|Of|Or|No|Yes|Ok|Okay|Done|Here|We|They|You|He|She|What|Why|How|Who|Only|Every|Each|Some|Both|Now|Next|Then|After|Before|Default|Error|Warning|Debug|File|Data|Type|Key|List|Function|Class|Method|Object|Number|Array|Boolean|Date|Time|Tool|Task|Issue|Pull|Request|Commit|Branch|Version|Release|Review|Status|Message|Content|Session|Context|Command|Line|Output|Input|Result|Web|Search|Create|Created|Update|Updated|Delete|Read|Write|Edit|Add|Added|Fix|Fixed|Run|Use|Using|See|Get|Set|Make|Check|Let|Note|Notes|Summary|Details|Description|Title|Options?|Config|Settings?|Section|Table|Step|Phase|Part|Main|Base|Core|Common|Public|Private|Internal|External|Global|Local|Remote|Custom|Standard|Simple|Native|Dynamic|Static|Async|Node|Index|Item|Query|Event|Handler|Parser|Module|Package|Plugin|Extension|Component|View|Widget|Button|Form|Panel|Window|Menu|Icon|Color|Size|Width|Height|North|South|East|West|Street|Road|Avenue|Stack|Trace|Types?|Supported|Center|Centre|Desk|Hotline|Us|Me|Tree|Graph|Domain|Root|Authority|Certificate|Certification|Trust|Secure|Unit|Identity)\b"
)


def is_person(name: bytes) -> bool:
    """Return whether a capitalised name is a person's rather than a team's or a program's."""
    return OF_NOBODY.search(name) is None and PROGRAM.search(name) is None


def take_person(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name of a person that is a word of its own after what announces it."""
    is_apart = is_at_word_start(text, match.start) and is_at_word_start(text, value.start)
    return (value,) if is_apart and is_person(text[slice(*value)]) else NOTHING


WINDOW = 90
"""How far from an address the name of its owner may be."""
RUN = re.compile(rf"{TITLED}(?:,?[ ](?:{PARTICLES}{TITLED}|{UPPER}\.)){{0,3}}".encode())
ADDRESS = re.compile(rb"[A-Za-z0-9_.%+\-]{1,64}@?\Z")
ADJACENT = re.compile(
    rf"({REVERSED}|{TITLED},{TITLED}|{FULL}|[A-Z][A-Za-z]+(?:[ ][A-Z][A-Za-z.'-]*){{1,3}})(?:\*\*|\\{{0,7}}[\"'])?[ \t]{{0,20}}"
    rf"(?:[<(\[|,;\t:)]|–|—|\\{{1,7}}t|[ ]?-|(?:called|calls|emailed|emails|told|asked|pinged|met)(?=[ ]))[ \t]{{0,20}}(?:\\{{0,7}}[\"'])?(?:mailto:)?\Z".encode()
)
OF_COMMIT = re.compile(rf"(?:(?<![A-Za-z0-9_])[0-9a-f]{{7,40}}|\n[ \t]*)[ ]?({FULL})[ ]\Z".encode())
BEHIND = re.compile(
    rf"[>)]?(?:\\{{0,7}}[\"'])?[ ]?(?:[(\[,|;\t]|\\{{1,7}}t)[ \t]*({FULL})(?=[)\],|;]|[ \t]*(?:\n|\\{{1,7}}n|\\{{0,7}}[\"']|\Z))".encode()
)


def take_names_of_address(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names that belong to an e-mail address: next to it, or repeated in it."""
    found = ADDRESS.search(text, max(0, match.start - 64), match.start + 1)
    start = found.start() if found else match.start
    start += start > 0 and text[start - 1] == 0x5C and text[start] in b"nrt"
    first = max(0, start - WINDOW)
    spans = {
        TextSpan(*name.span(name.lastindex or 0))
        for name in (
            ADJACENT.search(text, first, start),
            OF_COMMIT.search(text, first, start),
            BEHIND.match(text, match.end, match.end + WINDOW),
        )
        if name
    }
    words = fold(text[start : match.start + 1])
    for near in (TextSpan(first, start), TextSpan(match.end, match.end + WINDOW)):
        for run in RUN.finditer(text, *near):
            if any(part in words for part in _parts_of(run[0])):
                spans.add(TextSpan(*run.span()))
    return tuple(_without_overlaps(filter(None, (_of_person(text, span) for span in spans))))


def _without_overlaps(spans: Iterator[TextSpan]) -> Iterator[TextSpan]:
    end = -1
    for span in sorted(spans):
        if span.start >= end:
            yield span
            end = span.end


LEADING = re.compile(
    rb"(?:(?:Hi|Hello|Hey|Dear|Hallo|Thanks|Regards|Best|Cheers|Contact|From|To|Cc|By|Author|Owner|Name|Mail|Ask|Ping|Tell|Call|Email|And|The|Maintainer|Reviewer|Assignee|Reporter|User|Customer|Mr|Mrs|Ms|Dr|Herr|Frau),?[ ])+"
)


def _of_person(text: bytes, span: TextSpan) -> TextSpan | None:
    if not is_at_word_start(text, span.start):
        return None
    leading = LEADING.match(text, *span)
    span = TextSpan(leading.end() if leading else span.start, span.end)
    return span if is_person(text[slice(*span)]) else None


def _parts_of(name: bytes) -> set[str]:
    """Return the words of a name as an address may have them."""
    return {
        form
        for word in re.split(rb"[ ,-]+", name)
        for form in (fold(word), fold(word, UMLAUTS))
        if len(form) >= 3
    }


UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
ALONE = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "ı": "i"})


ESCAPED = re.compile(r"\\{1,7}u([0-9a-fA-F]{4})")


def fold(name: bytes, letters: dict[int, str] = ALONE) -> str:
    """Return a name in lower-case letters without accents."""
    text = (
        ESCAPED.sub(lambda code: chr(int(code[1], 16)), name.decode("utf-8", "replace"))
        .lower()
        .translate(letters)
        .translate(ALONE)
    )
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text)
        if letter.isalpha() and letter.isascii()
    )


BEFORE_NUMBER = re.compile(
    rf"(?:({REVERSED}|{FULL})|\b(?:[cC]all|[tT]ext|[rR]ing|[pP]hone|[rR]each|[dD]ial)[ ]({TITLED}))(?:\\{{0,7}}[\"'])?[ ]?(?:[,:;|(]|[ ]-|–|[ ](?:at|on|under|unter|is))?[ \t]{{0,20}}(?:\\{{0,7}}[\"'])?\Z".encode()
)


def take_name_of_number(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the names before and after a phone number."""
    found = (
        BEFORE_NUMBER.search(text, max(0, match.start - WINDOW), match.start),
        BEHIND.match(text, value.end, value.end + WINDOW),
    )
    spans = (_of_person(text, TextSpan(*name.span(name.lastindex or 0))) for name in found if name)
    return tuple(filter(None, spans))


BEFORE_AGE = re.compile(rf"({FULL})(?:,|[ ]\||[ ]-)?[ \t]{{1,20}}\(?\Z".encode())


def take_name_of_age(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match the name before how old a commit is."""
    found = BEFORE_AGE.search(text, max(0, match.start - WINDOW), match.start)
    span = _of_person(text, TextSpan(*found.span(1))) if found else None
    return (span,) if span else NOTHING


ENTRY = re.compile(rb"(?<![A-Za-z0-9_])[0-9a-f]{7,40}(?![A-Za-z0-9_])")


def take_author_of_entry(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a name in a line that has a commit before it."""
    start = max(text.rfind(b"\n", 0, match.start), match.start - 200, 0)
    is_entry = ENTRY.search(text, start, match.start) is not None
    return take_person(text, value, value) if is_entry else NOTHING


def take_street(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a street with a number, unless it is named like a program."""
    found = text[slice(*value)]
    is_program = not is_person(found) if found.startswith(b"Via ") else PROGRAM.search(found)
    return (value,) if not is_program and is_at_word_start(text, value.start) else NOTHING


NUMBERED = re.compile(
    rf"[0-9]{{1,5}}[ ,].*{TITLED}.*|.*{TITLED}.*[ ][0-9]{{1,5}}[ ]?[a-zA-Z]?".encode()
)


def take_numbered_street(text: bytes, match: TextSpan, value: TextSpan) -> tuple[TextSpan, ...]:
    """Match a value with a capitalised word and a number at one of its ends."""
    found = text[slice(*value)].rstrip()
    is_street = NUMBERED.fullmatch(found) is not None and PROGRAM.search(found) is None
    return (TextSpan(value.start, value.start + len(found)),) if is_street else NOTHING


HOUSE = r"[0-9]{1,4}[ ]?[a-z]?"
OF = r"(?:(?:de la|de los|de las|de|du|des|del|della|dei|delle|da|do|dos|la|le|les)[ ]|d'|l'){0,2}"
WAYS = (
    r"(?:[rR]ue|[aA]venue|[bB]oulevard|[cC]hemin|[aA]llée|[iI]mpasse|[qQ]uai|Calle|Avenida|Paseo|Via|Viale"
    r"|Piazza|Rua|Travessa|Praça|[uU]lica|ul\.|Strada|Carrer)"
)
ENDINGS = (
    r"(?:straße|strasse|str\.|allee|weg|platz|gasse|straat|laan|plein|gracht|gade|vej|gatan|vägen)"
)
ENGLISH = r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Boulevard|Blvd|Drive|Court|Way|Crescent|Terrace|Parkway)"
STREET = (
    rf"(?P<v>{TITLED}{ENDINGS}[ ]{HOUSE}|[0-9]{{1,5}}[ ](?:{TITLED}[ ]){{1,2}}{ENGLISH}(?:[ ](?:Apt|Suite|Unit)\.?[ ][0-9A-Z]{{1,5}})?"
    rf"|[A-Z][a-z]{{2,12}}{ENDINGS}[ ]{HOUSE}|{TITLED}(?:[ -]{TITLED})?[ -](?:Straße|Strasse|Str\.|Allee|Platz|Gasse)[ ]{HOUSE}"
    rf"|[0-9]{{1,4}}(?:[ ]?(?:bis|ter))?,?[ ]{WAYS}[ ]{OF}{TITLED}(?:[ -]{TITLED}){{0,2}}"
    rf"|{WAYS}[ ]{OF}{TITLED}(?:[ -]{TITLED}){{0,2}},?[ ]{HOUSE})"
)
STREET_BEGINS = (
    rf"[A-Z][a-z\x80-\xff]+{ENDINGS}[ ][0-9]|[0-9]+[ ][A-Z][a-z\x80-\xff]+[ ](?:[A-Z][a-z\x80-\xff]+[ ])?{ENGLISH}"
    rf"|[A-Z][a-z\x80-\xff]+[ -](?:Straße|Strasse|Str\.|Allee|Platz|Gasse)[ ][0-9]|[0-9]+(?:[ ]?(?:bis|ter))?,?[ ]{WAYS}[ ]|{WAYS}[ ][A-Zdl\xc3]"
)
