"""The reference is complete: commands, flags, settings and every public name of Python."""

import ast
import importlib
import inspect
import json
import re
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import get_args

import click
import msgspec
import pytest

import headwise
from headwise.cli.main import main
from headwise.settings.recipe import Recipe

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
API = re.findall(r"^::: (\S+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE)
"""The names whose signatures and docstrings `make docs` writes into that page."""


def section(page: str, heading: str) -> str:
    parts = re.split(rf"^## {re.escape(heading)}$", page, flags=re.MULTILINE)
    assert len(parts) == 2, f"{heading} needs one section"
    return parts[1].split("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The rows of all tables, cell by cell."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def explained(text: str, pattern: str) -> dict[str, str]:
    """What stands in code in the first cells of tables, with the last cell of its row."""
    return {
        name: row[-1] for row in rows(text) for name in re.findall(pattern, row[0]) if len(row) > 1
    }


def commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


COMMANDS = dict(commands(main, "headwise"))
COMMANDS_PAGE = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
CONFIGURATION_PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_section_that_explains_its_flags(name: str) -> None:
    flags = explained(section(COMMANDS_PAGE, name), r"`(--?[a-z-]+)[^`]*`")
    known = {
        flag
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for flag in parameter.opts + parameter.secondary_opts
    }
    assert {flag for flag in known if len(flags.get(flag, "")) < 10} == set()
    assert set(flags) <= known


def test_no_section_explains_a_command_that_is_gone() -> None:
    headings = re.findall(r"^## (headwise .*)$", COMMANDS_PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(COMMANDS)


@pytest.mark.parametrize("table", msgspec.structs.fields(Recipe), ids=lambda table: table.name)
def test_each_setting_is_explained_with_its_default(table: msgspec.structs.FieldInfo) -> None:
    text = section(CONFIGURATION_PAGE, f"[{table.name}]")
    kind = next(iter(get_args(table.type)), table.type)  # of an optional table, the table
    settings = {row[0].strip("`"): row for row in rows(text) if row[0].startswith("`")}
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    assert set(settings) >= set(known)
    for name, field in known.items():
        default, meaning = settings[name][1], settings[name][-1]
        assert len(meaning) > 10, name
        if field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT:
            value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            written = json.dumps(msgspec.to_builtins(value))
            assert default.replace("`", "") in (written, "none" if value is None else written), name


PYTHON_PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
PYTHON_CODE = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", PYTHON_PAGE)
"""What stands in code within the sentences and tables of the page on Python."""


def find(name: str) -> object:
    """Import what a dotted name means: a module, or an attribute of one."""
    module, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(find(module), attribute)


def names_on_pages() -> set[str]:
    """Every name of headwise that a page imports or calls."""
    names: set[str] = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for module, imported in re.findall(r"from (headwise[\w.]*) import ([\w, ]+)", text):
            names |= {f"{module}.{name.strip()}" for name in imported.split(",")}
        names |= {f"headwise.{name}" for name in re.findall(r"\bheadwise\.(\w+)\(", text)}
    return names


def public_names() -> set[str]:
    """What `__all__` lists, and what pages name."""
    names = names_on_pages()
    for module in ("headwise", "headwise.render", "headwise.treebank.checks", "headwise.corpus"):
        names |= {f"{module}.{name}" for name in importlib.import_module(module).__all__}
    return names


def same(listed: str) -> object:
    """An object by identity, or a value by its name."""
    value = find(listed)
    return value if callable(value) else listed


def test_every_public_name_is_in_the_reference() -> None:
    listed = [same(name) for name in API]
    missing = {
        name
        for name in public_names()
        # A type alias has no docstring, and signatures show what it stands for.
        if same(name) not in listed and typing.get_origin(find(name)) is None
    }
    assert missing == {"headwise.__version__"}
    assert "`headwise.__version__`" in (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert len(API) == len(set(API))


def returned_types(function: object) -> Iterator[str]:
    """The names in the annotation of what a function returns."""
    code = getattr(function, "fget", None) or getattr(function, "func", None) or function
    annotation = inspect.get_annotations(code).get("return") if callable(code) else None
    text = annotation if isinstance(annotation, str) else repr(annotation)
    yield from re.findall(r"[A-Za-z_]\w*", text.replace("headwise.", ""))


def members(listed: type) -> dict[str, object]:
    """The public methods and properties that a class of ours defines."""
    return {
        name: value
        for name, value in vars(listed).items()
        if (not name.startswith("_") or name == "__call__")
        and (inspect.isfunction(value) or hasattr(value, "fget") or hasattr(value, "func"))
    }


def test_what_public_functions_return_is_in_the_reference() -> None:
    classes = {
        cls.__name__
        for module in map(importlib.import_module, headwise_modules())
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
    }
    listed = {name.rpartition(".")[2] for name in API}
    for name in API:
        value = find(name)
        functions = members(value) if inspect.isclass(value) else {name: value}
        for function in functions.values():
            for kind in set(returned_types(function)) & classes - listed:
                assert kind.startswith("_"), f"{name} returns {kind}"


def headwise_modules() -> Iterator[str]:
    """The modules that define what is listed."""
    yield from {getattr(find(name), "__module__", "headwise") or "headwise" for name in API}


@pytest.mark.parametrize("name", API)
def test_each_name_and_its_members_are_described(name: str) -> None:
    value = find(name)
    if not callable(value):
        return
    assert value.__doc__
    assert not value.__doc__.startswith(value.__name__ + "(")  # as dataclasses write it
    if inspect.isclass(value):
        for member, function in members(value).items():
            assert function.__doc__, f"{name}.{member}"
        described = " ".join([value.__doc__, attribute_docstrings(value), *PYTHON_CODE])
        for field in fields_of(value):
            assert re.search(rf"\b{field}\b", described), f"{name}.{field}"


def fields_of(value: type) -> list[str]:
    if issubclass(value, Exception) or not inspect.signature(value).parameters:
        return []
    names: list[str] = [*getattr(value, "__struct_fields__", getattr(value, "_fields", ()))]
    names += [field.name for field in fields(value)] if is_dataclass(value) else []
    return [name for name in names if not name.startswith("_")]


def attribute_docstrings(value: type) -> str:
    """The names of attributes that have a docstring below them, as griffe reads them."""
    tree = ast.parse(inspect.getsource(value))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return " ".join(
        node.target.id
        for node, following in pairwise(body)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
    )


def test_names_are_looked_up_where_they_are() -> None:
    assert find("headwise.load") is headwise.load
    assert isinstance(find("headwise.render"), ModuleType)
    with pytest.raises(AttributeError):
        find("headwise.nothing")
