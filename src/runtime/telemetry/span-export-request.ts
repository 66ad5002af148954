import { collect } from '../../domain/bytes.ts';
import type { HttpClient, UpstreamAnswer } from '../../domain/http.ts';
import type { ExportedSpan } from '../../domain/traces/exported-span.ts';
import type { OtlpExportSettings } from '../settings/otlp-export.ts';

/** Maximum bytes of an answer. A longer answer counts as empty. */
const ANSWER_BYTES = 64 * 1024;
/** Statuses after which the OTLP specification requires a retry. */
const RETRIED = new Set([429, 502, 503, 504]);

/** Wire format functions of an exporter. */
export interface ExportFormat {
  readonly encode: (spans: readonly ExportedSpan[]) => { readonly contentType: string; readonly body: Uint8Array };
  /** Rejected spans in a partial success, and the reason. */
  readonly rejected: (
    answer: Uint8Array,
    contentType?: string,
  ) => {
    readonly rejectedSpans: number;
    readonly message: string;
  };
}

/** Result of one attempt: success, retryable failure, or permanent failure. */
export type AttemptResult =
  | { readonly outcome: 'sent'; readonly rejected: number; readonly message: string }
  | { readonly outcome: 'again'; readonly reason: string; readonly afterMs: number | null }
  | { readonly outcome: 'never'; readonly reason: string };

/** Sends one export body to the collector once. Never throws. */
export function createExportRequest({
  settings,
  http,
  format,
  abortSignal,
}: {
  readonly settings: OtlpExportSettings;
  readonly http: Pick<HttpClient, 'post'>;
  readonly format: ExportFormat;
  /** Aborts the running request. */
  readonly abortSignal: AbortSignal;
}): (body: Uint8Array, contentType: string) => Promise<AttemptResult> {
  async function resultOf({ status, headers, body }: UpstreamAnswer): Promise<AttemptResult> {
    const answer = await collect(body, ANSWER_BYTES);
    if (status >= 200 && status < 300) {
      const { rejectedSpans, message } = format.rejected(answer ?? new Uint8Array(0), headers['content-type']);
      return { outcome: 'sent', rejected: rejectedSpans, message };
    }
    const reason = `the collector answered ${status}`;
    if (!RETRIED.has(status)) return { outcome: 'never', reason };
    return { outcome: 'again', reason, afterMs: retryAfterMs(headers['retry-after']) };
  }

  return async (body, contentType) => {
    const signal = AbortSignal.any([abortSignal, AbortSignal.timeout(settings.timeoutMs)]);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(settings.headers)) headers[name] = value.reveal();
    headers['content-type'] = contentType;
    if (settings.gzip) headers['content-encoding'] = 'gzip';
    try {
      return await resultOf(
        await http.post(settings.url, headers, body, { signal, headersTimeoutMs: settings.timeoutMs }),
      );
    } catch (error) {
      // Only the error message, never the request: its headers contain a credential.
      return { outcome: 'again', reason: error instanceof Error ? error.message : 'the request failed', afterMs: null };
    }
  };
}

/** Delay in ms of a `Retry-After` header, which has seconds or a date; null without a valid one. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
