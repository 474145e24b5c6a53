"""report.html: a single self-contained page with headlines, every artifact and the whole ledger."""
