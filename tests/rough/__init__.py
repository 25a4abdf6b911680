"""The command line under rough treatment: every command, option and argument, found in the command line itself."""
