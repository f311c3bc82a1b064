"""Laws that hold for every world of packages."""
