"""Answers that learners give to the exercises of chapters/beyond_words, right and wrong."""

import torch
from answers import Answers

from utils.exercises import beyond_words as check

answers = Answers(check)

# ---- Exercise 1 ----

answers.right(check.shuffled, "c")
answers.right(check.shuffled, " C ")
answers.wrong(check.shuffled, "a", says="this sum does not depend on the order", hint="order of its terms")
answers.wrong(check.shuffled, "b", says="a mean does not depend on their order", hint="order of its terms")
answers.wrong(check.shuffled, "d", says="Both have moved together", hint="order of its terms")
answers.wrong(check.shuffled, "none", says="'none' is none", hint="one letter in quotes")

# ---- Exercise 2 ----

RIGHT = (196, 768, 1960)
answers.right(check.three_numbers, *RIGHT)
answers.right(check.three_numbers, 14 * 14, torch.tensor(16 * 16 * 3), "1960")


def with_number(place: int, number: object) -> tuple:
    return (*RIGHT[:place], number, *RIGHT[place + 1 :])


for place, number, says, hint in (
    (0, 14, "squares in one row", "14 rows"),
    (0, 256, "pixels in a square", "fit into 224"),
    (0, 50176, "this is the number of pixels.", "16 times 16"),
    (0, 200, "squares is 200; expected another", "14"),
    (1, 256, "counts each pixel once", "three numbers"),
    (1, 48, "one row of the square", "16 rows"),
    (1, 150528, "the whole picture", "16 pixels high"),
    (1, 700, "numbers is 700; expected another", "14"),
    (2, 196, "the weights of one word", "Each of the 10 words"),
    (2, 5880, "counted red, green and blue", "one weight"),
    (2, 100, "words that look at words", "squares of the picture"),
    (2, 2000, "weights is 2000; expected another", "14"),
):
    answers.wrong(check.three_numbers, *with_number(place, number), says=says, hint=hint)

# ---- Exercise 3 ----


def with_loops(image, size):
    rows, columns = image.shape[1] // size, image.shape[2] // size
    return torch.stack(
        [
            image[:, size * r : size * (r + 1), size * c : size * (c + 1)].flatten()
            for r in range(rows)
            for c in range(columns)
        ]
    )


def with_unfold(image, size):
    return torch.nn.functional.unfold(image[None], size, stride=size)[0].T


def with_reshape(image, size):
    c, h, w = image.shape
    split = image.reshape(c, h // size, size, w // size, size)
    return split.permute(1, 3, 0, 2, 4).reshape(-1, c * size * size).tolist()


def plain_reshape(image, size):
    return image.reshape(-1, image.shape[0] * size * size)


def down_the_columns(image, size):
    c, h, w = image.shape
    split = image.reshape(c, h // size, size, w // size, size)
    return split.permute(3, 1, 0, 2, 4).reshape(-1, c * size * size)


def pixels_down_the_columns(image, size):
    c, h, w = image.shape
    split = image.reshape(c, h // size, size, w // size, size)
    return split.permute(1, 3, 0, 4, 2).reshape(-1, c * size * size)


def channels_last(image, size):
    c, h, w = image.shape
    split = image.reshape(c, h // size, size, w // size, size)
    return split.permute(1, 3, 2, 4, 0).reshape(-1, c * size * size)


def not_flattened(image, size):
    return with_loops(image, size).reshape(-1, image.shape[0], size, size)


def first_channel_alone(image, size):
    return with_loops(image[:1], size)


def upside_down(image, size):
    return with_loops(image.flip(1), size)


for function in (with_loops, with_unfold, with_reshape):
    answers.right(check.cut_one, function)
for function, says, hint in (
    (plain_reshape, "four pixels of one row", "0, 1, 6 and 7"),
    (down_the_columns, "the squares go down the columns", "then to the next row"),
    (pixels_down_the_columns, "pixels of a square go down", "row of pixels"),
    (channels_last, "stand side by side", "All pixels of red"),
    (not_flattened, "the shape (6, 1, 2, 2)", "2 rows of 3 squares"),
    (first_channel_alone, "the shape (6, 16)", "all channels"),
    (upside_down, "square 0 begins with [18, 19, 12, 13]", "Two loops"),
):
    answers.wrong(check.cut_one, function, says=says, hint=hint)

# ---- Exercise 4 ----

answers.right(check.ask_for_red_square, 4, -4)
answers.right(check.ask_for_red_square, "3", torch.tensor(-6.0))
answers.wrong(check.ask_for_red_square, 4, 4, says="the red circle has the largest", hint="redness times")
answers.wrong(check.ask_for_red_square, -4, 4, says="the blue circle has the largest", hint="redness times")
answers.wrong(check.ask_for_red_square, -4, -4, says="the blue square has the largest", hint="redness times")
answers.wrong(check.ask_for_red_square, 4, 0, says="two things share", hint="Both numbers")
answers.wrong(check.ask_for_red_square, 1, -1, says="has only 0.53", hint="larger")
answers.wrong(check.ask_for_red_square, float("inf"), 0, says="not finite", hint="enough")

# ---- Exercise 5 ----

answers.right(
    check.does_it_see, "I would paint another thing into the square and look whether the word changes. " * 2
)
answers.wrong(check.does_it_see, "It sees.", says="Your answer has 2 words", hint="before you look")

test_right, test_wrong, test_number = answers.tests()
