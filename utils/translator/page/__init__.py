"""Pages that translate in the reader's browser: of a run, in a chapter, and of the translators in `translators`.

The scripts, the style and the template of these pages lie here too.
"""
