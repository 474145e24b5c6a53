"""Find modules by name, in the library and in extensions: arguments, contracts, figures and tables."""
