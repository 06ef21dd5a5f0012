"""Checks of the exercises, a module a chapter, and what runs them.

In a chapter: ``from utils.exercises import masked_softmax as check``, then ``check.mask_from_ids(mask_from_ids)``.
Nothing else in ``utils`` uses this package.
"""
