import type { Clock } from '../../domain/clock.ts';
import { type DomainError, InvalidInput, LimitExceeded, NotFound, Unavailable } from '../../domain/errors.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { camelCased, snakeCased } from '../../domain/key-case.ts';
import type { ContentPage } from '../../domain/lens/content.ts';
import type { Sample } from '../../domain/lens/execution.ts';
import type { Review } from '../../domain/lens/review.ts';
import {
  type AnalysisAnswer,
  type ClaimedRun,
  LEASE_MS,
  type LensBackend,
  OwnershipLost,
  type RunClaim,
  ServerUnreachable,
  UnknownWorker,
  WORKER_PROTOCOL,
} from '../../domain/lens/worker.ts';
import type { Secret } from '../../domain/secret.ts';
import { VERSION } from '../../domain/version.ts';
import { pause, systemClock } from '../clock.ts';

/** Deadline of one request, in ms. */
const REQUEST_MS = 60_000;
/** Deadline of a request for a model call, in ms: the call may wait for its budget and for its answer. */
const MODEL_MS = 330_000;
/** Maximum retries of a request about no run, of a heartbeat, and of a model call that the model failed. */
const MAX_RETRIES = 4;
/** Delay before the first retry, in ms. It doubles with each further retry. */
const FIRST_DELAY_MS = 500;
/** Maximum delay before a retry, in ms. */
const MAX_DELAY_MS = 60_000;
/** Maximum delay before a retry while the server cannot be reached, in ms. */
const MAX_UNREACHABLE_DELAY_MS = 10_000;
/** Status that stands for a request without an answer in JSON. */
const NO_ANSWER = 503;
/** Statuses that are retried. */
const RETRIED_STATUSES = new Set([429, 502, NO_ANSWER, 504]);

interface BackendRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Attempt of the run that the request is about; absent for a request about no run. */
  readonly runAttempt?: number;
  readonly body?: unknown;
  readonly withinMs?: number;
  /**
   * Whether the request is repeated for `LEASE_MS` while the server cannot be reached. Otherwise it fails after
   * `MAX_RETRIES`.
   */
  readonly waitsForServer?: boolean;
}

interface BackendAnswer {
  readonly status: number;
  readonly headers: Headers | null;
  readonly body: unknown;
}

/** Time for the deadlines and delays of retries. */
interface BackendTime {
  readonly clock: Clock;
  readonly pause: typeof pause;
}

/** The text of a failure, in any of the server's forms. */
function textOf(body: unknown): string {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : body;
  const text = typeof detail === 'object' && detail !== null && 'lens_error' in detail ? detail.lens_error : detail;
  return (typeof text === 'string' ? text : JSON.stringify(text)).slice(0, 1_000);
}

function failureOf(status: number, body: unknown): DomainError {
  const message = textOf(body);
  switch (status) {
    case 401:
      return new UnknownWorker(message);
    case 402:
      return new LimitExceeded(message, 'budget');
    case 404:
      return new NotFound('lens', '', message);
    case 409:
      return new OwnershipLost(message);
    case 400:
    case 422:
      return new InvalidInput(message);
    default:
      return new Unavailable(`The server answered ${status}: ${message}`);
  }
}

/** Whether the server reports a failed model call. Other failures are of the server or of a proxy in front of it. */
const isModelFailure = (body: unknown): boolean =>
  isJsonObject(body) && isJsonObject(body['detail']) && 'lens_error' in body['detail'];

const delayOf = (retries: number, headers: Headers | null, maxMs: number): number => {
  const retryAfterMs = Number(headers?.get('retry-after') ?? Number.NaN) * 1_000;
  return Number.isFinite(retryAfterMs)
    ? Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, retryAfterMs))
    : Math.min(maxMs, FIRST_DELAY_MS * 2 ** retries);
};

/**
 * Backend for a worker whose server is on another machine, by the documented protocol. Transient failures are retried.
 * A request about a run is retried for `LEASE_MS` while the server cannot be reached; then it throws ServerUnreachable.
 */
export function httpBackend(
  url: string,
  token: Secret,
  time: BackendTime = { clock: systemClock, pause },
): LensBackend {
  const base = `${url.replace(/\/+$/, '')}/lens/worker`;

  async function sendOnce(
    { method, path, runAttempt, body, withinMs = REQUEST_MS }: BackendRequest,
    signal: AbortSignal,
  ): Promise<BackendAnswer> {
    try {
      const answer = await fetch(`${base}${path}`, {
        method,
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          'content-type': 'application/json',
          ...(runAttempt === undefined ? {} : { 'x-litellm-lens-attempt': String(runAttempt) }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(snakeCased(body)) }),
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as unknown };
    } catch (error) {
      signal.throwIfAborted();
      return { status: NO_ANSWER, headers: null, body: error instanceof Error ? error.message : String(error) };
    }
  }

  async function send(request: BackendRequest, signal: AbortSignal): Promise<BackendAnswer> {
    let untilMs: number | null = null;
    for (let retries = 0; ; retries += 1) {
      const answer = await sendOnce(request, signal);
      const { status, headers, body } = answer;
      if (status < 300) return answer;
      if (!RETRIED_STATUSES.has(status)) throw failureOf(status, body);
      const isUnreachable = request.waitsForServer === true && !isModelFailure(body);
      if (!isUnreachable && retries >= MAX_RETRIES) throw failureOf(status, body);
      const nowMs = time.clock.monotonicMs();
      untilMs ??= nowMs + LEASE_MS;
      if (isUnreachable && nowMs >= untilMs)
        throw new ServerUnreachable(`The server did not answer within ${LEASE_MS / 60_000} minutes: ${textOf(body)}`);
      const maxMs = isUnreachable ? MAX_UNREACHABLE_DELAY_MS : MAX_DELAY_MS;
      await time.pause(delayOf(retries, headers, maxMs), signal);
    }
  }

  async function sendForRun<Result>(
    { lensId, runId, attempt }: RunClaim,
    { path, ...sent }: BackendRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    const runPath = `/${encodeURIComponent(lensId)}/${encodeURIComponent(runId)}`;
    const request = { waitsForServer: true, ...sent, path: `${runPath}${path}`, runAttempt: attempt };
    const { body } = await send(request, signal);
    return camelCased(body) as Result;
  }

  return {
    async claim(signal) {
      const version = encodeURIComponent(VERSION);
      const path = `/claim?protocol_version=${WORKER_PROTOCOL}&worker_release=${version}`;
      const { body } = await send({ method: 'POST', path }, signal);
      if (body === null) return null;
      const { lensId, job, findings } = camelCased(body) as {
        readonly lensId: string;
        readonly job: ClaimedRun['run'];
        readonly findings: ClaimedRun['findings'];
      };
      return { lensId, run: job, findings };
    },
    sample: (claim, signal) => sendForRun<Sample>(claim, { method: 'GET', path: '/sample' }, signal),
    reviews: (claim, signal) => sendForRun<readonly Review[]>(claim, { method: 'GET', path: '/reviews' }, signal),
    content(claim, executionId, cursor, signal) {
      const query = new URLSearchParams({ execution_id: executionId, ...(cursor === null ? {} : { cursor }) });
      return sendForRun<ContentPage>(claim, { method: 'GET', path: `/content?${query}` }, signal);
    },
    async model({ lensId, runId, attempt }, call, signal) {
      const path = `/${encodeURIComponent(lensId)}/${encodeURIComponent(runId)}/model`;
      const { body, headers } = await send(
        { method: 'POST', path, runAttempt: attempt, body: call, withinMs: MODEL_MS, waitsForServer: true },
        signal,
      );
      const finishReason = headers?.get('x-litellm-lens-finish-reason') ?? 'stop';
      return { ...(camelCased(body) as Omit<AnalysisAnswer, 'finishReason'>), finishReason };
    },
    async progress(claim, progress, signal) {
      await sendForRun(claim, { method: 'POST', path: '/progress', body: progress }, signal);
    },
    async heartbeat(claim, signal) {
      await sendForRun(claim, { method: 'POST', path: '/heartbeat', body: {}, waitsForServer: false }, signal);
    },
    async result(claim, result, signal) {
      await sendForRun(claim, { method: 'POST', path: '/result', body: result }, signal);
    },
  };
}
