"""Features: each folder is one, with its numbers, its reports, its commands, its readers and its schemas.

`deadheat/registry.py` lists them. A folder can be taken out: the rest works, and says what is missing.
"""
