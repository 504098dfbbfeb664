"""A plugin of deadheat: a measure of what is new to the reader, files with pipes between fields, and a command."""

from deadheat import api

PLUGIN = api.Plugin(
    name="novelty",
    help="Say how much of what a search shows is new to the reader.",
    measures=(api.MeasureFile("deadheat_novelty.measure", ("Novelty",), aliases=("new_share",)),),
    readers=(api.FileFormats("deadheat_novelty.pipes", ("pipes",), (".pipes",)),),
    commands=(api.Command("novelty", "deadheat_novelty.command", "Show how much of the top of each run is new."),),
)
