"""The shape of the house: reading order, torch only in learn/, sizes of files and functions."""

import ast
from pathlib import Path

import pytest

import headwise

SOURCE = Path(headwise.__file__).parent
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__init__.py"
}
MAX_FILE = 300
MAX_FUNCTION = 40
MAX_ARGUMENTS = 7
TORCH = {"torch", "safetensors", "onnx", "onnxscript", "transformers", "triton"}
LARGE = TORCH | {"onnxruntime"}


def imported(path: Path) -> set[str]:
    """Name what a module imports, imports inside functions and for type checking included."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_reading_order_lists_every_module_once() -> None:
    assert sorted(headwise.READING_ORDER) == sorted(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_from_above(module: str) -> None:
    order = headwise.READING_ORDER
    above = {f"headwise.{name}" for name in order[: order.index(module)]}
    own = {name for name in imported(MODULES[module]) if name.split(".")[0] == "headwise"}
    # The command line is the one place that may use the package as its users do.
    allowed = above | ({"headwise"} if module.startswith("cli.") else set())
    assert own <= allowed


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("learn.")])
def test_only_learn_imports_torch(module: str) -> None:
    roots = {name.split(".")[0] for name in imported(MODULES[module])}
    banned = LARGE if module.startswith(("words.", "trees.", "evaluate.")) else TORCH
    assert not roots & banned


@pytest.mark.parametrize("module", MODULES)
def test_sizes(module: str) -> None:
    text = MODULES[module].read_text()
    assert text.count("\n") <= MAX_FILE
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        n_arguments = len(node.args.args) + len(node.args.kwonlyargs)
        decorators = "".join(map(ast.dump, node.decorator_list))
        # A command has an argument for each flag, a kernel one for each array.
        has_many = any(kind in decorators for kind in ("click", "command", "triton"))
        assert node.end_lineno is not None
        assert node.end_lineno - node.lineno < MAX_FUNCTION, node.name
        assert has_many or n_arguments <= MAX_ARGUMENTS, node.name


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_holds(module: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[module].read_text()))
