import { collect } from '../../domain/bytes.ts';
import type { HttpClient, UpstreamAnswer } from '../../domain/http.ts';
import type { ExportedSpan } from '../../domain/traces/exported-span.ts';
import type { OtlpExportSettings } from '../settings/otlp-export.ts';

/** Most bytes of an answer that are read. */
const ANSWER_BYTES = 64 * 1024;
/** Statuses that the OTLP specification says to try again on. */
const RETRIED = new Set([429, 502, 503, 504]);

/** What the formats of the wire bring to an exporter. */
export interface ExportFormat {
  readonly encode: (spans: readonly ExportedSpan[]) => { readonly contentType: string; readonly body: Uint8Array };
  /** Spans an answer says were left out of an export that was taken, and why. */
  readonly rejected: (
    answer: Uint8Array,
    contentType?: string,
  ) => {
    readonly rejectedSpans: number;
    readonly message: string;
  };
}

/** One try: it went well, may go well later, or never will. */
export type Tried =
  | { readonly outcome: 'sent'; readonly rejected: number; readonly message: string }
  | { readonly outcome: 'again'; readonly reason: string; readonly afterMs: number | null }
  | { readonly outcome: 'never'; readonly reason: string };

/** Sends one export body to the collector, once, and judges what came of it. Never throws. */
export function createExportRequest({
  settings,
  http,
  format,
  givenUp,
}: {
  readonly settings: OtlpExportSettings;
  readonly http: HttpClient;
  readonly format: ExportFormat;
  /** Ends a request under way. */
  readonly givenUp: AbortSignal;
}): (body: Uint8Array, contentType: string) => Promise<Tried> {
  async function judged({ status, headers, body }: UpstreamAnswer): Promise<Tried> {
    const said = await collect(body, ANSWER_BYTES);
    if (status >= 200 && status < 300) {
      const { rejectedSpans, message } = format.rejected(said ?? new Uint8Array(0), headers['content-type']);
      return { outcome: 'sent', rejected: rejectedSpans, message };
    }
    const reason = `it answered ${status}`;
    if (!RETRIED.has(status)) return { outcome: 'never', reason };
    return { outcome: 'again', reason, afterMs: retryAfterMs(headers['retry-after']) };
  }

  return async (body, contentType) => {
    const signal = AbortSignal.any([givenUp, AbortSignal.timeout(settings.timeoutMs)]);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(settings.headers)) headers[name] = value.reveal();
    headers['content-type'] = contentType;
    if (settings.gzip) headers['content-encoding'] = 'gzip';
    try {
      return await judged(
        await http.post(settings.url, headers, body, { signal, headersTimeoutMs: settings.timeoutMs }),
      );
    } catch (error) {
      // Only what went wrong, never what was sent: its headers hold a credential.
      return { outcome: 'again', reason: error instanceof Error ? error.message : 'it failed', afterMs: null };
    }
  };
}

/** `Retry-After` in seconds or as a date; null when it says neither. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
