"""Keep RAGAS from reporting its use to its makers.

Flow: modules that import ragas call this first. The library reads the environment, and reads it once.
"""

import os


def forbid_reports() -> None:
    """Set what RAGAS looks for before it reports anything."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
