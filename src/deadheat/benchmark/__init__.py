"""bench(): compare retrievers on labelled cases; results are kept in a folder, so that a run can be resumed."""
