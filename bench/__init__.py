"""How fast deadheat is, and how much memory it takes, beside the tools that people use today."""
