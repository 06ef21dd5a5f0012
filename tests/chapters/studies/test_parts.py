"""How the parts of studies are measured: the search for a learning rate."""

import pytest

from studies.parts import climb


@pytest.mark.parametrize(
    ("peak", "tried"), [(3, [1, 2, 4]), (11, [1, 2, 4, 8, 16]), (0.3, [0.125, 0.25, 0.5, 1, 2])]
)
def test_rates_are_tried_until_the_best_has_a_worse_one_on_each_side(peak, tried):
    scores = climb(lambda lr: -abs(lr - peak), start=1)
    assert scores == {lr: -abs(lr - peak) for lr in tried}
    assert list(scores) == tried
