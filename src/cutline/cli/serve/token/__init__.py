"""cutline serve token: who may use a server; one module a command."""

from cutline.cli._groups import Folder

command = Folder(__name__, name="token", help="Make, list and revoke the tokens that let people and machines in.")
