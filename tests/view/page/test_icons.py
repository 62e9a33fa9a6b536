"""Icons: each one used exists in the style sheet and cannot end its rule."""

import re
from pathlib import Path

import plait.view.page
from plait.view.page.markup import PATHS, TOOLS, icon, icon_rules, tool_icon

FOLDER = Path(plait.view.page.__file__).parent


def test_every_used_icon_exists() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.[pj][ys]"))
    used = set(re.findall(r"icon\(['\"]([a-z]+)['\"]\)|i i-([a-z]+)\b", sources))
    names = {name for pair in used for name in pair if name} | set(TOOLS.values())
    assert names <= set(PATHS)
    assert len(names) > 20


def test_css_rule_contains_its_icon() -> None:
    sheet = icon_rules()
    assert sheet.count("--i:url(") == len(PATHS)
    assert all(line.count('"') == 2 for line in sheet.splitlines())
    assert "<" not in sheet


def test_tools_have_their_own_icons() -> None:
    assert tool_icon("Bash") == icon("shell") == '<i class="i i-shell"></i>'
    assert tool_icon("mcp__x__y") == icon("plug")
    assert tool_icon("Unheard") == icon("tool")
