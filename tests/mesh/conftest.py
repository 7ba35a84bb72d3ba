"""The folder of the mesh's instances."""

from pathlib import Path

INSTANCES = Path(__file__).resolve().parents[2] / "model/mesh/instances"
