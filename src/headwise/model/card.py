"""The card of a model, its licence notice and its project file, made from its manifest.

The same manifest always gives the same bytes.
"""

import msgspec

from headwise.model.bundle import Manifest
from headwise.model.find import ENTRY_POINTS, package_name
from headwise.model.languages import language_name
from headwise.settings.about import About
from headwise.version import VERSION

_SCORES = {
    "dev_words": "Words",
    "dev_sentences": "Sentences",
    "dev_upos": "UPOS",
    "dev_xpos": "XPOS",
    "dev_feats": "UFeats",
    "dev_lemma": "Lemmas",
    "dev_lemmas": "Lemmas",
    "dev_uas": "UAS",
    "dev_las": "LAS",
}
"""Scores in the order of the columns; others follow under their own names."""
_DEV = "dev_"
_LICENCE_PAGES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC-BY-SA-3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC-BY-NC-SA-3.0": "https://creativecommons.org/licenses/by-nc-sa/3.0/",
    "CC-BY-NC-SA-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
}
_SPDX_PAGE = "https://spdx.org/licenses/{}.html"


def module_name(name: str) -> str:
    """Name the folder of a model inside its package: `headwise_fr`."""
    return package_name(name).replace("-", "_").replace(".", "_").lower()


def card(name: str, manifest: Manifest) -> str:
    """Write the model card in Markdown."""
    about, provenance = manifest.about, manifest.provenance
    facts = [
        ("Data", _sources(about) or _named_in(provenance, ("train", "dev", "data"))),
        ("Licence", licence_line(about)),
        ("Input", "words in CoNLL-U" if "segment.onnx" not in manifest.files else _TEXT),
        ("Recipe", _recipe(manifest)),
        ("Command", _code(provenance.get("command", ""))),
        ("Seed", provenance.get("seed", "")),
        ("Trained on", provenance.get("machine", "")),
        ("Segmenter", provenance.get("segmenter", "")),
        ("Size", f"{sum(entry.size for entry in manifest.files.values()) / 1e6:.1f} MB"),
        ("Limits", about.limits),
        ("Notes", about.notes),
    ]
    lines = [f"- **{key}**: {value}" for key, value in facts if value]
    return "\n".join(
        [
            f"# {name}: {language_name(about.language) or 'a model'} for headwise",
            "",
            f"    pip install {package_name(name)}",
            f'    headwise parse --model {name} "..."',
            "",
            *lines,
            "",
            *_score_table(manifest.scores),
            "To score a file of your own: `headwise evaluate gold.conllu parsed.conllu --align`.",
            "",
        ]
    )


_TEXT = "raw text, or words in CoNLL-U"


def _score_table(scores: dict[str, float]) -> list[str]:
    """Put every score on dev into one table."""
    names = [key for key in _SCORES if key in scores]
    names += sorted(key for key in scores if key.startswith(_DEV) and key not in _SCORES)
    if not names:
        return []
    heads = [_SCORES.get(key, key.removeprefix(_DEV).replace("_", " ")) for key in names]
    values = [f"{scores[key]:.2f}" for key in names]
    rows = [heads, ["---"] * len(heads), values]
    what = "Scores on dev, as training measured them (words and sentences: F1 from raw text):"
    return [what, "", *(f"| {' | '.join(row)} |" for row in rows), ""]


def _sources(about: About) -> str:
    return "; ".join(
        ", ".join(
            part
            for part in (f"{one.name} {one.release}".strip(), one.licence, one.attribution)
            if part
        )
        for one in about.sources
    )


def _named_in(provenance: dict[str, str], keys: tuple[str, ...]) -> str:
    return "; ".join(f"{key} {provenance[key]}" for key in keys if key in provenance)


def _recipe(manifest: Manifest) -> str:
    model = manifest.model
    parts = [f"{model.layers} layers of {model.hidden_size}", f"trees by {manifest.decode.decoder}"]
    if model.encoder:
        parts.insert(0, f"transformer {model.encoder}")
    return f"{', '.join(parts)}; int8; every setting is in `model.json`"


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`" if text else ""


def licence_line(about: About) -> str:
    """Name the licence, and mention if it forbids commercial use."""
    if not about.licence:
        return "not stated"
    return about.licence + (", not for commercial use" if about.is_non_commercial else "")


def licence_notice(name: str, about: About) -> str:
    """Write the file LICENSE: which licence, where its text is, whom to credit."""
    terms = [term for term in about.licence.split() if term not in ("AND", "OR", "WITH")]
    pages = [f"{term}: {_LICENCE_PAGES.get(term, _SPDX_PAGE.format(term))}" for term in terms]
    credit = [f"- {_sources(About(sources=(one,)))}" for one in about.sources]
    return "\n".join(
        [
            f"{package_name(name)}, a model for headwise",
            "",
            f"Licence: {licence_line(about)}",
            *pages,
            *(["", "It was trained on:", *credit] if credit else []),
            "",
        ]
    )


def project_file(name: str, manifest: Manifest, version: str = VERSION) -> str:
    """Write `pyproject.toml`: a package of data, whose entry point names its folder."""
    about, module = manifest.about, module_name(name)
    headwise = "headwise[encoder]" if manifest.model.encoder else "headwise"
    language = language_name(about.language) or name
    licence = [f"license = {_quoted(about.licence)}"] if about.licence else []
    lines = [
        "[build-system]",
        'requires = ["hatchling>=1.27"]',
        'build-backend = "hatchling.build"',
        "",
        "[project]",
        f"name = {_quoted(package_name(name))}",
        f"version = {_quoted(version)}",
        f"description = {_quoted(f'A model of {language} for headwise, the dependency parser')}",
        'readme = "README.md"',
        *licence,
        'license-files = ["LICENSE"]',
        'requires-python = ">=3.11"',
        f"dependencies = [{_quoted(f'{headwise}>={VERSION}')}]",
        "",
        f'[project.entry-points."{ENTRY_POINTS}"]',
        f"{_quoted(name)} = {_quoted(module)}",
        "",
        "[tool.hatch.build]",
        "ignore-vcs = true",
        "",
        "[tool.hatch.build.targets.wheel]",
        f'packages = ["src/{module}"]',
        "",
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Write a string of TOML, which escapes as JSON does."""
    return msgspec.json.encode(text).decode()
