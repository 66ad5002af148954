import { type DomainError, InvalidInput, LimitExceeded, NotFound, Unavailable } from '../../domain/errors.ts';
import { camelCased, snakeCased } from '../../domain/key-case.ts';
import type { ContentPage } from '../../domain/lens/content.ts';
import type { Sample } from '../../domain/lens/execution.ts';
import type { Review } from '../../domain/lens/review.ts';
import {
  type AnalysisAnswer,
  type ClaimedRun,
  type LensBackend,
  OwnershipLost,
  type RunClaim,
  UnknownWorker,
  WORKER_PROTOCOL,
} from '../../domain/lens/worker.ts';
import type { Secret } from '../../domain/secret.ts';
import { VERSION } from '../../domain/version.ts';
import { pause } from '../clock.ts';

/** Deadline of one request, in ms. */
const REQUEST_MS = 60_000;
/** Deadline of a request for a model call, in ms: the call may wait for its budget and for its answer. */
const MODEL_MS = 330_000;
/** Maximum retries of one request. */
const MAX_RETRIES = 4;
/** Delay before the first retry, in ms. It doubles with each further retry. */
const FIRST_DELAY_MS = 500;
/** Maximum delay before a retry, in ms. */
const MAX_DELAY_MS = 60_000;
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

const delayOf = (retries: number, headers: Headers | null): number => {
  const retryAfterMs = Number(headers?.get('retry-after') ?? Number.NaN) * 1_000;
  return Math.min(MAX_DELAY_MS, Number.isFinite(retryAfterMs) ? retryAfterMs : FIRST_DELAY_MS * 2 ** retries);
};

/**
 * Backend for a worker whose server is on another machine, by the documented protocol. Transient failures are retried.
 */
export function httpBackend(url: string, token: Secret): LensBackend {
  const base = `${url.replace(/\/+$/, '')}/lens/worker`;

  async function sendOnce(
    { method, path, runAttempt, body, withinMs = REQUEST_MS }: BackendRequest,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly headers: Headers | null; readonly body: unknown }> {
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

  async function send(request: BackendRequest, signal: AbortSignal) {
    for (let retries = 0; ; retries += 1) {
      const answer = await sendOnce(request, signal);
      if (answer.status < 300) return answer;
      if (!RETRIED_STATUSES.has(answer.status) || retries >= MAX_RETRIES) throw failureOf(answer.status, answer.body);
      await pause(delayOf(retries, answer.headers), signal);
    }
  }

  async function sendForRun<Result>(
    { lensId, runId, attempt }: RunClaim,
    { path, ...sent }: BackendRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    const runPath = `/${encodeURIComponent(lensId)}/${encodeURIComponent(runId)}`;
    const { body } = await send({ ...sent, path: `${runPath}${path}`, runAttempt: attempt }, signal);
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
        { method: 'POST', path, runAttempt: attempt, body: call, withinMs: MODEL_MS },
        signal,
      );
      const finishReason = headers?.get('x-litellm-lens-finish-reason') ?? 'stop';
      return { ...(camelCased(body) as Omit<AnalysisAnswer, 'finishReason'>), finishReason };
    },
    async progress(claim, progress, signal) {
      await sendForRun(claim, { method: 'POST', path: '/progress', body: progress }, signal);
    },
    async heartbeat(claim, signal) {
      await sendForRun(claim, { method: 'POST', path: '/heartbeat', body: {} }, signal);
    },
    async result(claim, result, signal) {
      await sendForRun(claim, { method: 'POST', path: '/result', body: result }, signal);
    },
  };
}
