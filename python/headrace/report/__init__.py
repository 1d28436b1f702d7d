"""What the compiler chose for a kernel, as tables: in a terminal (rich or plain text), in a notebook, as JSON."""

from headrace.report.report import Report, report_of

__all__ = ["Report", "report_of"]
