"""`dcplan explain`: what a finding means, and where a constant comes from."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from dcplan.cli import terminal
from dcplan.errors import UsageError

EPILOG = (
    "Without a name, all rules, constants and formulas are listed. Examples: dcplan explain DCP301; dcplan explain n2"
)


def run(
    name: Annotated[
        str | None, typer.Argument(metavar="CODE|NAME", help="A rule by code or name, a constant, a catalog id.")
    ] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="How it is written.")] = "text",
) -> None:
    """Explain a finding: why it matters, a bad file and a good one; or a constant: value, formula, source, trust.

    Constants and formulas of optics have names (`connector-loss`, `gsnr`), parts their catalog ids (`800zr+`).
    """
    from dcplan.api import reference
    from dcplan.report import constants as figures
    from dcplan.report import rules as report

    rules, constants = reference.all_rules(), reference.all_constants()
    if name is None:
        everything = (
            f"{report.listing(rules)}\n{figures.listing(constants)}\nparts: by id, `dcplan catalog` lists them\n"
        )
        terminal.emit(report.json(rules, constants) if form == "json" else everything)
        return
    wanted = name.casefold()
    ruled = [rule for rule in rules if wanted in (rule.code.casefold(), rule.name.casefold())]
    figured = [one for one in constants if wanted in (one.name, one.where.rpartition(".")[2].casefold())]
    if ruled or figured:
        texts = [*map(report.text, ruled), *map(figures.text, figured)]
        terminal.emit(report.json(ruled, figured) if form == "json" else "\n".join(texts))
    else:
        _part(name, form, [key for rule in rules for key in (rule.code, rule.name)] + [one.name for one in constants])


def _part(name: str, form: str, known: list[str]) -> None:
    """All of a catalog entry. UsageError, with the nearest of everything that has a name, where there is none."""
    from dcplan.api import reference
    from dcplan.diagnostics import did_you_mean
    from dcplan.report import catalog
    from dcplan.report.render import draw

    found = reference.parts_called(name)
    if not found:
        known += [part for parts in reference.catalog().values() for part in parts]
        hint = did_you_mean(name, known, "`dcplan explain` lists all")
        raise UsageError(f"there is no rule, constant or part `{name}`: {hint}")
    if form == "json":
        terminal.emit(catalog.json(found))
        return
    width, colour = terminal.width(), terminal.colour(sys.stdout)
    views = [catalog.entry(kind, part, about) for kind, parts in found.items() for part, about in parts.items()]
    terminal.emit("\n".join(draw(view, "text", width, colour=colour) for view in views))
