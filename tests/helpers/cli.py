"""Commands called in the test's own process."""

import typer
from typer.testing import CliRunner


def invoke(app: typer.Typer, *arguments: str) -> str:
    """What a command that succeeds prints; errors come through as they are."""
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output
