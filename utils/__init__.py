"""The code of the course: kernels and attention, a translator built on them, and measures of its quality.

Data flows corpus -> batches -> model -> search -> scores -> figures, and imports follow that order.
Nothing is imported here, so that ``import utils.attention`` takes little longer than importing torch.
"""
