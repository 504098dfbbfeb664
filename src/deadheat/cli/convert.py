import click

from deadheat.cli.app import debug_option


@click.command()
@debug_option
def convert():
    """Convert"""
