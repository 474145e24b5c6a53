"""report.html: one page that needs nothing but itself, with headlines, every artifact and the whole ledger."""
