"""`/rewind` and `/branch`: a prompt that one goes back to, and what becomes of files."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from plait.agent.rewinding import FileStep, Point, Restoration, point_named
from plait.agent.rewinding.files import IN_WORDS
from plait.cli.text import safe_line
from plait.errors import UserError
from plait.view.amounts import dotted, many

if TYPE_CHECKING:
    from plait.cli.chat.talk import Talk

What: TypeAlias = Literal["conversation", "files", "both"]
WHATS: tuple[What, ...] = ("conversation", "files", "both")
OVER = "over"
MOST_LISTED = 20
WIDEST = 60
USAGE = "`/rewind 2 both` goes back before the last prompt but one, with files as they were"


async def rewind(talk: "Talk", rest: str) -> None:
    """Goes back to before a prompt: what was said, what was changed, or both."""
    points = talk.client.points()
    words = rest.split()
    name = words[0] if words else await _asked_point(talk, points)
    if name is None:
        return
    point = point_named(points, name)
    plan = talk.client.files_at(point)
    what, is_over = _chosen(words[1:]) or (await _asked_what(talk, point, plan), False)
    if what in ("conversation", "both"):
        await talk.client.rewind(point)
        talk.keyboard.put_back(point.text)
        await talk.say(f"goes on before '{_short(point)}'; what came after stays in the log")
    if what in ("files", "both"):
        await talk.say(*put_back(plan, is_over=is_over))
    if what is None:
        await talk.say("nothing was changed")


async def branch(talk: "Talk", rest: str) -> None:
    """Goes on in a session of its own, from here or from before a prompt (`@2`)."""
    mark, _, title = rest.partition(" ") if rest.startswith("@") else ("", "", rest)
    point = point_named(talk.client.points(), mark[1:]) if mark else None
    if point and point.before is None:
        raise UserError("nothing comes before the first prompt", "`/clear` begins a new session")
    old = talk.client.session
    await talk.branch(point, title.strip())
    if point:
        talk.keyboard.put_back(point.text)
    await talk.say(f"goes on in a branch; `plait chat --resume {old}` goes back")


def listed(points: Sequence[Point]) -> Iterator[str]:
    """Yields a line for each prompt, the newest last with the number 1."""
    if len(points) > MOST_LISTED:
        yield f"  … {many(len(points) - MOST_LISTED, 'earlier prompt')}"
    for number in range(min(len(points), MOST_LISTED), 0, -1):
        yield f"  {number:>2}  {_short(points[-number])}"


def planned(plan: Restoration | None) -> Iterator[str]:
    """Yields what going back would mean for files."""
    if plan is None:
        yield "no files were kept then"
    elif not plan.steps:
        yield "files are as they were then"
    for step in plan.steps if plan else ():
        yield f"  {_told(step)}"


def put_back(plan: Restoration | None, *, is_over: bool) -> list[str]:
    """Has files hold what they held; returns what is said of it."""
    if plan is None or not plan.steps:
        return list(planned(plan))
    done = plan.carry_out(over=is_over)
    lines = [f"  {step.verb}: {safe_line(step.name)}" for step in done]
    kept = [step for step in plan.steps if step not in done]
    lines += [f"  left alone: {_told(step)}" for step in kept]
    if any(step.trouble == "foreign" for step in kept):
        lines.append(f"`/rewind … files {OVER}` puts back those too, and keeps a copy")
    if is_over and plan.foreign and plan.copies:
        lines.append(f"copies of what others had changed are in {plan.copies}")
    return [dotted(many(len(done), "file"), "as then"), *lines]


def _told(step: FileStep) -> str:
    if step.trouble in ("outside", "lost", "unreadable"):
        return f"{safe_line(step.name)}: {IN_WORDS[step.trouble]}"
    more, fewer = step.lines
    parts = dotted(step.verb, f"+{more} -{fewer}", IN_WORDS[step.trouble])
    return f"{safe_line(step.name)}: {parts}"


def _chosen(words: Sequence[str]) -> tuple[What | None, bool] | None:
    if not words:
        return None
    what = next((one for one in WHATS if one == words[0]), None)
    if what is None or words[1:] not in ([], [OVER]):
        raise UserError(f"'{' '.join(words)}' is nothing to go back with", USAGE)
    return what, words[1:] == [OVER]


async def _asked_point(talk: "Talk", points: Sequence[Point]) -> str | None:
    if not points:
        raise UserError("nothing was asked yet that one could go back to")
    await talk.say(*listed(points))
    async with talk.keyboard.alone():
        said = await talk.keyboard.answer("Go back before which of them? (number) ")
    return said.strip() if said and said.strip() else None


async def _asked_what(talk: "Talk", point: Point, plan: Restoration | None) -> What | None:
    await talk.say(f"before '{_short(point)}':", *planned(plan))
    if plan is None or not plan.steps:
        return "conversation"
    async with talk.keyboard.alone():
        said = await talk.keyboard.answer("c  conversation, f  files, b  both, n  neither: ")
    letter = (said or "").strip().casefold()[:1]
    return next((one for one in WHATS if one[0] == letter), None)


def _short(point: Point) -> str:
    words = safe_line(" ".join(point.text.split()))
    return words if len(words) <= WIDEST else f"{words[: WIDEST - 1]}…"
