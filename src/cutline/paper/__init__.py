"""The paper's experiments: six setups, three figures, the table of t-tests, and what they say."""
