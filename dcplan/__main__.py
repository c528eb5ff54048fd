"""`python -m dcplan` is `dcplan`."""

from dcplan.cli.app import main

main()
