"""Languages: systems on the same queries in several languages, query by query.

Adds the function `deadheat.compare_languages`, the class `deadheat.Languages`, the figure `slopes`, and, where a table
of queries has the column ``pair_id``, tables and a section of the page beside the comparison of systems.

* `comparing` pairs queries and makes the comparison, an `across.Languages`: differences and gaps.
* `system_means` has the means of a system across languages, `spread` their variance and its interval.
* `verdict` says it in sentences, `report` in tables and facts, `figures` draws it.
* `beside` adds it to ``deadheat compare`` and ``deadheat report``.

A new number of a system across languages begins in `system_means.AcrossLanguages` and gets its column in `report`.
"""
