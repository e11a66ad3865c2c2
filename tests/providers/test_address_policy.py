"""Which IP addresses each address policy allows, also after a host name is resolved."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from app.providers.http import AddressPolicy, Http, ProviderError
from tests.providers.patience import HURRIED, PATIENT
from tests.providers.raw_server import raw

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n" + b'{"ok":true}'

PUBLIC = ["8.8.8.8", "103.28.12.1", "1.1.1.1", "2606:4700::1111", "2404:6800:4003::64"]
NOT_PUBLIC = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1",
    "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1", "2002:7f00:1::", "2001::1",
    "64:ff9b::7f00:1", "64:ff9b:1::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
    "3fff::1", "5f00::1",
]  # fmt: skip


def test_public_addresses_are_allowed() -> None:
    for policy in (AddressPolicy.PUBLIC, AddressPolicy.PUBLIC_OR_LOOPBACK):
        assert [address for address in PUBLIC if not policy.allows(address)] == []


def test_the_public_policy_refuses_private_shared_and_reserved_addresses() -> None:
    assert [address for address in NOT_PUBLIC if AddressPolicy.PUBLIC.allows(address)] == []
    assert [address for address in NOT_PUBLIC if not AddressPolicy.ANYWHERE.allows(address)] == []


def test_the_loopback_policy_allows_loopback_but_no_other_private_address() -> None:
    allowed = {address for address in NOT_PUBLIC if AddressPolicy.PUBLIC_OR_LOOPBACK.allows(address)}
    assert allowed == {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"}


def client(policy: AddressPolicy, **options: Any) -> Http:
    return Http("policy", policy=policy, attempts=1, **{**PATIENT, **options})


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "0", "2130706433", "0x7f.1", "017700000001", "127.1"]
)
def test_the_public_policy_refuses_every_spelling_of_loopback(host: str) -> None:
    with raw(OK) as server:
        with pytest.raises(ProviderError) as caught:
            client(AddressPolicy.PUBLIC).fetch("GET", f"http://{host}:{server.port}/")
        assert caught.value.kind in ("refused", "unreachable")
        assert not server.requests


def test_the_loopback_policy_can_call_a_loopback_server() -> None:
    with raw(OK) as server:
        assert client(AddressPolicy.PUBLIC_OR_LOOPBACK).fetch("GET", server.url).json() == {"ok": True}


def answers(monkeypatch: pytest.MonkeyPatch, *rounds: list[str]) -> list[str]:
    """Make a host name resolve to these addresses, one list per lookup. Return the names that were looked up."""
    asked: list[str] = []
    left = list(rounds)
    real = socket.getaddrinfo

    def resolve(host: str, port: Any, *args: Any, **options: Any) -> Any:
        if host != "rebind.example":
            return real(host, port, *args, **options)
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def test_a_host_that_resolves_to_a_private_address_is_refused_permanently(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw(OK) as server:
        answers(monkeypatch, ["10.0.0.1", "127.0.0.1"])
        with pytest.raises(ProviderError) as caught:
            client(AddressPolicy.PUBLIC).fetch("GET", f"http://rebind.example:{server.port}/")
        assert (caught.value.kind, caught.value.permanent) == ("refused", True)
        assert not server.requests


def test_a_host_name_is_resolved_once_for_the_check_and_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw(OK) as server:
        asked = answers(monkeypatch, ["192.0.2.1"], ["127.0.0.1"])
        # 192.0.2.1 stands for a public address. The changed policy allows only this address. No server answers there.
        monkeypatch.setattr(AddressPolicy, "allows", lambda _, address: address == "192.0.2.1")
        with pytest.raises(ProviderError) as caught:
            client(AddressPolicy.PUBLIC, **HURRIED).fetch("GET", f"http://rebind.example:{server.port}/")
        assert caught.value.kind in ("unreachable", "timeout")
        assert asked == ["rebind.example"]  # the name is looked up only once
        assert not server.requests


def test_a_forbidden_address_is_skipped_when_an_allowed_one_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw(OK) as server:
        answers(monkeypatch, ["10.0.0.1", "127.0.0.1"])
        response = client(AddressPolicy.PUBLIC_OR_LOOPBACK).fetch("GET", f"http://rebind.example:{server.port}/")
        assert response.json() == {"ok": True}
        assert f"Host: rebind.example:{server.port}".encode() in server.requests[0]
