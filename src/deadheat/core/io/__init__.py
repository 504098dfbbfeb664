"""Reading and writing qrels and runs, one file per format."""
