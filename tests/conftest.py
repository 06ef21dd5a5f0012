"""What every test shares: shapes in the signatures of `utils` are checked at run time."""

from jaxtyping import install_import_hook

# Before anything imports utils. A subprocess and a notebook's kernel run without the check, as readers do.
# By PEP 484 an int is a float.
install_import_hook("utils", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
