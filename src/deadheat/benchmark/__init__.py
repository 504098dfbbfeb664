"""bench(): retrievers on labelled cases, compared; a folder of results that an interruption does not cost."""
