"""Compat: the interfaces of other tools, computed by deadheat, and what their numbers came from.

Adds the commands ``trec_eval`` and ``explain``, and the function `deadheat.explain`. People import `deadheat.compat`
and its modules `pytrec_eval`, `ranx` and `ir_measures`, which are the modules here, services in the registry.

* `pytrec_eval`, `ranx`, `ir_measures` with its `ir_measures_provider`, and `trec_eval` stand in for a tool each.
* `evaluating` has what they share; `switch` puts them in the place of the tools in a program that runs.
* `tools` says what each tool does, `explain` searches it for a reported number, `report` shows what was found.

Another tool whose numbers are explained is an entry of `tools`; another stand-in is a module, which `switch` names.
"""
