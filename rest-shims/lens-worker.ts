import { askAnalysisModel } from '../resolvers/lens-model.ts';
import {
  claimLensRun,
  completeLensRun,
  extendLensRun,
  listReusableReviews,
  chooseLensSample,
  readSampledContent,
  reportLensProgress,
} from '../resolvers/lens-work.ts';
import { findLensWorker } from '../resolvers/lens-workers.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { DomainError, InvalidInput } from '../src/domain/errors.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { type RunClaim, UnknownWorker, assertWorkerRelease } from '../src/domain/lens/worker.ts';
import { LensModelFailure } from './errors.ts';
import { readCredential } from './helpers/http/credential.ts';
import { integer, query, text } from './helpers/http/query.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { ANALYSIS_CALL, PROGRESS, RESULT, analysisCallFrom, progressFrom, resultFrom } from './helpers/fields/lens.ts';
import { renderRun, renderLensWithoutReviews } from './helpers/answers/lens.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';

const ROW = {
  method: 'POST',
  surface: 'lens',
  // Workers have their own tokens, which are not keys.
  credential: 'none',
  statuses: [200, 401, 404, 409, 422],
  headerSchema: objectSchema({ 'x-litellm-lens-attempt': { type: 'integer', minimum: 1, default: 1 } }),
  bodyLimit: 64 * 1024 * 1024,
} as const;
const READING = { ...ROW, method: 'GET', bodyLimit: 0 } as const;

const readClaim = query({
  protocol_version: integer({ min: 0, defaultValue: 1 }),
  worker_release: text,
});
const readContent = query({ execution_id: text, cursor: text, offset: integer({ min: 0, max: 1e9, defaultValue: 0 }) });

/**
 * Authenticates the worker by its token. Returns the scope with the worker as caller. Throws UnknownWorker, and
 * Unauthenticated for an `Authorization` that does not begin with the scheme Bearer or Basic.
 */
async function workerScope({ headers }: HttpRequest, scope: Scope): Promise<Scope> {
  const token = headers.authorization === undefined ? null : readCredential({ authorization: headers.authorization });
  if (token === null) throw new UnknownWorker('Not authenticated');
  const caller = await findLensWorker(scope, token);
  const { platform, client, signal, loaders } = scope;
  return { platform, client, signal, loaders, caller };
}

/**
 * The claim that a request names: the run in its path, and the attempt of the run in a header, 1 by default. Throws
 * InvalidInput.
 */
function claimIn({ params, headers }: HttpRequest): RunClaim {
  const attempt = Number(headers['x-litellm-lens-attempt'] ?? '1');
  if (!Number.isInteger(attempt) || attempt < 1)
    throw new InvalidInput('The header is not valid.', [
      {
        path: ['header', 'X-LiteLLM-Lens-Attempt'],
        rule: 'greater_than_equal',
        message: 'Input should be greater than or equal to 1',
      },
    ]);
  return { lensId: params['lens'] ?? '', runId: params['run'] ?? '', attempt };
}

/** A row for the worker that has claimed the run. */
const claimedRow = (
  facts: Pick<RouteRow, 'name' | 'paths'> & Partial<RouteRow>,
  serve: (scope: Scope, claim: RunClaim, request: HttpRequest) => Promise<HttpAnswer>,
): RouteRow => ({
  ...ROW,
  ...facts,
  handle: async (request, scope) => serve(await workerScope(request, scope), claimIn(request), request),
});

async function claimRun(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const scopeOfWorker = await workerScope(request, scope);
  const { protocol_version: protocol, worker_release: release } = readClaim(request.search);
  assertWorkerRelease(Number(protocol), release);
  const claimedRun = await claimLensRun(scopeOfWorker, undefined);
  if (claimedRun === null) return json(null);
  const { lensId, run, findings } = claimedRun;
  return json({ lens_id: lensId, job: renderRun(run), findings: snakeCased(findings), reviews: null });
}

/** Calls the model of a run. The finish reason is a header, and only for an answer that is cut off or filtered. */
async function callModel(scope: Scope, runClaim: RunClaim, { body }: HttpRequest): Promise<HttpAnswer> {
  const call = analysisCallFrom(body);
  try {
    const { finishReason, ...answer } = await askAnalysisModel(scope, { claim: runClaim, call });
    const isIncomplete = finishReason === 'length' || finishReason === 'content_filter';
    return json(snakeCased(answer), isIncomplete ? { 'x-litellm-lens-finish-reason': finishReason } : undefined);
  } catch (error) {
    throw error instanceof DomainError ? new LensModelFailure(error) : error;
  }
}

/**
 * API of lens workers. Their token is in `Authorization`, the attempt of the claimed run in `x-litellm-lens-attempt`.
 */
export const lensWorkerRoutes: readonly RouteRow[] = [
  {
    ...ROW,
    name: 'lensWorker.claim',
    querySchema: readClaim.schema,
    paths: ['/lens/worker/claim'],
    statuses: [200, 401, 409, 422],
    handle: claimRun,
  },
  claimedRow(
    { ...READING, name: 'lensWorker.sample', paths: ['/lens/worker/:lens/:run/sample'] },
    async (scope, runClaim) => json(snakeCased(await chooseLensSample(scope, runClaim))),
  ),
  claimedRow(
    { ...READING, name: 'lensWorker.reviews', paths: ['/lens/worker/:lens/:run/reviews'] },
    async (scope, runClaim) => json(snakeCased(await listReusableReviews(scope, runClaim))),
  ),
  claimedRow(
    {
      ...READING,
      name: 'lensWorker.content',
      querySchema: readContent.schema,
      paths: ['/lens/worker/:lens/:run/content'],
    },
    async (scope, runClaim, { search }) => {
      const { execution_id: executionId, cursor, offset } = readContent(search);
      const page = { executionId: executionId ?? '', cursor: nullIfEmpty(cursor), offset: Number(offset) };
      return json(snakeCased(await readSampledContent(scope, { ...runClaim, ...page })));
    },
  ),
  claimedRow(
    {
      name: 'lensWorker.model',
      bodySchema: ANALYSIS_CALL,
      paths: ['/lens/worker/:lens/:run/model'],
      statuses: [200, 401, 402, 404, 409, 422],
    },
    callModel,
  ),
  claimedRow(
    {
      name: 'lensWorker.progress',
      bodySchema: PROGRESS,
      paths: ['/lens/worker/:lens/:run/progress'],
    },
    async (scope, runClaim, { body }) => {
      await reportLensProgress(scope, { claim: runClaim, progress: progressFrom(body) });
      return json(true);
    },
  ),
  claimedRow(
    { name: 'lensWorker.heartbeat', paths: ['/lens/worker/:lens/:run/heartbeat'] },
    async (scope, runClaim) => {
      await extendLensRun(scope, runClaim);
      return json(true);
    },
  ),
  claimedRow(
    {
      name: 'lensWorker.result',
      bodySchema: RESULT,
      paths: ['/lens/worker/:lens/:run/result'],
    },
    async (scope, runClaim, { body }) =>
      json(renderLensWithoutReviews(await completeLensRun(scope, { claim: runClaim, result: resultFrom(body) }))),
  ),
];
