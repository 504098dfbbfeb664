"""Reports: one model of tables and facts (`model`), built by the `of_` modules and printed by the `as_` modules."""
