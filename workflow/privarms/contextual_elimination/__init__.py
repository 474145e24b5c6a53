"""Adaptive experiments with M features and two arms: eliminate in the first half, randomise in the second.

What the policies of Li, Shi & Simchi-Levi (ICML 2024, and arXiv v1) and their environments have in common. Every
feature is treated on its own but for T_min, which the features' counts in the first half decide together.
"""
