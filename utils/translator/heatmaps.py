"""Write the attention weights of one translation to a file: a picture or an interactive page.

``utils.figures`` draws pictures and pages; it is imported only when it is needed.
Explained in book/api/command_line_results.
"""

import unicodedata
import warnings
from pathlib import Path

from utils.translator.translating import Translation

#: Suffixes of the file formats.
SUFFIXES = (".png", ".svg", ".html")


def check_heatmap_path(path: Path) -> None:
    """Check that a heat map can be written to a path, before any other work.

    Raises:
        ValueError: a suffix that is not in ``SUFFIXES``.
        FileNotFoundError: a folder that does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"the name of a heat map must end in {', '.join(SUFFIXES)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder {path.parent} to write the heat map to")


def save_heatmap(translation: Translation, path: Path) -> None:
    """Write the attention weights of a translation to a PNG, SVG or HTML file, by the suffix of its name.

    A picture has one row per target token and one column per source token. A page shows the weights of a chosen token
    as lines between two columns of tokens; it needs no network and no other file. It shows every script; a picture
    shows boxes in place of letters that its fonts lack, and a warning names their scripts.

    Args:
        translation: with attention weights.
        path: the file; an existing file is replaced.

    Raises:
        ValueError: a translation without weights, or as :func:`check_heatmap_path`.
    """
    check_heatmap_path(path)
    if translation.weights is None:
        raise ValueError("the translation has no attention weights to draw")
    if path.suffix.lower() == ".html":
        path.write_text(_page(translation), encoding="utf-8")
    else:
        _draw(translation, path)


def _draw(translation: Translation, path: Path) -> None:
    from utils.figures.plotting import (  # imports matplotlib
        SIZE,
        heatmap,
        letters_without_font,
        panels,
        use_style,
    )

    use_style()
    num_tgt, num_src = translation.weights.shape
    # The figure grows with the sentence: a quarter of an inch per label.
    figure, [ax] = panels(1, width=max(SIZE[0], 2 + num_src / 4), height=max(SIZE[1], 1.5 + num_tgt / 4))
    heatmap(
        translation.weights,
        queries=translation.tgt_tokens,
        keys=translation.src_tokens,
        ax=ax,
        xlabel="source token",
        ylabel="target token",
    )
    if missing := letters_without_font([*translation.src_tokens, *translation.tgt_tokens]):
        # The Unicode name of a letter begins with its script.
        scripts = {unicodedata.name(letter, "unnamed").split()[0].capitalize() for letter in missing}
        warnings.warn(
            f"the fonts of a picture lack letters of this text ({', '.join(sorted(scripts))}), so {path.name} has "
            f"boxes in their place; a file whose name ends in .html shows them",
            stacklevel=3,
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+", UserWarning)  # one such line for each letter
        # Without the date, the same translation gives the same file.
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def _page(translation: Translation) -> str:
    from utils.figures import Alignment
    from utils.figures.live import page_of_its_own

    weights = translation.weights.double().round(decimals=4)
    top, best = weights.max(dim=1)
    figure = Alignment(
        lambda: {"weights": weights, "top": top, "best": best},
        {},
        source=translation.src_tokens,
        target=translation.tgt_tokens,
        name="attention",
        alt="Two columns of tokens, the source and its translation, with lines from the chosen token of the "
        "translation to the source tokens that it attends to.",
        say="While it writes “{word}”, the decoder looks most at “{best[word]|source}” ({top[word]:0%}).",
    )
    return page_of_its_own(figure, title=translation.text)
