"""Pages that translate in the reader's browser: of a run, in a chapter, and a sentence that grows.

The scripts, styles and templates of these pages lie here too.
"""
