"""install()."""


def install() -> None:
    """."""
