import type { HttpClient } from '../domain/http.ts';
import type { SpanExport } from '../domain/traces/span-export.ts';
import { VERSION } from '../domain/version.ts';
import type { Log } from '../runtime/telemetry/log.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { ExportFormat } from '../runtime/telemetry/span-export-request.ts';
import { createSpanExporter } from '../runtime/telemetry/span-exporter.ts';
import { readPartialSuccess } from '../wire/otlp/answer.ts';
import { encodeExport, type Sender } from '../wire/otlp/encode.ts';

const NAME = 'lensgate';
const SENDER: Sender = {
  resource: { 'service.name': NAME, 'service.version': VERSION },
  scope: { name: NAME, version: VERSION },
};

/** OTLP as an export format, in the given encoding. */
export const exportFormat = (encoding: 'protobuf' | 'json'): ExportFormat => ({
  encode: (spans) => encodeExport(spans, SENDER, encoding),
  rejected: readPartialSuccess,
});

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
    format: exportFormat(otlpExport.encoding),
    log,
  });
}
