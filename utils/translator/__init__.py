"""A translator for use: its fast form, its full training loop, kept runs, many processes and the command line.

The course itself is in the modules beside this folder; no chapter needs more of this one than its fast form.
"""
