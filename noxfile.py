"""The tests in environments of their own: every supported Python, the lowest stated versions."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["tests", "lowest"]

ALL = ".[test,plot,dask]"


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the default tests with the newest dependencies."""
    session.install(ALL)
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Run them with the lowest versions that pyproject.toml states."""
    session.install("--resolution", "lowest-direct", ALL)
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(python="3.12")
def coverage(session: nox.Session) -> None:
    """Run them and report which lines no test reached."""
    session.install(ALL)
    session.run(
        *("pytest", "-n", "auto", "--cov", "--cov-report=term-missing", *session.posargs),
        env={"COVERAGE_CORE": "sysmon"},  # several times as fast; Python 3.12 on
    )
