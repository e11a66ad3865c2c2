"""Prometheus alerts and the Grafana dashboard. Their metrics exist, and each alert has a test in which it fires."""

import json
import re
import subprocess

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from config import ROOT
from dev.system_packages import require

RULES, TROUBLES = ROOT / "deploy/prometheus/alerts.yml", ROOT / "deploy/prometheus/alerts_test.yml"
DASHBOARD = ROOT / "deploy/grafana/dashboard.json"

#: Pattern of metric names in the two files. Labels or a time range follow the name.
METRIC = re.compile(r"\b([a-z][a-z0-9_]*)(?=[{\[])")
#: Metrics that Prometheus adds itself.
OF_PROMETHEUS = {"up"}


def rules():
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def metrics_of(rule):
    return set(METRIC.findall(rule["expr"]))


def expressions():
    for rule in rules():
        yield f"alert {rule['alert']}", rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']}", target["expr"]


@pytest.fixture
def known(client):
    text = client.get("/metrics").text
    families = list(text_string_to_metric_families(text))
    of_type = {family.name: family.type for family in families}
    # A gauge may have no sample yet, so add the name of the gauge. A histogram may have no observation yet, so add
    # the names that its samples will have.
    gauges = {name for name, kind in of_type.items() if kind == "gauge"}
    histograms = {
        f"{name}{suffix}" for name, kind in of_type.items() if kind == "histogram" for suffix in ("_bucket", "_count")
    }
    return {sample.name for family in families for sample in family.samples} | gauges | histograms | OF_PROMETHEUS


def test_every_metric_in_the_alerts_and_the_dashboard_exists(known):
    named = {name: where for where, text in expressions() for name in METRIC.findall(text)}
    assert len(named) > 10
    assert {name: where for name, where in named.items() if name not in known} == {}


def test_each_alert_has_a_metric_on_the_dashboard():
    shown = {name for where, text in expressions() if where.startswith("panel") for name in METRIC.findall(text)}
    assert {rule["alert"]: METRIC.findall(rule["expr"]) for rule in rules() if not shown & metrics_of(rule)} == {}


def test_each_stat_panel_queries_the_current_value_and_has_a_warning_colour():
    stats = [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] == "stat"]
    assert len(stats) > 5
    for panel in stats:
        # Each panel must query only the current value. If it queried a time range, Grafana would show an old value for
        # hours after an outage of Redis.
        assert all(target["instant"] for target in panel["targets"]), panel["title"]
        colors = {step["color"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]}
        assert colors & {"red", "orange"}, panel["title"]


def test_every_alert_has_a_summary_an_action_a_severity_and_a_duration():
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["for"]


def test_every_alert_has_a_test_case_that_fires_and_one_that_does_not():
    names = {rule["alert"] for rule in rules()}
    fired = {True: set(), False: set()}
    for test in yaml.safe_load(TROUBLES.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            fired[bool(case["exp_alerts"])].add(case["alertname"])
    assert fired == {True: names, False: names}


@pytest.mark.processes
def test_promtool_accepts_the_alert_rules_and_their_tests():
    promtool = str(require("prometheus"))
    for words in (["check", "rules", str(RULES)], ["test", "rules", str(TROUBLES)]):
        done = subprocess.run([promtool, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
