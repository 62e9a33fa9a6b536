"""Questions with known answers: the right turn is found first, or among the first five."""

from datetime import UTC, datetime
from pathlib import Path

from plait.archive import Archive
from plait.recall.answers import Recall
from plait.record.time_words import parse_time_option

GALLERY = {
    "why was the gift card discount taken off twice": "336718fa:1",
    "test for a gift card worth more than the cart": "336718fa:2",
    "one-line commit message for the gift card fix": "336718fa:3",
    "rate limit for login attempts": "9ba792fd 34e60609 d8144d28",
    "should the login limit use redis": "d8144d28:2",
    "which answer do more than five login attempts get, 429": "9ba792fd",
    "how do we search 4,000 products": "e15389d1:1",
    "FTS5 with prefixes so that choc finds chocolate": "e15389d1:2",
    "keep the search table in step when a product is renamed": "e15389d1:3",
    "why does report.py take 40 minutes": "2c687a8d:1",
    "use Decimal and a single pass for the report": "2c687a8d:2",
    "report in under five seconds without a database": "2c687a8d:3",
    "table per cost centre with a column for each month": "2c687a8d:4",
    "daily file with minutes only from the station": "4a59044d:1",
    "delete readings older than a week": "4a59044d:2",
    "why did we stop importing the 2019 archive": "4bb035b5",
    "skip the twelve rows without an account": "4bb035b5:3",
    "what happens when a bank renames a column": "9f50ca92:1",
    "delimiter of the csv exports": "9f50ca92",
    "why does quill hang on unclosed emphasis": "b1bdcbd7:1",
    "home page takes three seconds, queries for the means": "39852fd7:1",
    "dark mode for the dashboard": "6c327eac:1",
    "does the dashboard work on a phone": "6c327eac:2",
    "uploads to the bucket fail with 403": "03e8971f:1",
    "what changed since v1.3 for users": "7d5638b0:1",
    "where was version 1.4.0 tagged": "7d5638b0:3",
    "better palette for the bars in the chart": "5f9c417d:1",
    "tests that fail once in ten runs on CI": "30ca0be7:1",
    "different anchors for headings with the same text": "b4bc37f8:1",
    "migration 0007 cannot be undone": "2eb7e609",
}
"""Over the examples: a handle, or the sessions that are right whatever the turn."""
CORPUS = {
    "skill that lets claude and codex collaborate with entire checkpoints": "fe3ed705",
    "CI test that keeps failing, critical design review of the nested export": "967e501d",
    "why does npm run check pass locally and fail in CI": "0fae0449",
    "timeline filter hides the group instead of all items": "0d3a8e6f",
    "group.visible of the vis library": "0d3a8e6f",
    "re-run evaluation from the summary page": "515da1e8",
    "what does _get_enhanced_session_navigation do": "37f83ec9",
    "commit pending changes and unknown files, project health check": "a7da6a22",
    "make the pull request helper installable with uv": "cb2e607c",
    "look up the pull request for the current branch by default": "cb2e607c",
    "test the new installs without merging into main": "95047199",
    "packmind promotion after remediation": "8fc80a94",
    "redirect so the old tokenizer url does not break on vercel": "9e953218",
    "evaluate impact cannot be re-run on a remediation after removing the evaluation": "4550d4cb",
    "batch remediation prompts max 10 issues": "0fccf939",
    "pid collision sessions gh issue 109": "2f7a33aa",
    "intelligent merge for AGENTS.md and CLAUDE.md": "95dc735b",
    "marvin logo in ascii art for the skills": "35ea950f",
    "margin-bottom for details elements that are not open": "4379d1bf",
    "testing script to replay sessions for gh issue 102": "07f5cca9",
    "cursor local plugin install did not load on windows and wsl": "415c4d06",
    "modernise the sound recorder to be cross-browser": "7acd37a8",
    "github action to run tests and linting with act": "fe869ecb",
    "code review and refactoring of the tokenizer with a web worker": "f852ad25",
    "tests for _is_cache_version_compatible": "aa5c5ada",
    "token usage totals in the top level index.html": "07f2e15c",
    "clear issue selection basket after remediation": "30bcbd5e",
    "merge action summary and diff sections into a unified file list": "85e17327",
    "opencode plugin like superpowers": "c5b3d2bd",
    "copilot instructions shown instead of AGENTS.md": "5e1ab9a6",
}
"""Over the shared logs: the session that is right."""

FRESH = {
    "where does the session pid come from, the file under ~/.claude/sessions": "2f7a33aa",
    "how can a skill pre-approve its tools in the frontmatter instead of settings.json": "fe3ed705",
    "support tar.gz archives nested inside a zip": "a7da6a22",
    "replace ScriptProcessor with AudioWorklet": "7acd37a8",
    "does remediation commit its changes, what did we say in the readme": "3c7e488d",
    "Packmind logo and product tour modal": "8fc80a94",
    "which python versions does the CI workflow test": "fe869ecb",
    "should the skill header be printed when it exits early with an error": "35ea950f",
    "buffer overflow protection when parsing server sent events": "0fae0449",
    "opinion on keeping dev-docs apart from work documents": "03eb5929",
    "use gpt-5 by an environment variable for the model name": "9a9eadc8",
    "why were the plugin's skills not loaded by opencode, main in package.json": "c5b3d2bd",
    "template component for session navigation instead of duplicated code": "37f83ec9",
    "phase 9 was planned already, fix the status line": "967e501d",
    "evaluate impact looks at the original files and not the patched ones": "b1fc4610",
    "old sessions suppress the pre-session of a new process with another pid": "2f3afc56",
    "can claude -p use WebSearch": "2b4ed4c0 256ba646",
    "why do you ask for permission all the time instead of just doing it": "67a8478e",
    "browser tests fail after phase 2 of the architecture review, sidechain css class": "12a546d1",
    "project name from the least nested working directory, most recent on ties": "71c9afe9",
}
"""Over the shared logs too: written from what sessions say, before any answer was looked at."""

ASKED = {
    "why did codex fail during remediation, which sandbox value replaced the invalid one": "a6fd082d",
    "token ids above the text did not show in chrome, how was it rewritten": "b25638d7",
    "why did messaging finished teammates not wake them up again": "ef958aa1",
    "what would break gemini because a deleted markdown file was still referenced": "95047199",
    "we renamed the repo from agent plugins, which files stil had the old name": "ba833b9a",
    "type checker says pytest skip is not callable, how was it silenced": "326189cf",
    "see the provider's output while linked documents get sumarised": "6f3b4b02",
    "browser refused the script because the server answered with html": "9e953218",
    "make my own go build win over the homebrew binary": "fe3ed705",
    "docker image build fails installing packages, npm bug and the flag against it": "9a9eadc8",
    "agent was told to poll a background shell with a tool that does not exist": "d3e286c9",
    "cached sessions and transcript entries keep their time in differnt fields": "b45ad5d8",
    "press export in the terminal ui and just open the page that is already cached": "89488521",
    "tests expected shortest root path but the name comes from the last directory now": "cbc0f75b",
    "readme did not mention all three skills": "0953ba2a",
    "the response format was described twice in the skill, what did we do about it": "4a07cdcd",
    "gitignore line where two entries ran together": "a7da6a22",
    "why does CI check main instead of the branch of my worktree": "0fae0449",
    "mock objects for textual styles, lint errors in the TUI tests": "937c6e6b",
    "unused memo dependency warning stopped the commit, what was moved": "30bcbd5e",
}
"""The same again, further from the words of the logs, and with typos."""

REPHRASED = {
    "how are broken zips reported in the manifest": "a7da6a22",
    "vercel deployment lacks the files of the submodul, which build command checks it out": "9e953218",
    "where does cursor expect plugins under development, which directory": "415c4d06",
    "weak points of splitting documents by purpose when several contributors write them": "03eb5929",
    "why were plain markdown files under .github/instructions labelled AGENTS.md": "5e1ab9a6",
    "button does not come back because of a dangling evaluation id": "4550d4cb",
    "share text and models through url parameters, reorder and delete models": "f852ad25",
    "which commands does the agent run itself so that codex needs no plugin to take its turn": "fe3ed705",
    "replay faster than realtime shows the timeout firing on long bash calls": "07f5cca9",
    "why does the workflow pass although pyrigth finds errors": "fe869ecb",
    "daemon was built from the main repo and not from the worktree with the fix": "2f7a33aa",
    "show the packmind block even without any history": "8fc80a94",
    "wildcards for breaking changes of the cache format, like 0.2.x": "aa5c5ada",
    "flat layout of skills at the repo root so that cursor finds them": "95047199",
    "first scenario for the testing agent that clicks by coordinates": "9a9eadc8",
}
"""The same again, from turns drawn at random."""


def parse_time(text: str) -> datetime:
    """Return a time as people write it."""
    now = datetime.now(UTC)
    return parse_time_option(text, now) or now


def places(recall: Recall, questions: dict[str, str]) -> dict[str, int]:
    """Return at which place each question's answer was found; 0 for not among the first five."""
    found = {}
    for question, expected in questions.items():
        answer = recall.recall(question, project="*", branches="all", limit=5)
        right = tuple(expected.split())
        numbers = [n for n, item in enumerate(answer.items, 1) if is_right(item.handle, right)]
        found[question] = numbers[0] if numbers else 0
    return found


def is_right(handle: str, expected: tuple[str, ...]) -> bool:
    """Return whether a handle is what is expected, on whatever branch."""
    session, _, turn = handle.partition(":")
    bare = f"{session.partition('@')[0]}:{turn}"
    return any(bare == wanted or bare.split(":")[0] == wanted for wanted in expected)


def check_answers(root: Path, folder: Path, *lists: dict[str, str]) -> None:
    """Ask each list of questions about an archive, whose index is built once."""
    recall = Recall(Archive([root], index=folder / "index"), folder, parse_time)
    for questions in lists:
        found = places(recall, questions)
        others = {question: place for question, place in found.items() if place != 1}
        assert sum(place == 1 for place in found.values()) >= 0.8 * len(questions), others
        assert sum(place > 0 for place in found.values()) >= 0.95 * len(questions), others


def test_questions_about_the_gallery_are_answered(gallery: Path, tmp_path: Path) -> None:
    check_answers(gallery, tmp_path, GALLERY)


def test_questions_about_real_sessions_are_answered(shared: Path, tmp_path: Path) -> None:
    check_answers(shared / "corpus", tmp_path, CORPUS, FRESH, ASKED, REPHRASED)
