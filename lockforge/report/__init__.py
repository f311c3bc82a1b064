"""Values into words. Nothing here decides."""
