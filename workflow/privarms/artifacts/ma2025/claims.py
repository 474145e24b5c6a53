"""How each claim's value is measured; a function takes the results and the claim's arguments."""

from privarms.artifacts.results import Results
from privarms.ledger import Measured


def table1_entry(results: Results, dataset: str, entry: str) -> Measured:
    """One entry of Table 1, counted in the prepared data."""
    facts = results.dataset(dataset)
    sizes = ", ".join(f"{n} {s}" for n, s in zip(facts["source_names"], facts["source_sizes"], strict=True))
    note = f"Sources: {sizes}." if "source" in entry else ""
    return Measured(facts[entry], note=note)


MEASURES = {"table1_entry": table1_entry}
