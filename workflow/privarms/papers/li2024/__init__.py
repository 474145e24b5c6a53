"""Li, Shi and Simchi-Levi 2024: inference, figures, tables and statements."""
