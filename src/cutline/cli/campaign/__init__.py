"""cutline campaign: create campaigns, ask, tell, and see where they stand; one module a command."""

from cutline.cli._groups import Folder

command = Folder(__name__, name="campaign", help="Create campaigns, ask, tell, and see what is decided.")
