import {
  cancelLensRun,
  createLens,
  getLens,
  listLenses,
  queueLensRun,
  setFindingStatus,
  updateLens,
} from '../resolvers/lens.ts';
import {
  countFindings,
  listFindings,
  listJobs,
  watchFindings,
  watchJobs,
  watchLensRun,
} from '../resolvers/lens-feeds.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Job } from '../src/domain/jobs/job.ts';
import type { FindingFilter, LensFinding } from '../src/domain/lens/store.ts';
import { nullIfBlank, nullIfEmpty } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { described } from './base/descriptions.ts';
import { FindingKindType, FindingPriorityType, FindingStatusType } from './base/lens-enums.ts';
import { FindingType, LensRunType, LensType } from './lens-types.ts';
import { LENS_ID, RunInput, runRequestFrom, SettingsInput, settingsFrom } from './base/lens-settings.ts';
import { CONTENT_COST } from './base/limits.ts';
import { valueOrder } from './base/order.ts';
import { localId } from './base/global-id.ts';
import { type Connection, edgesOf, forwardPage, pageCost } from './base/paging.ts';

builder.queryFields((t) => ({
  lenses: t.field({
    type: [LensType],
    complexity: { field: 1, multiplier: 50 },
    description: 'All lenses, by id. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listLenses(scope, undefined)).lenses],
  }),
  lens: t.field({
    type: LensType,
    nullable: true,
    description:
      'One lens. Fails with NOT_FOUND when it does not exist. For proxy administrators with full or read-only access.',
    args: { id: t.arg.id({ required: true, description: LENS_ID }) },
    resolve: (_root, { id }, { scope }) => getLens(scope, { id: localId('Lens', id) }),
  }),
}));

const FindingFilterInput = builder.inputType('FindingFilter', {
  description: 'Filter of findings. All conditions must match.',
  fields: (t) => ({
    lensId: t.id({ description: LENS_ID }),
    status: t.field({ type: FindingStatusType, description: 'Status.' }),
    kind: t.field({ type: FindingKindType, description: 'Kind.' }),
    priority: t.field({ type: FindingPriorityType, description: 'Priority.' }),
  }),
});

interface FindingList extends Connection<LensFinding> {
  readonly filter: FindingFilter;
}

const FindingConnectionType = builder.connectionObject(
  {
    type: FindingType,
    name: 'FindingConnection',
    description: 'One page of findings.',
    fields: (t) => ({
      totalCount: t.int({
        complexity: CONTENT_COST,
        description: 'Number of findings on all pages.',
        resolve: (page, _args, { scope }) => countFindings(scope, (page as FindingList).filter),
      }),
    }),
  },
  { name: 'FindingEdge', description: 'One finding of a page.' },
);

const lensIdOrNull = (id: string | null | undefined): string | null => nullIfBlank(localId('Lens', id));

const cursorOf = ({ finding }: LensFinding): string =>
  Buffer.from(JSON.stringify([finding.lastSeen, finding.id])).toString('base64url');

/** Place of a cursor; null without a cursor, for the first page. Throws InvalidInput for a malformed cursor. */
function readCursor(cursor: string | null | undefined): { readonly lastSeen: string; readonly id: string } | null {
  if (typeof cursor !== 'string') return null;
  try {
    const [lastSeen, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as readonly unknown[];
    if (typeof lastSeen === 'string' && typeof id === 'string' && !Number.isNaN(Date.parse(lastSeen)))
      return { lastSeen, id };
  } catch (cause) {
    throw new InvalidInput('Invalid cursor.', [], { cause });
  }
  throw new InvalidInput('Invalid cursor.');
}

const FindingOrderType = valueOrder('Finding', 'findings', {
  LAST_SEEN: { value: 'lastSeen', description: 'When it was last seen.' },
});

builder.queryField('findings', (t) =>
  t.field({
    type: FindingConnectionType,
    complexity: pageCost,
    description:
      'Findings of all lenses, the last seen first by default. For proxy administrators with full or read-only access.',
    args: {
      filter: t.arg({ type: FindingFilterInput, description: 'All findings when absent.' }),
      orderBy: t.arg({ type: FindingOrderType, description: 'The last seen first when absent.' }),
      first: t.arg.int({ description: 'Page size, 1 to 200; 50 when absent.' }),
      after: t.arg.string({ description: 'Returns findings after this cursor.' }),
    },
    async resolve(_root, { filter, orderBy, first, after }, { scope }): Promise<FindingList> {
      const conditions = {
        lensId: lensIdOrNull(filter?.lensId),
        status: filter?.status ?? null,
        kind: filter?.kind ?? null,
        priority: filter?.priority ?? null,
      };
      const descending = orderBy?.direction !== 'ascending';
      const page = { filter: conditions, descending, limit: first ?? 50, after: readCursor(after) };
      const { items, hasMore } = await listFindings(scope, page);
      return { ...forwardPage(edgesOf(items, cursorOf), { hasNextPage: hasMore }), filter: conditions };
    },
  }),
);

const lensIdInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ id: t.id({ required: true, description: LENS_ID }) }),
  });
const CancelInput = lensIdInput('CancelLensRunInput', 'The lens whose active run is cancelled.');

const UpdateInput = builder.inputType('UpdateLensInput', {
  description: 'A lens and its new settings.',
  fields: (t) => ({
    id: t.id({ required: true, description: LENS_ID }),
    settings: t.field({ type: SettingsInput, required: true, description: 'All settings.' }),
  }),
});

const StatusInput = builder.inputType('SetFindingStatusInput', {
  description: 'A finding and its new status.',
  fields: (t) => ({
    lensId: t.id({ required: true, description: LENS_ID }),
    findingId: t.id({ required: true, description: '`findingId` of the finding, or of one merged into it.' }),
    status: t.field({ type: FindingStatusType, required: true, description: 'New status.' }),
    reason: t.string({ description: 'Reason for the status, which later runs read; none when absent.' }),
  }),
});

builder.mutationFields((t) => ({
  createLens: t.field({
    type: LensType,
    description: 'Creates a lens and queues its first run. For proxy administrators.',
    args: { input: t.arg({ type: SettingsInput, required: true, description: 'Its settings.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'CreateLensResult', description: 'The lens, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) => createLens(scope, settingsFrom(input)),
  }),
  updateLens: t.field({
    type: LensType,
    description:
      'Replaces the settings of a lens. An active run continues with the earlier settings. For proxy administrators.',
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The lens and all its settings.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateLensResult', description: 'The lens, or why it was not changed.' },
    },
    resolve: (_root, { input: { id, settings } }, { scope }) =>
      updateLens(scope, { id: localId('Lens', id), settings: settingsFrom(settings) }),
  }),
  runLens: t.field({
    type: LensType,
    description: 'Queues a run, unless one is active. Returns the lens with the active run. For proxy administrators.',
    args: { input: t.arg({ type: RunInput, required: true, description: 'The lens and the run.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'RunLensResult', description: 'The lens, or why no run was queued.' },
    },
    resolve: (_root, { input }, { scope }) =>
      queueLensRun(scope, { id: localId('Lens', input.id), request: runRequestFrom(input) }),
  }),
  cancelLensRun: t.field({
    type: LensType,
    description: 'Cancels the active run of a lens, if there is one. For proxy administrators.',
    args: { input: t.arg({ type: CancelInput, required: true, description: 'The lens.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'CancelLensRunResult', description: 'The lens, or why no run was cancelled.' },
    },
    resolve: (_root, { input: { id } }, { scope }) => cancelLensRun(scope, { id: localId('Lens', id) }),
  }),
  setFindingStatus: t.field({
    type: LensType,
    description: 'Sets the status of a finding; an unknown finding changes nothing. For proxy administrators.',
    args: { input: t.arg({ type: StatusInput, required: true, description: 'The finding and its status.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'SetFindingStatusResult', description: 'The lens, or why nothing was changed.' },
    },
    resolve: (_root, { input: { lensId, findingId, status, reason } }, { scope }) =>
      setFindingStatus(scope, { id: localId('Lens', lensId), findingId, status, reason: reason ?? '' }),
  }),
}));

builder.subscriptionFields((t) => ({
  lensRun: t.field({
    type: LensRunType,
    description:
      'Runs of one lens as they change: stage, coverage and reviews. For proxy administrators with full or read-only access.',
    args: { id: t.arg.id({ required: true, description: LENS_ID }) },
    subscribe: (_root, { id }, { scope }) => watchLensRun(scope, { lensId: localId('Lens', id) }),
    resolve: ({ event }) => event,
  }),
  findingChanges: t.field({
    type: FindingType,
    description: 'Findings as runs and people change them. For proxy administrators with full or read-only access.',
    args: { lensId: t.arg.id({ description: `${LENS_ID} All lenses when absent.` }) },
    subscribe: (_root, { lensId }, { scope }) => watchFindings(scope, { lensId: lensIdOrNull(lensId) }),
    resolve: ({ event }) => event,
  }),
}));

const JobStatusType = builder.enumType('JobStatus', {
  description: 'Status of a job.',
  values: described<Job['status']>({
    queued: 'Waits for a worker.',
    running: 'Claimed by a worker.',
    completed: 'Ended with a result.',
    failed: 'Ended with a failure.',
    cancelled: 'Cancelled by a person, or interrupted by the end of its process.',
    dead: 'Lost or failed too often. There is no further attempt.',
  }),
});

const JobType = builder.objectRef<Job>('Job').implement({
  description: 'Background work whose state is stored in the database.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id; for a run of a lens, the id of the run.' }),
    kind: t.exposeString('kind', {
      description: 'Its kind, e.g. `lens-run`. Periodic work has one kind for each duty, e.g. `duty:batches`.',
    }),
    subject: t.exposeID('subject', {
      description: 'Id of the object that it works on; for periodic work the start of its period.',
    }),
    status: t.expose('status', { type: JobStatusType, description: 'Its status.' }),
    workerId: t.exposeString('workerId', {
      nullable: true,
      description: 'Worker or process of the last claim. Null before the first.',
    }),
    attempts: t.exposeInt('attempts', { description: 'Number of times that a worker or process has claimed it.' }),
    error: t.string({
      nullable: true,
      description: 'Why it ended or was delayed. Null without a failure.',
      resolve: ({ error }) => nullIfEmpty(error),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      description: 'When it may be claimed; while it runs, the end of its lease.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended. Null before that.',
    }),
  }),
});

builder.queryField('jobs', (t) =>
  t.field({
    type: [JobType],
    complexity: pageCost,
    description:
      'The latest background jobs, newest first. The last 20 runs of each duty are stored. For proxy administrators with full or read-only access.',
    args: {
      kind: t.arg.string({ description: 'Only jobs of this kind.' }),
      status: t.arg({ type: JobStatusType, description: 'Only jobs of this status.' }),
      first: t.arg.int({ description: 'Number of jobs, 1 to 200; 50 when absent.' }),
    },
    resolve: async (_root, { kind, status, first }, { scope }) => [
      ...(await listJobs(scope, { kind: kind ?? null, status: status ?? null, limit: first ?? 50 })),
    ],
  }),
);

builder.subscriptionField('jobUpdates', (t) =>
  t.field({
    type: JobType,
    description:
      'Background jobs after changes of their state by any process. For proxy administrators with full or read-only access.',
    args: { kind: t.arg.string({ description: 'Only jobs of this kind.' }) },
    subscribe: (_root, { kind }, { scope }) => watchJobs(scope, { kind: kind ?? null }),
    resolve: ({ event }) => event,
  }),
);
