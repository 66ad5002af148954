import type { HttpClient } from '../domain/http.ts';
import { exportedSpan } from '../domain/traces/exported-span.ts';
import type { SpanExport } from '../domain/traces/span-export.ts';
import { VERSION } from '../domain/version.ts';
import type { CallRecord } from '../domain/calls/call-record.ts';
import type { CallRecorder } from '../gateway/gateway.ts';
import type { Log } from '../runtime/telemetry/log.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import { createSpanExporter } from '../runtime/telemetry/span-exporter.ts';
import { readPartialSuccess } from '../wire/otlp/answer.ts';
import { encodeExport, type Sender } from '../wire/otlp/encode.ts';

const NAME = 'lensgate';
const SENDER: Sender = {
  resource: { 'service.name': NAME, 'service.version': VERSION },
  scope: { name: NAME, version: VERSION },
};

/** Exporter to an external collector; null when none is configured. */
export function openSpanExport(
  { otlpExport }: Pick<Settings, 'otlpExport'>,
  http: HttpClient,
  log: Log,
): SpanExport | null {
  if (otlpExport === null) return null;
  return createSpanExporter({
    settings: otlpExport,
    http,
    format: { encode: (spans) => encodeExport(spans, SENDER, otlpExport.encoding), rejected: readPartialSuccess },
    log,
  });
}

const NONE: NonNullable<CallRecord['below']> = [];

/** Records a call and exports its spans; neither waits for the other. */
export function recordAndExport(record: (call: CallRecord) => void, spanExport: SpanExport): CallRecorder {
  return {
    record(call) {
      record(call);
      spanExport.push(exportedSpan(call.span, call.spend.teamId));
      for (const span of call.below ?? NONE) spanExport.push(exportedSpan(span, call.spend.teamId));
    },
  };
}
