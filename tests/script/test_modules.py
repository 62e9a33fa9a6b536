"""The modules of the page's script, and how they are bundled."""

import re

import pytest

from plait.view.page.frame import (
    bundle_modules,
    bundle_script,
    load_script_modules,
    sort_modules,
    strip_module,
)

ENTRIES = ("app.js", "plait.js", "tabs.js", "lake.js")
NAMES = re.compile(r"^(?:export )?(?:async function|function|const|let|class) (\w+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async function|function|const|let|class) (\w+)", re.MULTILINE)
IMPORTED = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w-]+\.js)";$', re.MULTILINE)
WORD = re.compile(r"^(import|export)\b.*", re.MULTILINE)


def imports_of(text: str) -> list[tuple[str, str]]:
    """Return pairs of a module and a name that is imported from it."""
    return [
        (module, name) for names, module in IMPORTED.findall(text) for name in names.split(", ")
    ]


@pytest.mark.parametrize("name", load_script_modules())
def test_module_follows_the_import_rules(name: str) -> None:
    text = load_script_modules()[name]
    assert re.match(r"// [A-Z].*[.]\n", text)
    result = WORD.finditer(text)
    assert [
        item[0] for item in result if not IMPORTED.match(item[0]) and not EXPORTED.match(item[0])
    ] == []
    assert "import(" not in text


def test_no_name_is_used_by_two_modules() -> None:
    found = [
        (name, module)
        for module, text in load_script_modules().items()
        for name in NAMES.findall(text)
    ]
    assert len(found) > 300
    names = [name for name, _ in found]
    assert [pair for pair in found if names.count(pair[0]) > 1] == []


def test_imports_are_exported() -> None:
    exported = {
        (module, name)
        for module, text in load_script_modules().items()
        for name in EXPORTED.findall(text)
    }
    wanted = {pair for text in load_script_modules().values() for pair in imports_of(text)}
    assert wanted - exported == set()


def test_every_module_is_used() -> None:
    reached = {name for entry in ENTRIES for name in sort_modules(entry, load_script_modules())}
    assert reached == set(load_script_modules())


@pytest.mark.parametrize("entry", ENTRIES)
def test_bundled_script_is_self_contained(entry: str) -> None:
    text = bundle_script(entry)
    assert WORD.search(text) is None
    assert "</script" not in text.lower()
    assert "<!--" not in text


def test_exported_page_has_no_server_modules() -> None:
    assert "openPalette" not in bundle_script("plait.js")
    assert "openPalette" in bundle_script("app.js")


def test_modules_follow_their_imports() -> None:
    texts = {
        "a.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\n\nexport function b() {\n  return c;\n}\n',
        "c.js": "// Says c.\nexport const c = 1;\n",
        "d.js": "export const d = 1;\n",
    }
    assert sort_modules("a.js", texts) == ["c.js", "b.js", "a.js"]
    assert bundle_modules("a.js", texts) == (
        '(() => {\n"use strict";\nconst c = 1;\nfunction b() {\n  return c;\n}\nb(c);\n})();\n'
    )


def test_modules_have_no_cycles() -> None:
    texts = {
        "a.js": 'import { b } from "./b.js";\n',
        "b.js": 'import { a } from "./a.js";\n',
    }
    with pytest.raises(ValueError, match=r"a\.js → b\.js → a\.js"):
        sort_modules("a.js", texts)


def test_only_whole_comment_lines_are_removed() -> None:
    text = '// First.\nexport let at = "//x"; // where\n  // Inner.\nat = `export const`;\n'
    assert strip_module(text) == 'let at = "//x"; // where\nat = `export const`;\n'
