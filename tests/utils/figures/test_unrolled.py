"""The drawing of a decoder in time: what its states have read and chosen."""

import re

import pytest

from utils.figures.unrolled import unrolled


def rows(attention: bool) -> dict[str, list[str]]:
    """The texts to the right of each name, from left to right."""
    texts = re.findall(
        r'<text x="([-\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', unrolled(attention=attention).svg()
    )
    lines: dict[str, list[tuple[float, str]]] = {}
    for x, y, text in texts:
        lines.setdefault(y, []).append((float(x), re.sub("<.*?>", "", text)))
    return {name: texts for name, *texts in ([text for _, text in sorted(line)] for line in lines.values())}


@pytest.mark.parametrize(("attention", "first"), [(False, 0), (True, 4)])
def test_a_state_has_read_what_the_state_before_has_chosen(attention: bool, first: int) -> None:
    drawn = rows(attention)
    assert drawn["state"] == [f"s{first + step}" for step in range(3)]
    read, chosen = drawn["has read"], drawn["has chosen"]
    assert drawn["reads"] == [text.split()[-1] for text in read[1:]]
    assert read[2].split()[-1] == chosen[1]
    assert drawn["chooses"] == chosen[not first :]  # the state 0 has chosen nothing
    assert all(word in unrolled(attention=attention).alt for word in [*drawn["chooses"], *drawn["reads"]])


def test_each_step_has_a_context_of_its_own_with_attention_alone() -> None:
    assert rows(attention=True)["context"] == ["c5", "c6"]
    assert "context" not in rows(attention=False)
