"""The core: from two files to a table with exact means, their spread and their intervals."""
