"""Files that are not text, recognised by their first bytes: they are often given instead of CSV."""

COMPRESSED = "decompress it"
EXPORT = "export it as CSV"
# First bytes -> what the file is, and what to do.
SIGNATURES = {
    b"\x1f\x8b": ("a file compressed by gzip", COMPRESSED),
    b"BZh": ("a file compressed by bzip2", COMPRESSED),
    b"\xfd7zXZ": ("a file compressed by xz", COMPRESSED),
    b"\x28\xb5\x2f\xfd": ("a file compressed by zstd", COMPRESSED),
    b"PK\x03\x04": ("a zip archive or an Excel file", "unpack it, or " + EXPORT),
    b"\xd0\xcf\x11\xe0": ("an Excel file", EXPORT),
    b"PAR1": ("a Parquet file", "give it the suffix .parquet if it is your own data, or " + EXPORT),
    b"\xff\xfe": ("text in UTF-16", "save it in UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "save it in UTF-8"),
}
LONGEST = max(map(len, SIGNATURES))


def known(head: bytes) -> tuple[str, str] | None:
    """Return what a file with these first LONGEST bytes is, and what to do; None if it may be text in UTF-8."""
    return next((found for first, found in SIGNATURES.items() if head.startswith(first)), None)


def not_text(head: bytes) -> str:
    """Return a sentence with what a file with these first LONGEST bytes is; "" if it may be text in UTF-8."""
    found = known(head)
    return "" if found is None else f"found {found[0]}; expected CSV in UTF-8; {found[1]}"
