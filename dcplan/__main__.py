"""The program's door: `dcplan` and `python -m dcplan`. Imports nothing before it can take an interrupt."""

import os


def main() -> None:
    """Run the command line of this process; an interrupt while it loads ends it as quietly as one while it works."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them takes longer than a small file
    try:
        from dcplan.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
