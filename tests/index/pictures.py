"""Sessions to pictures of the passages that are indexed of them: a file, reviewed like code.

python -m tests.index.pictures          draw it anew
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.drawing import draw
from plait import Archive
from plait.index.model import Passage
from plait.index.passages import read_line_texts
from plait.index.search import read_passage_text
from plait.indexing import IndexedSession
from plait.line import iter_lines
from tests.conversation.pictures import talks
from tests.graph.pictures import in_letters
from tests.graph.sketch import names_of

PICTURE = Path(__file__).with_name("passages.txt")
SHORT = 60


def picture(drawing: str) -> list[str]:
    """Return the passages of a drawing, and the words of each line."""
    drawn = draw(drawing)
    with TemporaryDirectory() as place:
        drawn.write(Path(place) / "logs")
        found = [*_passages(Path(place) / "logs"), *_lines(Path(place) / "logs")]
        text = "\n".join(found).replace(place, "")
    return in_letters(text, names_of(drawn)).split("\n")


def _passages(root: Path) -> Iterator[str]:
    for session in Archive([root]).sessions:
        reading = IndexedSession(session)
        paths = [file.path for file in reading.graph.files]
        for one in reading.passages():
            yield f"{_where(one)} {one.tool} {one.model} {one.path}: {_short(one.text)}"
            if one.line:
                place = (one.line, one.offset, one.length, one.part)
                lying = read_passage_text(paths[one.file], *place, session.path.with_suffix(""))
                if lying is None or (lying.kind, lying.text) != (one.kind, one.text):
                    yield f"  there lies {lying}"


def _where(one: Passage) -> str:
    return f"{one.kind} {one.state} {one.file}:{one.line}.{one.part} {one.dag}/{one.turn}"


def _lines(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*.jsonl")):
        for line in iter_lines(path):
            texts, is_whole = read_line_texts(line, path.with_suffix(""))
            whole = "" if is_whole else " broken"
            yield f"line {line.number}{whole}: {' | '.join(map(_short, texts))}"


def _short(text: str) -> str:
    line = text.replace("\n", "⏎")
    return line if len(line) <= SHORT else f"{line[:SHORT]}… ({len(text)})"


def main() -> None:
    """Draw the picture anew."""
    parts = (f"{name}\n  {_joined(picture(drawing))}\n" for name, drawing in talks().items())
    PICTURE.write_text("".join(parts), encoding="utf-8")


def _joined(found: list[str]) -> str:
    return "\n  ".join(found)


if __name__ == "__main__":
    main()
