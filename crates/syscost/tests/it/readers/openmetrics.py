"""Reads metrics from standard input with both parsers of prometheus_client and prints their samples, as JSON."""

import json
import sys

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as text_format

text = sys.stdin.read()


def samples(families):
    return [
        [family.type, family.unit, sample.name, sample.labels, sample.value]
        for family in families
        for sample in family.samples
    ]


json.dump(
    {
        "openmetrics": samples(openmetrics.text_string_to_metric_families(text)),
        "text_format": samples(text_format.text_string_to_metric_families(text)),
    },
    sys.stdout,
)
