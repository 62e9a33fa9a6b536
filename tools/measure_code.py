"""Measure how hard the code is to read, and print the figures as a Markdown table.

    python -m tools.measure_code                    the tree that this file stands in
    python -m tools.measure_code --no-runs          leave out what commands load and call
    python -m tools.measure_code --list MEASURE     list its places: once, single, names, docstrings
    python -m tools.measure_code --dialect FOLDER   list the names and docstrings to mend below it

Everything is counted from the syntax tree, except for what commands load and call: they run over
the examples gallery under a profiler, in one process and with an empty state.
"""

import argparse
import ast
import http.client
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from types import CodeType, FrameType
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
GALLERY = ROOT / "examples" / "gallery"
SESSION = "30ca0be7-ceab-4541-bc8d-3c0581508f6c"
DIALECT = frozenset(
    "told tell tells telling said one such whole wholly beside along aside ahead standing holding "
    "keeping losing taken heed heeding lending those it".split()
)
"""What STYLE refuses in the name of anything."""
ALLOWED = frozenset(
    "aside is_one_shot no_such_session one_of one_shot read_ahead to_whole_number type_ahead "
    "words_said".split()
)
"""Usual English, or names that files and JSON have."""
PARTICIPLES = frozenset(
    "answered asked brought built carried changed chosen counted found given gone joined kept "
    "listed loaded made marked named opened parsed placed seen shown wanted written".split()
)
"""What STYLE refuses as the whole name of a function: `_shown`, `_joined`."""
VERBS = re.compile(
    r"^(?:Add|Allow|Answer|Append|Apply|Ask|Build|Call|Check|Choose|Clear|Close|Compare|Compute|"
    r"Convert|Copy|Count|Create|Decode|Delete|Describe|Draw|Encode|Export|Find|Format|Get|Give|Go|"
    r"Handle|Have|Hold|Iterate|Join|Keep|Let|List|Load|Look|Make|Map|Mark|Measure|Move|Note|Offer|"
    r"Open|Parse|Plan|Print|Put|Raise|Read|Refuse|Remove|Render|Replace|Resolve|Return|Run|Say|"
    r"See|Send|Serve|Set|Show|Sort|Split|Start|Stop|Store|Sum|Take|Tell|Test|Turn|Undo|Update|"
    r"Wait|Walk|Write|Yield)(?:s|es)?\b"
)
WORD = re.compile(r"[A-Za-z_]\w*")
FROM_X_TO_Y = re.compile(r"^(?!Access |Paths? |\w+ing )[^.:;—()]*\bto\b(?! be\b)[^.:;—()]*")


@dataclass
class Module:
    """One source file."""

    name: str
    path: Path
    tree: ast.Module
    text: str

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")


@dataclass
class Figures:
    """What was counted."""

    counts: dict[str, int | str] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def load_modules() -> dict[str, Module]:
    """Parse every module of the package."""
    modules = {}
    for path in sorted((SOURCE / "plait").rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, path, ast.parse(text), text)
    return modules


def measure(modules: dict[str, Module]) -> Figures:
    """Count everything that the syntax trees tell."""
    found = Figures()
    _measure_sizes(modules, found)
    _measure_imports(modules, found)
    _measure_once_used(modules, found)
    _measure_words(modules, found)
    return found


def _measure_sizes(modules: dict[str, Module], found: Figures) -> None:
    functions = [node for item in modules.values() for node in _functions(item.tree)]
    lengths = sorted((node.end_lineno or 0) - node.lineno + 1 for node in functions)
    cuts = quantiles(lengths, n=100)
    kinds = Counter[str]()
    for module in modules.values():
        kinds.update(_line_kinds(module.text))
    sizes = {
        "all": sum(item.lines for item in modules.values()),
        "chat": _size_below(modules, "plait.agent", "plait.chat", "plait.cli.chat"),
        "cli": _size_below(modules, "plait.cli"),
        "cli_chat": _size_below(modules, "plait.cli.chat"),
    }
    found.counts |= {
        "lines": sizes["all"],
        "modules": len(modules),
        "functions": len(functions),
        "classes": sum(
            isinstance(node, ast.ClassDef)
            for item in modules.values()
            for node in ast.walk(item.tree)
        ),
        "function length: median / p90 / p99": f"{cuts[49]:.0f} / {cuts[89]:.0f} / {cuts[98]:.0f}",
        "longest module": max(item.lines for item in modules.values()),
        "blank lines": kinds["blank"],
        "comment lines": kinds["comment"],
        "lines of `cli`": sizes["cli"],
        "lines of `cli` without chat": sizes["cli"] - sizes["cli_chat"],
        "lines of chat": sizes["chat"],
    }


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def _size_below(modules: dict[str, Module], *names: str) -> int:
    return sum(
        module.lines
        for module in modules.values()
        if any(module.name == name or module.name.startswith(f"{name}.") for name in names)
    )


def _line_kinds(text: str) -> Counter[str]:
    """Count blank lines and lines that are nothing but a comment; those in strings are text."""
    found = Counter[str]()
    in_string: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            in_string |= set(range(token.start[0] + 1, token.end[0] + 1))
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            found["comment"] += 1
    lines = text.splitlines()
    found["blank"] = sum(not line.strip() for line in lines)
    return found


def _measure_imports(modules: dict[str, Module], found: Figures) -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    lines = inner = blocks = 0
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                lines += (node.end_lineno or 0) - node.lineno + 1
                for name in _imported_modules(node, modules):
                    importers[name].add(module.name)
            blocks += _is_type_checking(node)
        inner += sum(
            isinstance(node, ast.Import | ast.ImportFrom)
            for function in _functions(module.tree)
            for node in function.body
        )
    single = sorted(
        f"{name} <- {next(iter(importers[name] - {name}))}"
        for name, module in modules.items()
        if len(importers[name] - {name}) == 1 and module.path.name != "__init__.py"
    )
    found.counts |= {
        "modules with one importer": len(single),
        "import lines": lines,
        "imports inside functions": inner,
        "`TYPE_CHECKING` blocks": blocks,
    }
    found.places["single"] = single


def _imported_modules(
    node: ast.Import | ast.ImportFrom, modules: dict[str, Module]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
    elif node.module in modules or any(
        f"{node.module}.{item.name}" in modules for item in node.names
    ):
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            yield name if name in modules else str(node.module)


def _is_type_checking(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _measure_once_used(modules: dict[str, Module], found: Figures) -> None:
    """Count module-level functions whose name stands twice in the package: definition and use."""
    words = Counter[str]()
    for module in modules.values():
        words.update(WORD.findall(module.text))
    once = {
        f"{module.name}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, Function) and words[node.name] == 2
    }
    found.counts |= {
        "module-level functions with one use": len(once),
        "lines of these": sum(once.values()),
    }
    found.places["once"] = sorted(once)


def _measure_words(modules: dict[str, Module], found: Figures) -> None:
    names: Counter[str] = Counter()
    places: list[str] = []
    for module in modules.values():
        for kind, name, line in _identifiers(module):
            if name.strip("_") in ALLOWED:
                continue
            words = set(name.lower().strip("_").split("_"))
            is_participle = kind == "function" and name.strip("_") in PARTICIPLES
            if words & DIALECT or is_participle:
                names[kind] += 1
                places.append(f"{module.name}:{line} {kind} {name}")
    formulas = [
        f"{module.name}: {line}"
        for module in modules.values()
        for line in [(ast.get_docstring(module.tree) or "").partition("\n")[0]]
        if FROM_X_TO_Y.match(line) and not VERBS.match(line)
    ]
    found.counts |= {
        "dialect names": names.total(),
        "of modules, classes, functions, attributes": names.total()
        - names["parameter"]
        - names["variable"],
        "of parameters and variables": names["parameter"] + names["variable"],
        'module docstrings "X to Y"': len(formulas),
    }
    found.places["names"] = places
    found.places["docstrings"] = formulas


def _identifiers(module: Module) -> Iterator[tuple[str, str, int]]:
    """Yield each name that is given in a module, once for each scope that gives it."""
    for part in module.name.split(".")[-1:]:
        yield "module", part, 1
    yield from _scope_names(module.tree, is_class=False)


def _scope_names(
    scope: ast.Module | ast.ClassDef | Function, *, is_class: bool
) -> Iterator[tuple[str, str, int]]:
    seen: set[str] = set()
    waiting: list[ast.AST] = list(scope.body)
    attributes: set[str] = set()
    if isinstance(scope, Function):
        given = scope.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for argument in filter(None, every):
            seen.add(argument.arg)
            yield "parameter", argument.arg, argument.lineno
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function):
            yield "function", node.name, node.lineno
            yield from _scope_names(node, is_class=False)
            continue
        if isinstance(node, ast.ClassDef):
            yield "class", _snake(node.name), node.lineno
            yield from _scope_names(node, is_class=True)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in seen:
            seen.add(node.id)
            yield "attribute" if is_class else "variable", node.id, node.lineno
        is_own = (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )
        if is_own and isinstance(node, ast.Attribute) and node.attr not in attributes:
            attributes.add(node.attr)
            yield "attribute", node.attr, node.lineno
        waiting += ast.iter_child_nodes(node)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# What commands load and call. Each scenario has a process of its own, which counts the functions
# of the package that are entered.

SCENARIOS: dict[str, list[str]] = {
    "show": ["show", SESSION],
    "usage": ["usage"],
    "search, first": ["search", "the"],
    "search, again": ["search", "the"],
    "`trim` plan": ["trim", SESSION, "standard", "--dry-run"],
    "a page of a session": ["serve"],
}
COUNTED = "PLAIT_MEASURED"
PATIENCE = 120


def run_scenarios() -> dict[str, tuple[int, int]]:
    """Return how many modules each scenario loads, and how many functions it calls."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder, "gallery")
        shutil.copytree(GALLERY, logs)
        kinds = ("CACHE", "DATA", "STATE", "CONFIG")
        env = {**os.environ, **{f"PLAIT_{kind}_DIR": str(Path(folder, kind)) for kind in kinds}}
        env |= {"PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}", "HOME": folder}
        roots = [part for path in sorted(logs.glob("*/projects")) for part in ("--root", str(path))]
        for name, words in SCENARIOS.items():
            result = Path(folder, "result.json")
            call = [*words, "--jobs", "1", "--no-pager", *roots]
            env[COUNTED] = json.dumps({"words": call, "result": str(result)})
            ran = subprocess.run(
                [sys.executable, "-m", "tools.measure_code"],
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            if not result.exists():
                raise SystemExit(f"{name}: {ran.stderr}\n{ran.stdout}")
            counted = json.loads(result.read_text())
            found[name] = (counted["modules"], counted["functions"])
            result.unlink()
    return found


class Profile:
    """The functions of the package that are entered, in any thread."""

    def __init__(self) -> None:
        self.entered: set[CodeType] = set()
        self._is_ours: dict[CodeType, bool] = {}

    def start(self) -> None:
        """Begin to count."""
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code not in self._is_ours:
            is_below = code.co_filename.startswith(f"{SOURCE}{os.sep}")
            self._is_ours[code] = is_below and not code.co_name.startswith("<")
        if self._is_ours[code]:
            self.entered.add(code)

    def save(self, result: str) -> None:
        """Write what was counted."""
        sys.setprofile(None)
        modules = [name for name in sys.modules if name.partition(".")[0] == "plait"]
        counts = {"modules": len(modules), "functions": len(self.entered)}
        Path(result).write_text(json.dumps(counts))


def run_one(words: list[str], result: str) -> None:
    """Run a command under the profiler and write what was counted."""
    profile = Profile()
    if words[0] == "serve":
        port = _free_port()
        words = [*words, "--no-open", "--port", str(port)]
        threading.Thread(target=_ask, args=(profile, port, result, words), daemon=True).start()
    from plait.cli import main as run

    profile.start()
    sys.argv = ["plait", *words]
    with suppress(SystemExit):
        run()
    profile.save(result)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _ask(profile: Profile, port: int, result: str, words: list[str]) -> None:
    """Ask the server for a page twice, once it is up, and count what the second answer takes."""
    connection = _connect(port)
    roots = [part for at, part in enumerate(words) if "--root" in words[max(at - 1, 0) : at + 1]]
    env = {name: value for name, value in os.environ.items() if name != COUNTED}
    key = subprocess.check_output(
        [sys.executable, "-m", "plait", "open", "--print-key", *roots], text=True, env=env
    )
    form = urlencode({"ticket": key.strip(), "to": "/"})
    connection.request(
        "POST", "/enter", form, {"Content-Type": "application/x-www-form-urlencoded"}
    )
    entered = connection.getresponse()
    entered.read()
    cookie = (entered.getheader("Set-Cookie") or "").partition(";")[0]
    for _ in range(2):
        profile.entered.clear()
        connection.request("GET", f"/s/{SESSION}", headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
    if answer.status == 200:
        profile.save(result)
    else:
        print(f"the page answered {answer.status}", file=sys.stderr, flush=True)
    os._exit(0)


def _connect(port: int) -> http.client.HTTPConnection:
    until = time.monotonic() + PATIENCE / 2
    while time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.5)
        else:
            return connection
    os._exit(1)


def list_dialect(found: Figures, package: str) -> list[str]:
    """Return the names and docstrings of a package that STYLE refuses."""
    is_below = re.compile(rf"{re.escape(package)}[.:]")
    return [
        place
        for place in found.places["names"] + found.places["docstrings"]
        if is_below.match(place)
    ]


def print_table(found: Figures, runs: dict[str, tuple[int, int]]) -> None:
    """Print the figures as Markdown."""
    print("| | |\n|---|--:|")
    for name, value in found.counts.items():
        print(f"| {name} | {f'{value:,}' if isinstance(value, int) else value} |")
    if runs:
        print("\n| | modules loaded | functions called |\n|---|--:|--:|")
        for name, (loaded, called) in runs.items():
            print(f"| {name} | {loaded:,} | {called:,} |")


def main() -> None:
    """Measure the tree, or run one scenario for whoever measures it."""
    if given := os.environ.get(COUNTED):
        asked = json.loads(given)
        run_one(asked["words"], asked["result"])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=("once", "single", "names", "docstrings"))
    parser.add_argument("--dialect", metavar="FOLDER", type=Path)
    parser.add_argument("--no-runs", action="store_true")
    options = parser.parse_args()
    found = measure(load_modules())
    if options.dialect:
        below = options.dialect.resolve().relative_to(SOURCE).with_suffix("").parts
        print("\n".join(list_dialect(found, ".".join(below))))
        return
    if options.list:
        print("\n".join(found.places[options.list]))
        return
    print_table(found, {} if options.no_runs else run_scenarios())


if __name__ == "__main__":
    main()
