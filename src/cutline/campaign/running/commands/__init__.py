"""Shell commands as the measurement: how they are started, ended and read."""
