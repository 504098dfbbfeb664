"""A lock file, which keeps a second process out of a folder."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadheat.core.errors import DataError, DeadheatWarning

WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL}  # of a file system


@contextmanager
def hold_lock(path: str | os.PathLike[str], what: str, advice: str) -> Iterator[None]:
    """Hold a lock file; that of a dead process is taken over.

    On a file system without locks there is a warning, and no lock.

    Parameters
    ----------
    path : path-like
        The lock file, in an existing folder.
    what : str
        What holds the lock, for messages, such as "deadheat bench".
    advice : str
        What to do if another process holds it.

    Raises
    ------
    DataError
        Another process, or another thread of this one, holds it.
    """
    from filelock import FileLock, Timeout  # few commands lock a folder

    path = Path(path)
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DataError(f"another {what} is running there", hint=advice, path=path.parent) from None
    except (OSError, NotImplementedError) as error:
        reason: object = error
        if isinstance(error, OSError):
            if error.errno not in WITHOUT_LOCKS:
                raise
            reason = error.strerror
        warnings.warn(
            f"{path.parent} cannot be locked ({reason}): run one {what} there at a time",
            DeadheatWarning,
            stacklevel=4,
        )
    try:
        yield
    finally:
        lock.release()
