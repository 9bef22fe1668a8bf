from pathlib import Path

import msgspec
import pytest

from headwise.errors import ConfigError
from headwise.settings.about import About, read_about

PAGE = Path(__file__).parents[2] / "docs/package.md"


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("CC-BY-SA-4.0", False),
        ("CC-BY-NC-4.0", True),
        ("CC-BY-SA-3.0 AND CC-BY-NC-SA-4.0", True),
        ("NCSA", False),
        ("", False),
    ],
)
def test_licences_without_commercial_use_are_known(licence: str, expected: bool) -> None:
    assert About(licence=licence).is_non_commercial is expected


@pytest.mark.parametrize(
    "table",
    [
        {"language": "French"},
        {"licence": 'MIT"\n[project]'},
        {"limits": "two\nlines"},
        {"notes": "\x1b[31m"},
        {"sources": [{"release": "2.16"}]},
        {"licenses": "MIT"},
    ],
)
def test_what_would_break_a_project_file_or_a_terminal_is_refused(table: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(table, About)


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    example = PAGE.read_text().split("```toml\n")[1].split("```")[0]
    (tmp_path / "fr.toml").write_text(example)
    about = read_about(tmp_path / "fr.toml")
    assert (about.language, about.licence, len(about.sources)) == ("fr", "CC-BY-SA-4.0", 1)
    for field in (*About.__struct_fields__, *type(about.sources[0]).__struct_fields__):
        assert field in example
    (tmp_path / "fr.toml").write_text("licence = ")
    with pytest.raises(ConfigError, match="not TOML"):
        read_about(tmp_path / "fr.toml")
    with pytest.raises(ConfigError, match="No such file"):
        read_about(tmp_path / "none.toml")
