"""report.html: one page that needs nothing but itself, with what was found, every artifact and the whole ledger."""
