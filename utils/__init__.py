"""The shared module of the course: kernels and attention, a translator built on them, and what measures it.

Data flows corpus -> batches -> model -> search -> scores -> figures, and imports follow that order.
Nothing is imported here, so that ``import utils.attention`` costs no more than torch.
"""
