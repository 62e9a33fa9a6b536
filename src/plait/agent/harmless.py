"""A shell command to whether it only looks at files of the workspace: then nobody is asked.

When in doubt, somebody is: a word that may stand for another (a variable, a pattern, a home), a
path that leads out, an option that runs a program. Git is in doubt too, since the configuration
of a repository can name programs that its commands run.
"""

from plait.agent.tools.commands import only_looks, steps
from plait.agent.tools.model import Workplace

LOOKING = frozenset(
    """
    [ basename cat cmp column comm cut df diff dirname du echo egrep expr false fgrep fold grep head
    id ls md5sum nl od paste printf pwd readlink realpath rev rg seq sha256sum sleep sort stat
    strings tac tail test tr true uname uniq uptime wc which whoami
    """.split()
)
EXPANDED = frozenset("$*?{}~!")
"""Letters by which the shell makes other words of a word."""
REACHING = (
    *("--pre", "--hostname-bin", "--compress-program", "--files0-from", "--check"),
    *("--dereference-recursive", "--recursive", "--output", "--follow"),
)
"""Options that run a program, write a file, or read what no word names; also when cut short."""
SHORT = {"sort": "o", "printf": "v", "grep": "R", "rg": "L", "diff": "r"}
SHORT |= {"egrep": "R", "fgrep": "R", "md5sum": "c", "sha256sum": "c"}
"""The same in one letter, alone or among others."""


def is_harmless(command: str, place: Workplace) -> bool:
    """Tells whether a command does nothing but look at files of the workspace."""
    if not only_looks(command) or not place.holds(place.cwd.resolve()):
        return False
    return all(_stays(step, place) for step in steps(command))


def _stays(step: list[str], place: Workplace) -> bool:
    program, *words = step
    short = SHORT.get(program, "")
    # behind `--` a word that looks like an option may be a file that is written
    is_clear = program in LOOKING and "--" not in words
    return is_clear and all(_is_plain(word, place, short) for word in words)


def _is_plain(word: str, place: Workplace, short: str) -> bool:
    if EXPANDED & {*word} or (word not in "[]" and "[" in word):
        return False
    if word.startswith("--"):
        return "/" not in word and not _reaches(word.partition("=")[0])
    if word.startswith("-"):
        return "/" not in word and not {*short} & {*word}
    return place.holds((place.cwd / word).resolve())


def _reaches(option: str) -> bool:
    """Tells whether an option may be one of those: its first letters are enough for programs."""
    return any(one.startswith(option) or option.startswith(one) for one in REACHING)
