"""The passages that the search shows: formulas are plain text, and no LaTeX is left."""

import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_ext"))

from search_passages import passages, readable


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\alpha_{ij} = q_i \cdot k_j / \sqrt{d_k}", "α_ij = q_i · k_j / √d_k"),
        (r"\operatorname{softmax}(QK^\top / \sqrt{d})\,V", "softmax(QK^⊤ / √d)V"),
        (r"-\lVert q - k_i \rVert^2 / 2h^2", "-‖ q - k_i ‖^2 / 2h^2"),
        (r"\tfrac12 \lambda", "1/2 λ"),
        (r"\frac{\log p}{m^{\gamma}}", "log p/m^γ"),
        (r"\mathbb{R}^{n \times d}", "R^n × d"),
        (r"[\overrightarrow{h}_j; \overleftarrow{h}_j]", "[h_j; h_j]"),
    ],
)
def test_a_formula_is_plain_text(formula: str, text: str) -> None:
    assert readable(formula) == text


def test_a_passage_has_formulas_of_its_lines_but_not_those_between_them() -> None:
    article = BeautifulSoup(
        '<article><section id="a"><p>The weights <span class="math">\\(\\alpha_{ij}\\)</span> sum to 1.</p>'
        '<div class="math">\\[\\sum_j \\alpha_{ij} = 1\\]</div><p>All.</p></section></article>',
        "html.parser",
    )
    assert passages(article) == [("#a", "The weights α_ij sum to 1. All.")]
