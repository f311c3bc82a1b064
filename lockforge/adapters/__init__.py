"""All input and output; each module implements a port and holds no policy."""
