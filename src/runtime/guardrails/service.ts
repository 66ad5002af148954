import type { JsonObject } from '../../domain/json-object.ts';
import { collect } from '../../domain/bytes.ts';
import { GuardrailFailed } from '../../domain/errors.ts';
import type { Inspection, Verdict } from '../../domain/guardrails/guardrail.ts';
import { HttpFailure, type HttpClient } from '../../domain/http.ts';
import { DEFAULT_DEADLINE_SECONDS } from './params.ts';

/** Maximum bytes of the answer of a service. */
const ANSWER_LIMIT = 16 * 1024 * 1024;
/** How much longer than the deadline the HTTP client waits, in ms: the deadline decides the error of a slow service. */
const CLIENT_MARGIN_MS = 5_000;
/** Statuses that mean that the service is unreachable. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** The service did not answer, or answered with a status of `UNREACHABLE`. */
class Unreachable extends GuardrailFailed {}

/** Settings for the calls of a guardrail's service. */
interface ServiceSettings {
  /** Name of the guardrail. */
  readonly guardrail: string;
  readonly timeoutSeconds: number | null;
  /** Whether texts pass when the service cannot be reached. */
  readonly failsOpen: boolean;
}

export interface Service {
  /** The JSON answer to a JSON body. Throws GuardrailFailed, or the reason of the signal when that fires first. */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: unknown,
    signal: AbortSignal,
  ): Promise<JsonObject | readonly unknown[]>;
  /** The verdict of `check`; `passed` when the service is unreachable and the guardrail fails open. */
  passIfUnreachable(inspection: Inspection, check: () => Promise<Verdict>): Promise<Verdict>;
  /** Creates the error for a failure of the service. */
  failed(reason: string): GuardrailFailed;
}

export function createService(http: Pick<HttpClient, 'send'>, settings: ServiceSettings): Service {
  const { guardrail, failsOpen } = settings;
  const deadlineMs = (settings.timeoutSeconds ?? DEFAULT_DEADLINE_SECONDS) * 1000;
  const failed = (reason: string): GuardrailFailed =>
    new GuardrailFailed(`The guardrail '${guardrail}' failed to respond: ${reason}`, guardrail);
  const unreachable = (reason: string, cause?: unknown): Unreachable =>
    new Unreachable(`The guardrail '${guardrail}' failed to respond: ${reason}`, guardrail, { cause });

  return {
    failed,
    async post(url, headers, body, signal) {
      const deadline = AbortSignal.timeout(deadlineMs);
      const either = AbortSignal.any([signal, deadline]);
      const allHeaders = { 'content-type': 'application/json', ...headers };
      let status: number;
      let bytes: Uint8Array | null;
      try {
        const options = { signal: either, headersTimeoutMs: deadlineMs + CLIENT_MARGIN_MS };
        const answer = await http.send('POST', url, allHeaders, [Buffer.from(JSON.stringify(body))], options);
        status = answer.status;
        bytes = await collect(answer.body, ANSWER_LIMIT);
      } catch (failure) {
        if (signal.aborted) throw failure;
        if (deadline.aborted) throw unreachable(`it did not answer within ${deadlineMs / 1000} s`, failure);
        if (failure instanceof HttpFailure) throw unreachable('it cannot be reached', failure);
        throw failure;
      }
      if (UNREACHABLE.has(status)) throw unreachable(`it answered with the status ${status}`);
      if (status >= 400) throw failed(`it answered with the status ${status}`);
      if (bytes === null) throw failed(`its answer is larger than ${ANSWER_LIMIT} bytes`);
      const value = parsed(bytes);
      if (typeof value !== 'object' || value === null) throw failed('its answer is not JSON');
      return Array.isArray(value) ? (value as readonly unknown[]) : { ...value };
    },
    async passIfUnreachable({ signal }, check) {
      try {
        return await check();
      } catch (failure) {
        if (signal.aborted || !failsOpen || !(failure instanceof Unreachable)) throw failure;
        return { kind: 'passed', report: 'the service could not be reached' };
      }
    },
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** An address without slashes at its end. */
export const baseOf = (address: string): string => address.replace(/\/+$/, '');
