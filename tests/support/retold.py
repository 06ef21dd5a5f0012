"""The chapters that have the form of a page that shows, then says, and those that do not have it yet."""

from pathlib import Path

#: Chapters that are exempt from the form until they are retold.
EXEMPT = {
    "chat_model",
}
RETOLD = sorted({path.stem for path in (Path(__file__).parents[2] / "chapters").glob("*.ipynb")} - EXEMPT)
