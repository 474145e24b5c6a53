"""Check that tables and figures are usable in a paper: TeX that compiles, PDF with embedded fonts."""

import re
import shutil
import subprocess

import pytest
from pypdf import PdfReader

pytestmark = pytest.mark.workflow

NEEDS = re.compile(r"^% needs ((?:\\usepackage(?:\[[^\]]*\])?\{[^}]+\}(?:, | and )?)+)", re.MULTILINE)


def tables(made):
    folder = made.folder / "results"
    actual = {str(f.relative_to(folder)): f.read_text(encoding="utf-8") for f in sorted(folder.rglob("*.tex"))}
    assert len(actual) > 30
    return actual


def packages(text):
    """Return the packages in the first comment of a table."""
    return [p for needs in NEEDS.findall(text) for p in re.findall(r"\\usepackage(?:\[[^\]]*\])?\{[^}]+\}", needs)]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex (Debian: texlive-latex-recommended)")
def test_one_document_of_all_tables_compiles(made, tmp_path):
    actual = tables(made)
    needed = sorted({package for text in actual.values() for package in packages(text)})
    body = "\n\\clearpage\n".join(f"\\section*{{{name.replace('_', ' ')}}}\n{text}" for name, text in actual.items())
    document = "\n".join(["\\documentclass{article}", *needed, "\\begin{document}", body, "\\end{document}"])
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(PdfReader(tmp_path / "all.pdf").pages) >= len(actual)


def fonts(resources):
    """Yield every font of a page, also inside drawings."""
    resources = resources.get_object()
    for font in (resources.get("/Font") or {}).values():
        yield font.get_object()
    for drawing in (resources.get("/XObject") or {}).values():
        if "/Resources" in drawing.get_object():
            yield from fonts(drawing.get_object()["/Resources"])


def test_every_font_of_a_figure_is_in_its_file(made):
    files = sorted((made.folder / "results").rglob("*.pdf"))
    assert len(files) > 20
    used = 0
    for file in files:
        for page in PdfReader(file).pages:
            for font in fonts(page["/Resources"]):
                used += 1
                within = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
                # Many publishers refuse Type 3 fonts, which have no descriptor.
                assert font["/Subtype"] != "/Type3", file
                descriptor = within["/FontDescriptor"].get_object()
                assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(descriptor), file
    assert used > 20
