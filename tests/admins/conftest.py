"""The administrator who looks after the others."""

from __future__ import annotations
