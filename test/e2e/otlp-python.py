"""Exports an agent run with the OpenTelemetry SDK for Python, and prints its trace id."""

import sys

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

base, key, compression = sys.argv[1:4]
exporter = OTLPSpanExporter(
    endpoint=f"{base}/v1/traces",
    headers={"authorization": f"Bearer {key}"},
    compression=Compression(compression),
)
provider = TracerProvider(resource=Resource.create({"service.name": "support-python"}))
provider.add_span_processor(BatchSpanProcessor(exporter))
tracer = provider.get_tracer("agent", "1.0.0")

with tracer.start_as_current_span("triage") as run:
    run.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "triage"})
    with tracer.start_as_current_span("chat m1") as call:
        call.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.agent.name": "triage",
                "gen_ai.request.model": "m1",
                "gen_ai.usage.input_tokens": 100,
                "gen_ai.usage.output_tokens": 20,
                "gen_ai.response.finish_reasons": ["stop"],
            }
        )
    try:
        with tracer.start_as_current_span("execute_tool lookup") as tool:
            tool.set_attribute("gen_ai.operation.name", "execute_tool")
            raise LookupError("no such order")
    except LookupError:
        pass

provider.shutdown()
print(format(run.get_span_context().trace_id, "032x"))
