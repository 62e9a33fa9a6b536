"""What a row is about to a few words: prompts without their machine tags, marks by name."""

import re

from plait.graph.shapes import Mark, Row

COMMAND = re.compile(r"<command-name>\s*(/?[^<]*)")
ARGUMENTS = re.compile(r"<command-args>([^<]*)")
SHELL = re.compile(r"<bash-input>([^<]*)")
NOTICE = re.compile(r"<summary>([^<]*)")
TEAMMATE = re.compile(r"<teammate-message[^>]*teammate_id=\"([^\"]*)\"[^>]*>\s*([^<]*)")
TAG = re.compile(r"</?[a-z][\w-]*(?:\s[^<>]*)?>?")
LENGTH = 300
NOTES: dict[Mark, str] = {
    "leaf": "resumes here",
    "rewind": "after a rewind",
    "parallel": "two clients at once",
    "restart": "context cleared",
    "retry": "answered again",
    "replay": "written twice",
    "retracted": "retracted",
    "resent": "sent again",
    "interrupted": "interrupted",
    "queued": "queued",
    "error": "api error",
    "service": "service",
}


def words_of(row: Row) -> str:
    """Returns what a row is about, in the words of its prompt where it has one."""
    if row.words:
        return plain_words(row.words)
    if "compaction" in row.marks:
        return "compacted"
    return "(goes on)"


def plain_words(text: str) -> str:
    """Returns a prompt as a person would write it down: commands, shell lines, notices named."""
    if not text.startswith("<"):
        return text
    if found := COMMAND.search(text):
        arguments = ARGUMENTS.search(text)
        return f"{found[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    if found := SHELL.search(text):
        return f"! {found[1].strip()}"
    if text.startswith("<task-notification"):
        found = NOTICE.search(text)
        return f"notice: {found[1].strip()}" if found else "notice of a task"
    if found := TEAMMATE.search(text):
        return f"{found[1]}: {found[2].strip()}"
    return " ".join(TAG.sub(" ", text).split()) or text


def notes_of(row: Row) -> list[str]:
    """Returns the marks of a row that words say better than a sign."""
    return [note for mark, note in NOTES.items() if mark in row.marks]


def one_line(text: str) -> str:
    """Returns the beginning of a text on one line."""
    return " ".join(text[: LENGTH * 2].split())[:LENGTH]
