"""Checks of the exercises, one module per chapter, and the code that runs them.

In a chapter: ``from utils.exercises import masked_softmax as check``, then ``check.my_softmax(my_softmax)``.
Nothing else in ``utils`` uses this package.
"""
