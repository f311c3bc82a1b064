"""The command line: reads options, builds adapters, prints, maps errors to exit status."""
