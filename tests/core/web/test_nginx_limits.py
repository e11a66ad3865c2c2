"""Rate limits in deploy/nginx.conf. They count requests by IPv4 address or by IPv6 network."""

import pytest

from dev.system_packages import require
from tests.core.web.nginx_cache.edge import Edge

pytestmark = pytest.mark.processes


#: nginx reads the client address from the header `X-Address`, and accepts one login per minute from each network.
CHANGES = {
    "rate=120r/m": "rate=1r/m",
    "zone=guess burst=60 nodelay": "zone=guess",
    "limit_conn_status 429;": "limit_conn_status 429; set_real_ip_from 127.0.0.1; real_ip_header X-Address;",
}


def test_ipv6_is_limited_by_network_and_ipv4_by_address(tmp_path, monkeypatch):
    require("nginx")
    monkeypatch.setattr(Edge, "changes", CHANGES)
    with Edge(tmp_path) as edge:

        def refuses(address):
            return edge.call("POST", "/login", data=b"{}", headers={"X-Address": address}).status_code == 429

        assert not refuses("2001:db8:0:7::1")
        for address in (
            "2001:db8:0:7:a:b:c:d",
            "2001:db8::7:0:0:0:2",
            "2001:db8:0:7:a0a:a0a:a0a:a0a",
            "2001:db8:0:7::",
        ):
            assert refuses(address), address
        assert not refuses("2001:db8:0:8::1")
        assert [refuses("192.0.2.1"), refuses("192.0.2.2"), refuses("192.0.2.1")] == [False, False, True]
        assert [refuses("::ffff:192.0.2.2"), refuses("::ffff:192.0.2.3")] == [True, False]
