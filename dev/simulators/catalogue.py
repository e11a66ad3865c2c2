"""Which stand-ins there are. A new one is a module with a `Simulator`, and a line here."""

from __future__ import annotations

from dev.simulators.base import Simulator
from dev.simulators.captcha import Captcha
from dev.simulators.geocoders import Google, Nominatim
from dev.simulators.messaging import Messaging
from dev.simulators.ministry import Ministry
from dev.simulators.places import PlacesSearch
from dev.simulators.push import Push
from dev.simulators.videos import Videos


def all_simulators() -> list[Simulator]:
    return [Messaging(), Captcha(), Videos(), Ministry(), Push(), PlacesSearch(), Nominatim(), Google()]
