"""The error of a check that failed."""


class CheckFailedError(AssertionError):
    """Something does not hold that has to hold for every measure, or for every format of files.

    It is an AssertionError, so that a test which calls a check fails, and does not break.

    Parameters
    ----------
    subject : str
        The measure or the format.
    problem : str
        What is wrong: what was found, and what was expected.
    example : str, default ""
        The smallest example that shows it, in lines of its own.
    """

    def __init__(self, subject: str, problem: str, example: str = "") -> None:
        super().__init__(subject, problem, example)
        self.subject = subject
        self.problem = problem
        self.example = example

    def __str__(self) -> str:
        message = f"{self.subject}: {self.problem}"
        return f"{message}\n{self.example}" if self.example else message
