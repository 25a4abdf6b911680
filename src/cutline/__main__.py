"""python -m cutline: the command line."""

from cutline.cli import main

main()
