"""The font of Chinese characters."""

from fontTools.ttLib import TTFont

from utils.figures.chinese import chinese_forms, font_path


def test_the_font_draws_the_forms_of_mainland_china():
    font = TTFont(font_path(), lazy=True)
    shared = font.getBestCmap()
    forms = chinese_forms(font, "直骨一")
    assert forms[ord("直")] != shared[ord("直")]
    assert forms[ord("骨")] != shared[ord("骨")]
    assert forms[ord("一")] == shared[ord("一")]
