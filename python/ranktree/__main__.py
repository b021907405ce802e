"""`python -m ranktree`."""

from ranktree.cli.main import main

main()
