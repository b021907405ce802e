"""Reports: one JSON document (docs/reference/formats/report.md), rendered as text, as JSON and as one HTML page."""
