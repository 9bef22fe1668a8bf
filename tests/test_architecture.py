"""What `lint-imports` does not see: small folders, tests beside their modules, one name a thing."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import headwise

SOURCE = Path(headwise.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
MOST_MODULES = 12


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_says_what_it_holds(module: Path) -> None:
    assert ast.get_docstring(ast.parse((SOURCE / module).read_text()))


def test_no_folder_has_too_many_modules() -> None:
    folders = defaultdict(list)
    for module in MODULES:
        if module.name != "__init__.py":
            folders[str(module.parent)].append(module.stem)
    assert {name: held for name, held in folders.items() if len(held) > MOST_MODULES} == {}


def test_tests_stand_where_their_modules_do() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    of_package = {folder for folder in folders if folder.parts[:1] not in (("bench",), ("faults",))}
    missing = {folder for folder in of_package if not (SOURCE / folder).is_dir()}
    assert missing == set()


def public_names(path: Path) -> set[str]:
    """Name what a module defines at its top level for others."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = (part for target in targets for part in ast.walk(target))
            names |= {part.id for part in found if isinstance(part, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_a_public_name_means_one_thing_in_all_packages() -> None:
    packages = defaultdict(set)
    for module in MODULES:
        package = module.parts[0] if len(module.parts) > 1 else module.stem
        for name in public_names(SOURCE / module):
            packages[name].add(package)
    assert {name: held for name, held in packages.items() if len(held) > 1} == {}
