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
    strings tac tail test tr tree true uname uniq uptime wc which whoami
    """.split()
)
EXPANDED = frozenset("$*?{}~!")
"""Letters by which the shell makes other words of a word."""
RUNNING = ("--pre", "--hostname-bin", "--compress-program", "--files0-from", "--dereference")
"""Options that run a program, or read what no word names."""


def is_harmless(command: str, place: Workplace) -> bool:
    """Tells whether a command does nothing but look at files of the workspace."""
    if not only_looks(command) or not place.holds(place.cwd.resolve()):
        return False
    return all(_stays(step, place) for step in steps(command))


def _stays(step: list[str], place: Workplace) -> bool:
    program, *words = step
    follows = program.endswith("grep") or program == "rg"
    return program in LOOKING and all(_is_plain(word, place, follows=follows) for word in words)


def _is_plain(word: str, place: Workplace, *, follows: bool) -> bool:
    if EXPANDED & {*word} or (word not in "[]" and "[" in word):
        return False
    if word.startswith("-"):
        is_following = follows and not word.startswith("--") and {*"RL"} & {*word}
        return "/" not in word and not word.startswith(RUNNING) and not is_following
    return place.holds((place.cwd / word).resolve())
