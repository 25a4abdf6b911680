"""Who may do what: tokens, roles, cookies, and the checks against other sites' forms."""
