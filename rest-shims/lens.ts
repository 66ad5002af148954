import {
  cancelLensRun,
  createLens,
  getLens,
  getLensRun,
  listLenses,
  listLensRuns,
  listRunReviews,
  queueLensRun,
  setFindingStatus,
  updateLens,
  resumeAllLenses,
} from '../resolvers/lens.ts';
import {
  checkLensActivity,
  countTraceFindings,
  getExecutionContent,
  listLensAgents,
  readSamplePreview,
} from '../resolvers/lens-activity.ts';
import { assignAnalysisKey, registerLensWorker, revokeLensWorker } from '../resolvers/lens-workers.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { VERSION } from '../src/domain/version.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { RUN_PAGE_SIZE } from '../src/domain/lens/lens.ts';
import { integer, query, text } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import {
  LENS_SETTINGS,
  PREVIEW,
  RUN_REQUEST,
  TRACES,
  analysisKeyFrom,
  findingStatusFrom,
  lensSettingsFrom,
  previewFrom,
  runRequestFrom,
  tracesFrom,
  workerFrom,
} from './helpers/fields/lens.ts';
import {
  renderListedRun,
  renderRun,
  renderLensWithoutReviews,
  renderChangedLens,
  renderWorker,
} from './helpers/answers/lens.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const idOf = ({ params }: HttpRequest): string => params['lens'] ?? '';
const lensInput = (request: HttpRequest) => ({ id: idOf(request) });
const runOf = (request: HttpRequest) => ({ id: idOf(request), runId: request.params['run'] ?? '' });
const noInput = (): undefined => undefined;

const readOffset = query({ offset: integer({ min: 0, defaultValue: 0 }) });
const readAfter = query({ after: integer({ min: 0, defaultValue: 0 }) });
const readContent = query({ cursor: text, offset: integer({ min: 0, max: 1e9, defaultValue: 0 }) });

/** Container image of a worker of this version. */
const WORKER_IMAGE = `lensgate:${VERSION}`;

const lensRows: readonly RouteRow[] = [
  route({
    ...LENS_READ,
    name: 'lens.list',
    paths: ['/lens'],
    statuses: [200, 401, 403],
    parse: noInput,
    run: listLenses,
    render: ({ lenses, workers }) =>
      json({ lenses: lenses.map(renderLensWithoutReviews), workers: workers.map(renderWorker), tracing_enabled: true }),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.create',
    bodySchema: LENS_SETTINGS,
    paths: ['/lens'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => lensSettingsFrom(body),
    run: createLens,
    render: (state) => json(renderChangedLens(state)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.get',
    paths: ['/lens/:lens'],
    statuses: [200, 401, 403, 404],
    parse: lensInput,
    run: getLens,
    render: (state) => json(renderLensWithoutReviews(state)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.update',
    bodySchema: LENS_SETTINGS,
    method: 'PUT',
    paths: ['/lens/:lens'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: (request) => ({ ...lensInput(request), settings: lensSettingsFrom(request.body) }),
    run: updateLens,
    render: (state) => json(renderChangedLens(state)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.watchAll',
    paths: ['/lens/watch-all'],
    statuses: [200, 401, 403],
    parse: noInput,
    run: resumeAllLenses,
    render: (watched) => json(watched),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.cancel',
    paths: ['/lens/:lens/cancel'],
    statuses: [200, 401, 403, 404],
    parse: lensInput,
    run: cancelLensRun,
    render: (state) => json(renderChangedLens(state)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.finding',
    bodySchema: findingStatusFrom.schema,
    method: 'PATCH',
    paths: ['/lens/:lens/findings/:finding'],
    statuses: [200, 401, 403, 404, 422],
    parse: (request) => ({
      ...lensInput(request),
      findingId: request.params['finding'] ?? '',
      ...findingStatusFrom(request.body),
    }),
    run: setFindingStatus,
    render: (state) => json(renderChangedLens(state)),
  }),
];

const runRows: readonly RouteRow[] = [
  route({
    ...LENS_CHANGE,
    name: 'lens.run',
    bodySchema: RUN_REQUEST,
    paths: ['/lens/:lens/runs'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: (request) => ({ ...lensInput(request), request: runRequestFrom(request.body) }),
    run: queueLensRun,
    render: (state) => json(renderChangedLens(state)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.runs',
    querySchema: readOffset.schema,
    paths: ['/lens/:lens/runs'],
    statuses: [200, 401, 403, 404, 422],
    parse: (request) => ({
      ...lensInput(request),
      // A larger offset exceeds the integers of the store.
      from: Math.min(Number(readOffset(request.search).offset), Number.MAX_SAFE_INTEGER),
      limit: RUN_PAGE_SIZE,
    }),
    run: listLensRuns,
    render: ({ items }) => json(items.map(renderListedRun)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.readRun',
    paths: ['/lens/:lens/runs/:run'],
    statuses: [200, 401, 403, 404],
    parse: runOf,
    run: getLensRun,
    render: (run) => json(renderRun(run)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.reviews',
    querySchema: readAfter.schema,
    paths: ['/lens/:lens/runs/:run/reviews'],
    statuses: [200, 401, 403, 404, 422],
    parse: (request) => ({ ...runOf(request), after: Number(readAfter(request.search).after) }),
    run: listRunReviews,
    render: (page) => json(snakeCased(page)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.execution',
    querySchema: readContent.schema,
    paths: ['/lens/:lens/executions/:execution'],
    statuses: [200, 401, 403, 404, 422],
    parse(request) {
      const { cursor, offset } = readContent(request.search);
      const executionId = request.params['execution'] ?? '';
      return { ...lensInput(request), executionId, cursor: nullIfEmpty(cursor), offset: Number(offset) };
    },
    run: getExecutionContent,
    render: ({ contentVersion: _version, ...page }) => json(snakeCased(page)),
  }),
];

const activityRows: readonly RouteRow[] = [
  route({
    ...LENS_CHANGE,
    name: 'lens.preview',
    bodySchema: PREVIEW,
    paths: ['/lens/preview/sample'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => previewFrom(body),
    run: readSamplePreview,
    render: (sample) => json(snakeCased(sample)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.agents',
    paths: ['/lens/agents'],
    statuses: [200, 401, 403],
    parse: noInput,
    run: listLensAgents,
    render: (agents) => json(agents),
  }),
  route({
    ...LENS_READ,
    name: 'lens.activity',
    paths: ['/lens/activity/available'],
    statuses: [200, 401, 403],
    parse: noInput,
    run: checkLensActivity,
    render: (available) => json(available),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.traceFindings',
    bodySchema: TRACES,
    paths: ['/lens/traces/findings'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => tracesFrom(body),
    run: countTraceFindings,
    render: (counts) => json(snakeCased(counts)),
  }),
];

const workerRows: readonly RouteRow[] = [
  route({
    ...LENS_CHANGE,
    name: 'lens.registerWorker',
    bodySchema: workerFrom.schema,
    paths: ['/lens/workers/register'],
    statuses: [200, 400, 401, 403, 422, 503],
    parse({ body }) {
      const { name, analysis_key_id: analysisKeyId, managed } = workerFrom(body);
      return { name, analysisKeyId, managed };
    },
    run: registerLensWorker,
    render: ({ worker, token }) =>
      json({ worker: renderWorker(worker), token, image: WORKER_IMAGE, managed: token === '' }),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.billingKey',
    bodySchema: analysisKeyFrom.schema,
    method: 'PUT',
    paths: ['/lens/workers/:worker/billing-key'],
    statuses: [200, 400, 401, 403, 404, 409, 422],
    parse: ({ params, body }) => ({
      id: params['worker'] ?? '',
      analysisKeyId: analysisKeyFrom(body).analysis_key_id,
    }),
    run: assignAnalysisKey,
    render: (worker) => json(renderWorker(worker)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.revokeWorker',
    method: 'DELETE',
    paths: ['/lens/workers/:worker'],
    statuses: [200, 401, 403, 404, 409],
    parse: ({ params }) => ({ id: params['worker'] ?? '' }),
    run: revokeLensWorker,
    render: () => json(true),
  }),
];

/** Lenses, their runs, findings and workers. */
export const lensRoutes: readonly RouteRow[] = [...activityRows, ...workerRows, ...lensRows, ...runRows];
