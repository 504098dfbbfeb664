"""Arrays of neighbours, as FAISS, hnswlib, ScaNN, usearch, implicit and cuVS return them, as runs.

Adds what `deadheat.Run.from_topk` does, judgments by position beside such a run, and the file format ``.npz``.

* `arrays` reads and checks ids, scores and query ids, and makes the run of them.
* `rows` stores them, and finds the judged documents among them: whole numbers stay numbers, and become text only for
  whoever asks for rows.
* `by_position` reads judgments that are lists, an array or a sparse matrix, one row for each query.
* `npz` reads and writes files with ``ids``, ``scores`` and ``query_ids``.
"""
