"""Generated tables within pages that people write."""

from pathlib import Path


def write_between_marks(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replaces what stands between two marks of a page, completely or not at all. ValueError where it lacks them."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"{page}: expected the marks '{marks[0]}' and '{marks[1]}'")
    half = page.with_name(page.name + ".new")
    half.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
    half.replace(page)
