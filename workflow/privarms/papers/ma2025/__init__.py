"""Ma, Jiang, Zhao, Yang and Yu 2025: figures, tables and statements."""
