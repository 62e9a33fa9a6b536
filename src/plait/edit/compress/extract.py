"""What the model said in a turn to its weightiest sentences: no model, nothing sent anywhere.

The last sentences say how it ended and the first what it was about; between them those count that
name files, commands, figures, or say what was decided, found, or went wrong. What is short enough
stays as it is.
"""

import re
from collections.abc import Iterator

from plait.edit.compress.model import ToldTurn

LONGEST = 700
"""Letters that stand for the answers of a turn."""
GAP = " […] "
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[\w`*\"'(\[-])|\n+")
PATHLIKE = re.compile(r"`[^`\n]+`|\b[\w.-]+/[\w./-]+|\b\w+\.(?:[a-z]{1,4})\b|\w+\(\)")
FIGURE = re.compile(r"\d")
WEIGHTY = re.compile(
    r"\b(decid|chos|instead|because|fix|found|caus|reason|error|fail|broke|bug|wrong|must|never|"
    r"always|should|need|added|removed|renamed|changed|created|wrote|pass|works?|done|todo|next|"
    r"remain|left|not yet|warning|important|note)\w*",
    re.IGNORECASE,
)


def extract(turn: ToldTurn) -> str:
    """Returns the answers of a turn in few sentences, in the order in which they were said."""
    whole = "\n\n".join(turn.answers)
    if len(whole) <= LONGEST:
        return whole
    sentences = [one for text in turn.answers for one in _sentences(text)]
    chosen = sorted(_chosen(sentences))
    return _joined(sentences, chosen) or f"{whole[: LONGEST - 1]}…"


def _sentences(text: str) -> Iterator[str]:
    for part in SENTENCE.split(FENCE.sub("", text)):
        words = " ".join(part.split())
        if words.strip("#*-=_|` ") and not words.startswith("|-"):
            yield words if len(words) <= LONGEST // 2 else f"{words[: LONGEST // 2 - 1]}…"


def _chosen(sentences: list[str]) -> Iterator[int]:
    """Yields the places of what is told, the weightiest first, as long as there is room."""
    last = len(sentences) - 1
    ranked = sorted(range(len(sentences)), key=lambda n: (-_weight(sentences[n], n, last), -n))
    room = LONGEST
    for place in ranked:
        needed = len(sentences[place]) + len(GAP)
        if needed <= room:
            room -= needed
            yield place


def _weight(sentence: str, place: int, last: int) -> float:
    ends = 6 if place == last else 4 if place == 0 else 3 if last - place < 3 else 0
    named = min(len(PATHLIKE.findall(sentence)), 3)
    weighty = min(len(WEIGHTY.findall(sentence)), 3)
    return ends + named + 1.5 * weighty + 0.5 * bool(FIGURE.search(sentence))


def _joined(sentences: list[str], places: list[int]) -> str:
    told: list[str] = []
    before: int | None = None
    for place in places:
        if before is not None:
            told.append(" " if place == before + 1 else GAP)
        told.append(sentences[place])
        before = place
    return "".join(told)
