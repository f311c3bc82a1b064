"""lockforge: one pylock.toml for every platform and accelerator of a PyTorch project."""

__version__ = "0.1.0"
