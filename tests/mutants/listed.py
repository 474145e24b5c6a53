"""The mutants that mutants.yaml lists: small faults of the library, each a text in a file and what becomes of it."""

import hashlib
from dataclasses import astuple, dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.yaml")
LIBRARY = Path("workflow") / "privarms"


@dataclass(frozen=True)
class Mutant:
    """One small fault.

    file: below the library; text: stands in it once, and is replaced by `becomes`; fault: what is wrong then, in words
    tests: files or folders below tests/ that should notice; papers: whose claims should, none where there are none
    """

    name: str
    file: str
    text: str
    becomes: str
    fault: str
    tests: tuple[str, ...]
    papers: tuple[str, ...]

    def path(self, project: Path) -> Path:
        """The file in a copy of the project."""
        return project / LIBRARY / self.file

    def apply(self, project: Path) -> None:
        """Put the fault into a copy of the project. Raises ValueError where the text does not stand there once."""
        path = self.path(project)
        before = path.read_text(encoding="utf-8")
        if (count := before.count(self.text)) != 1:
            raise ValueError(
                f"{self.name}: expected this text once in {self.file}, found it {count} times: {self.text}"
            )
        path.write_text(before.replace(self.text, self.becomes), encoding="utf-8")

    def digest(self, project: Path) -> str:
        """What changes when the mutant does, the file that it changes, or what judges it: tests and claims."""
        held = hashlib.sha256(repr(astuple(self)).encode())
        judges = [project / "tests" / name for name in (*self.tests, "mutants/run.py", "mutants/reduced.py")]
        judges += [project / LIBRARY / name for name in ("verdict.py", "ledger.py")]
        for paper in self.papers:
            judges += [project / "config" / room / f"{paper}.yaml" for room in ("studies", "claims", "published")]
            files = sorted((project / LIBRARY / "artifacts" / paper).glob("*.py"))
            judges += [path for path in files if path.stem not in ("figures", "tables")]
        for path in (self.path(project), *judges):
            for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
                held.update(file.read_bytes() if file.is_file() else b"")
        return held.hexdigest()


def load(file: Path = LIST) -> list[Mutant]:
    """All mutants, in the order of the list. Raises ValueError for a name that stands twice and an unknown key."""
    found = []
    for entry in yaml.safe_load(file.read_text(encoding="utf-8")):
        try:
            mutant = Mutant(**{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()})
        except TypeError as error:
            raise ValueError(f"{file}: {entry.get('name')}: {error}") from error
        if mutant.name in [other.name for other in found]:
            raise ValueError(f"{file}: {mutant.name} stands twice")
        found.append(mutant)
    return found
