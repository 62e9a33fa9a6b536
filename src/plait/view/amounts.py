"""Numbers to short words: how many, how large, how long, how much."""

MINUTE, HOUR, DAY = 60, 3600, 86400
THOUSAND, MILLION = 1000, 1_000_000
UNITS = ("B", "KB", "MB", "GB", "TB")


def many(count: int, noun: str, plural: str | None = None) -> str:
    """Writes a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}".replace(",", " ")


def some(count: int | None, noun: str, plural: str | None = None) -> str:
    """Writes a number with its noun, "" where there is none."""
    return many(count, noun, plural) if count else ""


def dotted(*parts: str) -> str:
    """Writes the parts that there are on one line, a dot between two."""
    return " · ".join(filter(None, parts))


def bytes_in_words(count: int) -> str:
    """Writes a number of bytes."""
    value, unit = float(max(count, 0)), UNITS[0]
    for unit in UNITS:
        if value < THOUSAND or unit == UNITS[-1]:
            break
        value /= THOUSAND
    return f"{count} B" if unit == "B" else f"{value:.{1 if value < 10 else 0}f} {unit}"


def tokens_in_words(count: int) -> str:
    """Writes a number of tokens."""
    if count < THOUSAND:
        return str(count)
    if count < MILLION:
        return f"{count / THOUSAND:.{1 if count < 10 * THOUSAND else 0}f}k"
    return f"{count / MILLION:.1f}M"


def time_in_words(milliseconds: float | None) -> str:
    """Writes how long something took, "" where nobody knows or it took no time."""
    seconds = (milliseconds or 0) / THOUSAND
    if seconds < 1:
        return ""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        minutes, rest = divmod(int(seconds), MINUTE)
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    if seconds < DAY:
        hours, rest = divmod(int(seconds), HOUR)
        return f"{hours} h {rest // MINUTE} min" if rest >= MINUTE else f"{hours} h"
    return f"{int(seconds // DAY)} d"


def money_in_words(dollars: float) -> str:
    """Writes a sum of money, with as many places as it needs."""
    if dollars >= 0.995:
        return f"${dollars:,.2f}"
    return f"${dollars:.2f}" if dollars >= 0.01 else f"${dollars:.4f}"


def lines_in_words(text: str) -> str:
    """Says how many lines a text has."""
    return many(text.strip("\n").count("\n") + 1, "line") if text.strip() else "no output"
