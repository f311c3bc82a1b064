"""The given resolver scenarios, each locked over HTTP and judged by packaging alone."""
