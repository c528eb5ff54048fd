"""The command line: a table of commands, each loaded when it is called, and what errors become."""

from __future__ import annotations

import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from dcplan import __version__
from dcplan.cli import terminal
from dcplan.cli.codes import INTERRUPTED, NO, OK, TROUBLE
from dcplan.errors import DcplanError, InputError, StoppedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dcplan.diagnostics import Finding

COMMANDS: dict[str, str] = {
    "init": "Write a first topology file from a template.",
    "validate": "Check topology files.",
    "plan": "Plan a network: what to light, how traffic goes in every failure, how long a step then takes.",
    "show": "Show the main tables of a plan file.",
    "report": "Print the whole report of a plan file.",
    "diff": "Compare two plan files.",
    "assess": "Show a plan in every failure.",
    "verify": "Check a plan anew, without a solver.",
    "optics": "Print span tables and link budgets of every lightpath candidate.",
    "steps": "Print every parallelism plan of every job, side by side.",
    "accuracy": "Compare predicted step times, memory and efficiency with published training runs.",
    "explain": "Explain a finding, or a constant of optics: value, formula, source, trust.",
    "catalog": "Show the parts that ship with dcplan, their figures and sources.",
    "import": "Write a topology file from those of others: GNPy, SNDlib, TopoHub.",
    "export": "Write the designed network for GNPy, or its integer program (mps, lp).",
    "schema": "Print the JSON Schema of a topology or plan file.",
}
"""Command -> its line in the help. `run` in the module of `module_of` says more, and is loaded when called."""


def module_of(command: str) -> str:
    """The module of a command: its name, with `_` for `-` and behind a word of Python's own."""
    name = command.replace("-", "_")
    return f"dcplan.cli.commands.{name}_" if iskeyword(name) else f"dcplan.cli.commands.{name}"


class _Lazy(TyperGroup):
    """A group that lists its commands from the table and loads one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        module = import_module(module_of(cmd_name))
        app.command(cmd_name, epilog=getattr(module, "EPILOG", None))(module.run)
        return get_command(app)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean `dcplan {near[0]}`? " if near else ""
            raise UsageError(f"there is no command `{args[0]}`: {hint}`dcplan --help` lists all")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(value: bool) -> None:  # noqa: FBT001
    if value:
        terminal.emit(f"dcplan {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_Lazy,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 yes, 1 the answer is no, 2 could not answer, 130 interrupted.",
)


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plans the networks between AI data centers: wavelengths, survivable routes and training step time."""


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing that a user can do makes it raise."""
    try:
        return _run(list(args))
    except BrokenPipeError:
        return terminal.leave_quietly()
    except SystemExit as exit_:
        if isinstance(exit_.__context__, BrokenPipeError):
            return terminal.leave_quietly()
        return exit_.code if isinstance(exit_.code, int) else TROUBLE
    except Exception as error:  # noqa: BLE001  the last line of defence: a person sees a line, not a traceback
        return _trouble(error)


def _run(args: list[str]) -> int:
    if args == ["--version"]:
        terminal.emit(f"dcplan {__version__}")  # the parser of typer would load pydantic for it
        return OK
    command = get_command(app)
    if not args:
        terminal.say(command.get_help(typer.Context(command, info_name="dcplan")))
        return TROUBLE
    answer = command(args, prog_name="dcplan", standalone_mode=False)
    if answer == INTERRUPTED:
        terminal.say("interrupted")
    return answer if isinstance(answer, int) else OK


def _trouble(error: Exception) -> int:
    """Say what went wrong on stderr; the exit code that it stands for."""
    if isinstance(error, InputError):
        from dcplan.report import findings as report

        found = cast("tuple[Finding, ...]", error.findings)
        terminal.say(report.text(found, colour=terminal.colour(sys.stderr)).rstrip("\n"))
        return NO
    if isinstance(error, DcplanError):
        terminal.say(f"dcplan: {error}")
        return INTERRUPTED if isinstance(error, StoppedError) else TROUBLE
    if hasattr(error, "format_message"):  # a usage error of typer, which vendors click
        usage = getattr(error, "ctx", None)
        terminal.say(f"dcplan: {error.format_message().replace('Value error, ', '')}")
        if usage is not None:
            terminal.say(f"`{usage.command_path} --help` shows how it is called")
        return TROUBLE
    if os.environ.get("DCPLAN_DEBUG"):
        raise error
    kind, where = type(error).__name__, _origin(error)
    terminal.say(f"dcplan: internal error, please report it: {kind}: {error} ({where}); DCPLAN_DEBUG=1 shows more")
    return TROUBLE


def _origin(error: Exception) -> str:
    """Module and line in which an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown place"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"


def main() -> None:
    """The program: run the command line of this process and exit."""
    gc.set_threshold(100_000)  # a file of 10,000 lines makes a million objects and no garbage
    terminal.keep_stdout()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = terminal.leave_quietly()
    except AttributeError:
        pass  # stdout is closed
    sys.exit(code)
