"""What fits Cutline into other tools; each module is loaded only when it is asked for."""
