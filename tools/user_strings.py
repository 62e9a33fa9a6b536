"""The texts that users read, extracted from the sources.

    python -m tools.user_strings                 every text with its place
    python -m tools.user_strings --sample 150    a random selection (--seed N for another)
    python -m tools.user_strings --dialect       only those with a word that STYLE rules out

Python: help of commands and options, messages of errors, and every literal of at least two words
outside docstrings in the packages that write for people. JavaScript: every literal of at least
two words, or one capitalised word. Patterns, queries and lists of field names are left out.
"""

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path("src/plait")
PLACEHOLDER = "{…}"
NOT_TEXT = re.compile(
    r"^[\s\W\d]*$|^[a-z0-9_.:/-]+$|^\W*[<{(]?/?[a-z]+[ =][^ ]*=|^(SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|PRAGMA|DROP|ALTER|BEGIN|COMMIT)\b"
    r"|^[MLmlhvz][\d. "
    ",{]|^[#.][\\w-]+[ ,>{]|\\(\\?[:P=!<]|\\[bdswAZ]|\\]\\{\\d|\\|\\w+\\|\\w+\\||^https?://|^/[\\w{}/]+$",
)
HTML_TAG = re.compile(r"<[^>]*>|<[^>]*$|^[^<>]*=\"?[^<>]*>")
NAMES = re.compile(
    r"([A-Za-z_]*[a-z0-9][A-Z_]\w*|[a-z]+|[A-Z_]{2,})( "
    r"([A-Za-z_]*[a-z0-9][A-Z_]\w*|[a-z]+|[A-Z_]{2,})){3,}"
)
"""Field names of logs, in a literal that is split."""
JS_LITERAL = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`""")
DIALECT = re.compile(
    r"\b(beside|besides|told|tells?|errands?|far off|in vain|such as|dear|dearest|whose|stands?|stood|"
    r"goes on|go on|went on|mend(s|ed)?|gone|such|so many|ways? through|become|became|begun|"
    r"aside|whoever|whatever|thereby|therein|wherein|left behind|taken up|takes up)\b",
    re.IGNORECASE,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="print so many texts at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialect", action="store_true", help="print only suspicious texts")
    options = parser.parse_args()
    texts = sorted(set(iter_texts()))
    if options.dialect:
        texts = [item for item in texts if DIALECT.search(item[2])]
    if options.sample:
        texts = random.Random(options.seed).sample(texts, min(options.sample, len(texts)))
    for path, line, text in texts:
        print(f"{path}:{line}: {text}")


def iter_texts() -> Iterator[tuple[str, int, str]]:
    """Yield every text with its file and line."""
    for path in sorted(SOURCES.rglob("*.py")):
        yield from _iter_python_texts(path)
    for path in sorted(SOURCES.rglob("*.js")):
        if path.name == "highlight.js":  # not ours
            continue
        source = path.read_text()
        for match in JS_LITERAL.finditer(source):
            text = re.sub(r"\$\{[^}]*\}", PLACEHOLDER, next(filter(None, match.groups()), ""))
            if text := _clean(text):
                yield str(path), source.count("\n", 0, match.start()) + 1, text


def _iter_python_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    tree = ast.parse(path.read_text())
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.AST):
                docstrings.update(map(id, ast.walk(annotation)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("cast", "TypeVar"):
            docstrings.update(id(child) for item in node.args for child in ast.walk(item))
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:
            # Docstrings, and the strings that describe an attribute on the line above.
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings.add(id(statement.value))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_command(node):
            for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                if text := _clean(paragraph):
                    yield str(path), node.lineno, text
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "_HOMES"):
            docstrings.update(id(child) for child in ast.walk(node))
    inside: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inside or id(node) in docstrings:
            continue
        if isinstance(node, ast.JoinedStr):
            inside.update(id(child) for child in ast.walk(node) if isinstance(child, ast.Constant))
            parts = [
                str(part.value) if isinstance(part, ast.Constant) else PLACEHOLDER
                for part in node.values
            ]
            text = "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if text := _clean(text):
            yield str(path), node.lineno, text


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("command" in ast.unparse(item) for item in node.decorator_list)


def _clean(text: str) -> str:
    """Return the words of a literal, or nothing where it is not a text."""
    text = re.sub(r"\s+", " ", HTML_TAG.sub(" ", text)).strip()
    words = re.findall(r"[A-Za-z]{2,}", text.replace(PLACEHOLDER, " "))
    is_names = NAMES.fullmatch(text) and re.search(r"[a-z][A-Z]|_", text)
    if not words or is_names or NOT_TEXT.search(text):
        return ""
    return text if len(words) > 1 or re.fullmatch(r"[A-Z][a-z]+", text) else ""


if __name__ == "__main__":
    main()
