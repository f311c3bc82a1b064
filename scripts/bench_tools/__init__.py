"""The benchmark: lockforge, uv, nab and pdm lock one project for the same rows, from one index."""
