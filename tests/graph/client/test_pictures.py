"""What a resumed session sends and leaves out, compared with expected output."""

from tests.graph.client.pictures import PICTURE, names, told


def parts(text: str) -> dict[str, str]:
    """Return the lines of each case."""
    found = text.replace("\n  ", "\t").splitlines(keepends=True)
    return {part.partition(":")[0]: part.replace("\t", "\n  ") for part in found}


KEPT = parts(PICTURE.read_text(encoding="utf-8"))


def test_every_case_is_sent_as_its_picture_shows() -> None:
    different = {name: text for name in KEPT if (text := told(name)) != KEPT[name]}
    assert different == {}, "run `python -m tests.graph.client.pictures` and review"


def test_every_case_has_its_picture() -> None:
    assert names() == list(KEPT)
