"""The passages that the search shows: formulas are plain text."""

from bs4 import BeautifulSoup
from search_passages import passages


def test_a_passage_has_only_formulas_within_lines() -> None:
    article = BeautifulSoup(
        '<article><section id="a"><p>The weights <span class="math">\\(\\alpha_{ij} = \\tfrac12\\)</span> '
        "sum to 1.</p>"
        '<div class="math">\\[\\sum_j \\alpha_{ij} = 1\\]</div><p>All.</p></section></article>',
        "html.parser",
    )
    assert passages(article) == [("#a", "The weights α_ij = 1/2 sum to 1. All.")]
