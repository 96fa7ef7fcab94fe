"""Reads metrics on standard input as Prometheus' own parser does; prints a line for each sample: name, labels, value."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(json.dumps([family.type, sample.name, sample.labels, sample.value]))
