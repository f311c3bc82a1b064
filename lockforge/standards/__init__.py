"""One packaging specification a module, pure: text or dict in, values out."""
