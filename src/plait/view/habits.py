"""What stands out to words, the same on the page and in the terminal."""

from typing import NamedTuple

from plait.conversation.insights.model import Habit, HabitKind, Measure, Outlier, Trend
from plait.view.amounts import (
    hours_in_words,
    many,
    money_in_words,
    tokens_in_words,
)

MEASURES: dict[Measure, str] = {
    "cost": "Cost",
    "tokens": "Tokens",
    "sessions": "Sessions",
    "prompts": "Prompts",
    "calls": "Tool calls",
    "failed": "Failed calls",
}
OUTLYING = {"cost": "cost", "time": "work time", "failed": "failed calls", "prompts": "prompts"}
FAR_OFF = (
    "More than two median deviations above your own median, by factors, and three times it at "
    "least; of twelve or more"
)
"""The rule that says what is an outlier."""


class HabitWords(NamedTuple):
    """What a habit is called, from when on it is one, and what helps."""

    title: str
    rule: str
    advice: str


HABITS: dict[HabitKind, HabitWords] = {
    "pause": HabitWords(
        "You go on after the cache has gone cold",
        "five times or more",
        "go on sooner, or trim what is sent before you go on",
    ),
    "retry": HabitWords(
        "What had failed is tried again in the same words",
        "five times or more",
        "say what to try instead",
    ),
    "reread": HabitWords(
        "Files are read again that still stand in the context",
        "five times or more",
        "ask for what has changed",
    ),
    "abandoned": HabitWords(
        "Answers are left behind by rewinds",
        "five answers or more",
        "rewind earlier, or fork before you try something",
    ),
    "oversized": HabitWords(
        "Small questions go to a dear model",
        "five times or more",
        "ask them of a small model, in a session of its own",
    ),
    "rejects": HabitWords(
        "You say no to calls of {subject}",
        "five calls or more, and one in ten",
        "say in CLAUDE.md, or by a rule, what is not wanted",
    ),
    "fails": HabitWords(
        "Calls of {subject} fail",
        "ten calls or more, and one in five",
        "look at what they have in common; a word in CLAUDE.md often ends it",
    ),
    "interrupts": HabitWords(
        "You stop models at work",
        "five times or more, and in one turn of ten",
        "ask for a plan first",
    ),
    "takes back": HabitWords(
        "You take prompts back before they are answered",
        "five prompts or more, and one in ten",
        "nothing: it costs little",
    ),
    "night": HabitWords(
        "You work at night",
        "between 23 and 5 o'clock: ten prompts or more, and one in five",
        "nothing that a log could tell",
    ),
    "weekend": HabitWords(
        "You work on weekends",
        "ten prompts or more, and 35 % of all",
        "nothing that a log could tell",
    ),
    "dear model": HabitWords(
        "{subject} takes more of the money than of the answers",
        "30 % of the cost or more, and twice its share of the answers",
        "ask simpler things of another model",
    ),
    "compacts": HabitWords(
        "Sessions go on through several compactions",
        "three sessions or more, each compacted twice",
        "begin a new session for a new task",
    ),
}


def habit_title(habit: Habit, subject: str = "") -> str:
    """Returns what a habit is called, with the tool or the model that it is about."""
    return HABITS[habit.kind].title.format(subject=subject or habit.subject)


def habit_counts(habit: Habit) -> str:
    """Says how often it was, of how many, and what it cost."""
    nouns = {
        "rejects": "call",
        "fails": "call",
        "interrupts": "turn",
        "takes back": "prompt",
        "night": "prompt",
        "weekend": "prompt",
        "compacts": "compaction",
    }
    of = f"{habit.count:,}".replace(",", " ") + " of " + many(habit.whole, _noun(habit, nouns))
    cost = f", {money_in_words(habit.cost_usd)}" if habit.cost_usd else ""
    return of + cost


def _noun(habit: Habit, nouns: dict[str, str]) -> str:
    return nouns.get(habit.kind, "response")


def amount_in_words(measure: str, value: float) -> str:
    """Writes an amount of what a trend or an outlier measures."""
    if measure == "cost":
        return money_in_words(value) if value else "$0"
    if measure == "tokens":
        return tokens_in_words(round(value))
    if measure == "time":
        return hours_in_words(value) or "0 s"
    return f"{value:,.0f}".replace(",", " ")


def change_in_words(trend: Trend) -> str:
    """Writes how a measure has changed: by a share, or by times where that is more than double."""
    if trend.change is None:
        return "new" if trend.now else "–"
    if trend.now >= 3 * trend.before:
        return f"{trend.now / trend.before:.1f} ×"
    return f"{trend.change * 100:+.0f} %".replace("-", "−")


def outlier_in_words(one: Outlier) -> str:
    """Says how far off something is."""
    value, usual = (amount_in_words(one.measure, amount) for amount in (one.value, one.median))
    return f"{value} {OUTLYING[one.measure]}, {one.times:.1f} × the median of {usual}"
