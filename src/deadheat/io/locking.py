"""One process at a time: a lock that the system releases when its holder ends, however it ends."""

import errno
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deadheat.errors import DataError, DeadheatWarning

HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
BEYOND = 1 << 20  # the byte that Windows locks; what is before it can still be read


@contextmanager
def locked(path: str | os.PathLike[str], what: str, advice: str) -> Iterator[None]:
    """Hold a lock: a file that exists while the lock is held, and names the process.

    A file that a dead process left is taken over. On a file system without locks there is a warning, and no lock.

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
    path = Path(path)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(file)
            if _is_at(file, path):
                break
        except OSError as error:
            holder = os.read(file, 200).decode(errors="replace")
            if error.errno in HELD:
                os.close(file)
                raise DataError(
                    f"another {what} is running there{holder and f' ({holder})'}", hint=advice, path=path.parent
                ) from None
            warnings.warn(
                f"{path.parent} cannot be locked ({error.strerror or error}): run one {what} there at a time",
                DeadheatWarning,
                stacklevel=4,
            )
            break
        os.close(file)  # its holder removed it after we opened it and before we locked it: try again with a new one
    try:
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        if sys.platform != "win32":
            path.unlink(missing_ok=True)  # while it is still locked, so that nobody else holds it
        os.close(file)
        if sys.platform == "win32":
            with suppress(OSError):  # another process already has it open, and will remove it
                path.unlink()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(file: int, path: Path) -> bool:
    """Return whether a path still names this open file."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
