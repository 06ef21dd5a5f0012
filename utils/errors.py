"""The course's own errors: what a user can correct. Every other exception is a fault of a program.

The command line prints one of these in a line, and shows the traceback of every other exception.
Explained in book/problems.
"""


class CourseError(ValueError):
    """A text, a file, an option or a number that cannot be used; the message names it and says what is wanted."""


class NotFiniteError(CourseError, FloatingPointError):
    """A loss, a gradient or a weight that is not a finite number."""
