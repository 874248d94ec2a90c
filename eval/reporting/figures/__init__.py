"""The numbers of a report: metrics, distributions, charts, history, tables."""
