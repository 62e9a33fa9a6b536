"""Exact hits with highlights, and lists of sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.drawing import draw
from plait import Archive
from plait.errors import UserError
from plait.index.catalogue import (
    load_prompted_turns,
    load_session_lines,
    load_session_sizes,
    load_turns_by_time,
)
from plait.index.model import Hit
from plait.index.query import Field
from plait.index.search import IndexReader
from plait.indexing import update_index
from tests.graph.sketch import names_of

DRAWING = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "The price of gift cards"
U1 "The total of the cart is wrong"
A1< think "Where is it computed?" + "I will look at the cart."
  + Read(file_path="/home/dev/shop/cart.py") as read
R1< of read "def totalOfItems(items): return 0"
A2< "It is nothing at all, the parser says."
U2< "Then mend the parser, 価格計算 too"
A3< Edit(file_path="/home/dev/shop/parser.py", old_string="zero", new_string="sumOfAll") as fix
R3< of fix
A4< "Mended: parse error gone."
U3<A2 "No, leave the parser alone"
A5< Agent(prompt="who calls the cart", description="callers") as ask
R5< of ask "nobody"
A6< "Left alone."
agent callers of ask
U11 "who calls the cart"
T11< Grep(pattern="cart") as grep
R11< of grep "shop.py: import cart"
A11< "Only the shop."
file other cwd=/home/dev/garden start=2026-10-02T09:00:00Z
set model=claude-haiku-5
U1 "Plant the apple trees"
T1< Bash(command="make trees") as make
R1< of make error "Exit code 2"
A1< "It fails."
U2< "<command-name>/cost</command-name><command-args>all</command-args>"
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    folder = tmp_path_factory.mktemp("searched")
    draw(DRAWING).write(folder / "root")
    update_index(Archive([folder / "root"]), folder / "index")
    found = IndexReader(folder / "index")
    yield found
    found.close()


NAMES = names_of(draw(DRAWING))


def told(hit: Hit) -> str:
    """Return a hit in letters: its session, its record, and its words with the marks."""
    text = hit.snippet
    for start, end in reversed(hit.marks):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return f"{NAMES[hit.session]} {NAMES.get(hit.uuid or '', '·')} {hit.kind}: {text}"


def found(reader: IndexReader, query: str) -> set[str]:
    return {told(hit) for hit in reader.search(query, limit=50).hits}


ANSWERS: dict[str, set[str]] = {
    "apple": {"other U1 prompt: Plant the [apple] trees"},
    "APPLE": {"other U1 prompt: Plant the [apple] trees"},
    "apple trees": {"other U1 prompt: Plant the [apple] [trees]"},
    '"apple trees"': {"other U1 prompt: Plant the [apple trees]"},
    '"plant trees"': set(),
    '"plant trees"~1': set(),
    '"plant trees"~2': {"other U1 prompt: [Plant the apple trees]"},
    '"apple tre"*': {"other U1 prompt: Plant the [apple trees]"},
    '"appl"*': {"other U1 prompt: Plant the [apple] trees"},
    "appl*": {"other U1 prompt: Plant the [apple] trees"},
    "*ppl*": {"other U1 prompt: Plant the a[ppl]e trees"},
    "ppl": {"other U1 prompt: Plant the a[ppl]e trees"},
    "pp": set(),
    "aple~": {"other U1 prompt: Plant the [apple] trees"},
    "aplle~": {"other U1 prompt: Plant the [apple] trees"},
    "plnt~": {"other U1 prompt: [Plant] the apple trees"},
    "plxx~": set(),
    "plxxt~2": {"other U1 prompt: [Plant] the apple trees"},
    "apple -trees": set(),
    "NOT apple plant": set(),
    "plant -lamp": {"other U1 prompt: [Plant] the apple trees"},
    "apple OR fails": {
        "other U1 prompt: Plant the [apple] trees",
    },
    "価格": {"work U2 prompt: Then mend the parser, [価格]計算 too"},
    "価": {"work U2 prompt: Then mend the parser, [価]格計算 too"},
    "格": {"work U2 prompt: Then mend the parser, 価[格]計算 too"},
    "価算": set(),
    '"parser 価格"': {"work U2 prompt: Then mend the [parser], [価格]計算 too"},
    "totalOfItems": {"work R1 output: 1 def [totalOfItems](items): return 0"},
    "total_of": {"work U1 prompt: The [total of] the cart is wrong"},
    "total_o*": {"work U1 prompt: The [total of] the cart is wrong"},
    "cart.py in:input": {"work A1 input: /home/dev/shop/[cart.py]"},
    "tool:Bash": {"other T1 input: make trees"},
    "tool:bash,edit": {
        "other T1 input: make trees",
        "work A3 input: /home/dev/shop/parser.py · zero · sumOfAll",
    },
    "tool:gre": {"work T11 input: cart"},
    "in:command": {"other U2 command: /cost /cost all all"},
    "in:prompts branch:abandoned": {"work U2 prompt: Then mend the parser, 価格計算 too"},
    "in:human project:garden": {
        "other U1 prompt: Plant the apple trees",
    },
    "branch:agent in:answer": {"work A11 answer: Only the shop."},
    "file:parser.py": {"work A3 input: /home/dev/shop/parser.py · zero · sumOfAll"},
    "model:haiku in:answer": {"other A1 answer: It fails."},
    "before:2026-10-03 in:answer": {"other A1 answer: It fails."},
    "after:2026-11 thinking": set(),
    "in:thinking": {"work A1.1 thinking: Where is it computed?"},
    "in:title -plant": {"work · title: The price of gift cards"},
}


@pytest.mark.parametrize("query", ANSWERS)
def test_hits_of_a_query(reader: IndexReader, query: str) -> None:
    assert found(reader, query) == ANSWERS[query]


WRONG = {
    "tool:zzz": ("no tool named 'zzz'", "choose from Agent, Bash, Edit, Grep, Read"),
    "tool:bsh": ("no tool named 'bsh'", "choose from Bash"),
    "model:zzz": (
        "no model named 'zzz'",
        "choose from claude-haiku-5, claude-opus-5-5",
    ),
    "in:zzz": (
        "no kind of passage named 'zzz'",
        "kinds are prompt, answer, thinking, command, input, output, summary, title, note, "
        "tools, human",
    ),
    "branch:zzz": (
        "no branch state named 'zzz'",
        "states are active, abandoned, agent, service, recovered",
    ),
    "project:zzz": ("no project named 'zzz'", "`plait ls` lists your projects"),
    "session:zzz": ("no session starts with 'zzz'", "`plait ls` lists your sessions"),
    "file:...": ("'...' is not a file name", "use `file:name.py` or part of a path"),
    "before:soon": (
        "'soon' is not a time",
        "use a day (2026-11-15), a month (2026-11), a time (2026-11-15T10:00), 7d or today",
    ),
    "+++": (
        "'+++' has no searchable word",
        "`plait search --exact` finds any text, including punctuation",
    ),
}


@pytest.mark.parametrize("query", WRONG)
def test_queries_the_index_cannot_answer(reader: IndexReader, query: str) -> None:
    with pytest.raises(UserError) as caught:
        reader.search(query)
    assert (caught.value.message, *caught.value.hints) == WRONG[query]


def test_filters_equal_fields(reader: IndexReader) -> None:
    assert reader.search("apple", [Field("tool", "Read")]).note == (
        "without the fields, 2 passages would match"
    )
    assert len(reader.search("cart", [Field("project", "garden")]).hits) == 0
    assert {hit.tool for hit in reader.search("cart", [Field("kind", "input")]).hits} == {
        "Agent",
        "Grep",
        "Read",
    }


def test_turn_is_one_hit_with_a_count(reader: IndexReader) -> None:
    result = reader.search("cart branch:active", limit=50)
    assert [(told(hit), hit.more) for hit in result.hits] == [
        ("work U1 prompt: The total of the [cart] is wrong", 2),
        ("work A5 input: who calls the [cart] · callers", 0),
    ]
    assert (result.total, result.sessions, result.by) == (4, 2, "index")
    assert len(reader.search("cart branch:active", limit=1).hits) == 1


def test_a_hit_has_its_place(reader: IndexReader) -> None:
    (hit,) = reader.search("mended").hits
    assert hit.path.endswith(".jsonl")
    assert (NAMES[hit.session], hit.turn, hit.line, hit.state) == ("work", 1, 11, "abandoned")
    assert (hit.project, hit.title) == ("-home-dev-shop", "The price of gift cards")
    assert (hit.time, hit.tool) == ("2026-11-02T09:00:09.000Z", None)
    assert hit.branch and hit.branch.startswith(f"{hit.session}@")
    (title,) = reader.search("gift in:title").hits
    assert (title.turn, title.branch, title.line, title.uuid) == (None, None, 0, None)


def test_ranking_by_age_and_relevance(reader: IndexReader) -> None:
    kinds = [hit.kind for hit in reader.search("cart", limit=50).hits]
    assert kinds[0] == "prompt"
    scores = [hit.score for hit in reader.search("cart", limit=50).hits]
    assert scores == sorted(scores, reverse=True)


def test_lists_of_sessions(reader: IndexReader) -> None:
    catalogue = reader.catalogue
    shapes = {NAMES[Path(key).stem]: shape for key, shape in load_session_sizes(catalogue).items()}
    counts = {name: (one.turns, one.branches, one.agents) for name, one in shapes.items()}
    assert counts == {"other": (1, 0, 0), "work": (3, 1, 1)}
    begun = sorted(
        (time, NAMES[Path(key).stem], turn) for key, time, turn, _ in load_prompted_turns(catalogue)
    )
    assert begun[:2] == [
        ("2026-10-02T09:00:00.000Z", "other", 1),
        ("2026-11-02T09:00:00.000Z", "work", 1),
    ]
    key = next(key for key in load_session_sizes(catalogue) if NAMES[Path(key).stem] == "work")
    turns = load_turns_by_time(catalogue, [key])[key]
    assert [(one.kind, one.state, one.time and one.time[17:19]) for one in turns] == [
        ("trunk", "active", "00"),
        ("branch", "abandoned", "06"),
        ("trunk", "active", "10"),
        ("agent", "agent", "11"),
    ]
    lines = load_session_lines(catalogue, key)
    assert [(line.kind, NAMES.get(uuid or "")) for line, uuid in lines] == [
        ("trunk", "U1"),
        ("agent", "U11"),
        ("branch", "U2"),
    ]
    assert load_session_lines(catalogue, "nowhere") == []
