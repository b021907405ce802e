"""Reports: one JSON document (docs/formats/report.md), rendered as text, as JSON and as a self-contained HTML page."""
