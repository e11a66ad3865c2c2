"""Rate limits in deploy/nginx.conf. They count requests by IPv4 address or by IPv6 network."""

import re
import subprocess

import pytest
import requests

from config import ROOT
from dev.servers import free_port
from dev.stack.waiting import PATIENCE_S, wait_until
from dev.system_packages import require

pytestmark = pytest.mark.processes

#: nginx configuration for the tests. nginx reads the client address from the header `X-Address`, and accepts one
#: request per minute from each network.
CONF = """
daemon off;
pid {folder}/pid;
error_log stderr crit;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {network}
    limit_req_zone $network zone=guess:1m rate=1r/m;
    limit_req_status 429;
    server {{
        listen 127.0.0.1:{port};
        set_real_ip_from 127.0.0.1;
        real_ip_header X-Address;
        root {folder};
        location / {{ limit_req zone=guess; }}
    }}
}}
"""


@pytest.fixture
def refuses(tmp_path):
    """Return a function that sends a request from an address, and returns whether nginx refuses the request."""
    nginx = require("nginx")
    shipped = (ROOT / "deploy/nginx.conf").read_text()
    network = re.search(r"map \$binary_remote_addr \$network \{.*?\n    \}", shipped, re.DOTALL)
    assert network
    port = free_port()
    conf = tmp_path / "nginx.conf"
    conf.write_text(CONF.format(folder=tmp_path, network=network[0], port=port))

    def ask(address):
        response = requests.get(f"http://127.0.0.1:{port}/", headers={"X-Address": address}, timeout=PATIENCE_S)
        return response.status_code == 429

    def is_up():
        try:
            ask("127.0.0.1")
        except requests.ConnectionError:
            return False
        return True

    with subprocess.Popen([nginx, "-c", str(conf)]) as process:
        try:
            wait_until(is_up)
            yield ask
        finally:
            process.terminate()


def test_ipv6_is_limited_by_network_and_ipv4_by_address(refuses):
    assert not refuses("2001:db8:0:7::1")
    for address in ("2001:db8:0:7:a:b:c:d", "2001:db8::7:0:0:0:2", "2001:db8:0:7:a0a:a0a:a0a:a0a", "2001:db8:0:7::"):
        assert refuses(address)
    assert not refuses("2001:db8:0:8::1")
    assert [refuses("192.0.2.1"), refuses("192.0.2.2"), refuses("192.0.2.1")] == [False, False, True]
    assert [refuses("::ffff:192.0.2.2"), refuses("::ffff:192.0.2.3")] == [True, False]
