"""A contract of import-linter: a private module, `_name`, is imported only from its own package."""

from importlinter import Contract, ContractCheck, output


class PrivateModules(Contract):
    """Refuse imports of private modules from outside of the package that contains them."""

    def check(self, graph, verbose):
        """Return whether the contract is kept, with the imports that break it."""
        broken = []
        for module in sorted(graph.modules):
            package, _, name = module.rpartition(".")
            if not name.startswith("_") or name.startswith("__"):
                continue
            importers = sorted(graph.find_modules_that_directly_import(module))
            broken += [(one, module) for one in importers if not f"{one}.".startswith(f"{package}.")]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check):
        """Print a line per import that breaks the contract."""
        for importer, module in check.metadata["broken"]:
            package = module.rpartition(".")[0]
            output.print_error(f"{importer} imports {module}, which is private to {package}")
