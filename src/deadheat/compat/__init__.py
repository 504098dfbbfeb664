"""The interfaces of other tools, computed by deadheat: pytrec_eval, trec_eval, ir_measures and ranx.

A program that uses one of them changes an import, or nothing: ``python -m deadheat.compat script.py`` runs it as it is,
and :func:`install` does the same in a notebook. This is the public path of the plugin ``compat``.
"""

from deadheat.core import hooks

install = hooks.service("compat").install

__all__ = ["install"]
