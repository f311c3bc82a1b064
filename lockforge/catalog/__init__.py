"""The catalogue: facts about accelerators, with their sources, and the only reader of them."""

from lockforge.catalog.facts import Catalog, GpuArchitectures, Source, SupportEnd
from lockforge.catalog.load import load_catalog

__all__ = ["Catalog", "GpuArchitectures", "Source", "SupportEnd", "load_catalog"]
