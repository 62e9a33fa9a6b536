"""Long texts to a few whole words, as they stand in titles and lists."""

import re

DATED = re.compile(r"-20\d{6}$")


def shortened(text: str, most: int = 160) -> str:
    """Returns the beginning of a text on one line; no word is cut where it can be helped."""
    words = " ".join(text[: 4 * most].split())
    if len(words) <= most and len(text) <= 4 * most:
        return words
    cut = words[:most].rpartition(" ")[0] or words[:most]
    return cut.rstrip(" ,;:") + " …"


def model_names(models: tuple[str, ...]) -> str:
    """Returns the models of a session without the days they are from, at most two by name."""
    names = list(dict.fromkeys(DATED.sub("", model) for model in models))
    rest = f" +{len(names) - 2}" if len(names) > 2 else ""
    return ", ".join(names[:2]) + rest
