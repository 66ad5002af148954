import { getLens, getLensRun } from '../resolvers/lens.ts';
import { getSpan } from '../resolvers/traces.ts';
import { type Execution, readExecutionId } from '../src/domain/lens/execution.ts';
import type { Evidence } from '../src/domain/lens/finding.ts';
import { type Coverage, type LensRun, type LensState, traceIdOfRun } from '../src/domain/lens/lens.ts';
import type { Review } from '../src/domain/lens/review.ts';
import type { LensFinding } from '../src/domain/lens/store.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { usdText } from '../src/domain/money.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import {
  EvidenceRoleType,
  FindingKindType,
  FindingPriorityType,
  FindingStatusType,
  LensRunStatusType,
} from './base/lens-enums.ts';
import { CONTENT_COST } from './base/limits.ts';
import { nodesOf, readableOrNull } from './base/node-loading.ts';
import { SpanType } from './base/refs.ts';

// Declared apart from their fields, because they refer to each other.
export const FindingType = builder.objectRef<LensFinding>('Finding');
export const LensType = builder.objectRef<LensState>('Lens');
export const LensRunType = builder.objectRef<LensRun>('LensRun');

/** The ids in the local id of a finding or a run: that of its lens, and its own within the lens. */
function idsIn(id: string): readonly [lensId: string, ownId: string] {
  const [lensId = '', ownId = ''] = id.split('/');
  return [lensId, ownId];
}

export const EvidenceType = builder.objectRef<Evidence>('FindingEvidence').implement({
  description: 'A literal quote of one span.',
  fields: (t) => ({
    executionId: t.exposeID('executionId', { description: 'Execution of the quoted span.' }),
    traceId: t.id({
      nullable: true,
      description: 'Trace of the execution. Null when the execution id names no trace.',
      resolve: ({ executionId }) => readExecutionId(executionId)?.traceId ?? null,
    }),
    spanId: t.exposeID('spanId', { description: 'Id of the quoted span.' }),
    quote: t.exposeString('quote', { description: 'Quoted text, as stored.' }),
    role: t.expose('role', { type: EvidenceRoleType, description: 'Whether it supports the finding.' }),
    span: t.field({
      type: SpanType,
      nullable: true,
      complexity: CONTENT_COST,
      description: 'The span. Fails with NOT_FOUND when it was removed. Null when the execution id names no trace.',
      async resolve({ executionId, spanId }, _args, { scope }) {
        const address = readExecutionId(executionId);
        return address === null ? null : getSpan(scope, { ...address, spanId });
      },
    }),
  }),
});

builder.node(FindingType, {
  description: 'A recurring failure or pattern that a lens found, with evidence.',
  id: { resolve: ({ lensId, finding }) => `${lensId}/${finding.id}` },
  loadMany: nodesOf(async (id, { scope }) => {
    const [lensId, findingId] = idsIn(id);
    const state = await readableOrNull(() => getLens(scope, { id: lensId }));
    const finding = state?.findings.find(({ id: ownId }) => ownId === findingId);
    return finding === undefined ? null : { lensId, finding };
  }),
  fields: (t) => ({
    findingId: t.id({ description: 'Its id within its lens.', resolve: ({ finding }) => finding.id }),
    title: t.string({ description: 'Summary in one line.', resolve: ({ finding }) => finding.title }),
    description: t.string({ description: 'What happens.', resolve: ({ finding }) => finding.description }),
    checkId: t.string({ description: 'Check that it violates.', resolve: ({ finding }) => finding.checkId }),
    kind: t.field({ type: FindingKindType, description: 'Its kind.', resolve: ({ finding }) => finding.kind }),
    priority: t.field({
      type: FindingPriorityType,
      description: 'Its priority.',
      resolve: ({ finding }) => finding.priority,
    }),
    status: t.field({ type: FindingStatusType, description: 'Its status.', resolve: ({ finding }) => finding.status }),
    reason: t.string({
      nullable: true,
      description: 'Reason for its status. Null without one.',
      resolve: ({ finding }) => nullIfEmpty(finding.reason),
    }),
    suggestion: t.string({
      nullable: true,
      description: 'Suggested remedy. Null when unknown.',
      resolve: ({ finding }) => nullIfEmpty(finding.suggestion),
    }),
    limitation: t.string({
      nullable: true,
      description: 'Limitation of the claim. Null without one.',
      resolve: ({ finding }) => nullIfEmpty(finding.limitation),
    }),
    brief: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'How to reproduce an issue: `problem`, `user_goal`, `what_happened` and `test_cases` with `input` and `expected`. Null without one.',
      resolve: ({ finding }) => (finding.brief === null ? null : snakeCased(finding.brief)),
    }),
    revision: t.int({
      description: 'Revision of the lens settings of the last run that reported it.',
      resolve: ({ finding }) => finding.revision,
    }),
    mergedFindingIds: t.idList({
      description: 'Ids of findings that were merged into it.',
      resolve: ({ finding }) => [...finding.mergedFindingIds],
    }),
    executionIds: t.idList({
      description: 'Executions with supporting evidence, sorted.',
      resolve: ({ finding }) => [...finding.occurrences],
    }),
    occurrenceCount: t.int({
      description: 'Number of executions with supporting evidence.',
      resolve: ({ finding }) => finding.occurrences.length,
    }),
    firstSeen: t.field({
      type: 'DateTime',
      description: 'When a run first found it.',
      resolve: ({ finding }) => new Date(finding.firstSeen),
    }),
    lastSeen: t.field({
      type: 'DateTime',
      description: 'When a run last found it in new executions.',
      resolve: ({ finding }) => new Date(finding.lastSeen),
    }),
    evidence: t.field({
      type: [EvidenceType],
      complexity: { field: 1, multiplier: 10 },
      description: 'Quotes that support or limit the finding.',
      resolve: ({ finding }) => [...finding.evidence],
    }),
    lens: t.field({
      type: LensType,
      nullable: true,
      complexity: CONTENT_COST,
      description: 'The lens that found it. Null when it could not be read.',
      resolve: ({ lensId }, _args, { scope }) => getLens(scope, { id: lensId }),
    }),
  }),
});

const CoverageType = builder.objectRef<Coverage>('LensCoverage').implement({
  description: 'Counts of a run.',
  fields: (t) => ({
    groupingBatches: t.exposeInt('groupingBatches', { description: 'Number of batches of observations to group.' }),
    groupedBatches: t.exposeInt('groupedBatches', { description: 'Number of grouped batches.' }),
    reusable: t.exposeInt('reusable', { description: 'Reviews of earlier runs that could be used again.' }),
    eligible: t.exposeInt('eligible', { description: 'Executions of the window that match the settings.' }),
    selected: t.exposeInt('selected', { description: 'Number of executions of the sample.' }),
    screened: t.exposeInt('screened', { description: 'Executions that were reviewed, reused reviews included.' }),
    reused: t.exposeInt('reused', { description: 'Reviews of earlier runs that were used again.' }),
    partial: t.exposeInt('partial', { description: 'Reviews of a part of an execution.' }),
    unassessable: t.exposeInt('unassessable', {
      description: 'Executions with too little recorded data for a verdict.',
    }),
    candidates: t.exposeInt('candidates', { description: 'Groups of observations: candidates for findings.' }),
    investigated: t.exposeInt('investigated', { description: 'Groups that were examined.' }),
    inconclusive: t.exposeInt('inconclusive', { description: 'Number of examined groups without a result.' }),
    failedTasks: t.exposeInt('failedTasks', { description: 'Reviews and examinations without an answer.' }),
  }),
});

export const LensReviewType = builder.objectRef<Review>('LensReview').implement({
  description: 'The review of one execution.',
  fields: (t) => ({
    executionId: t.exposeID('executionId', { description: 'The execution.' }),
    traceId: t.exposeID('traceId', { description: 'Its trace.' }),
    agent: t.string({
      nullable: true,
      description: 'Its agent. Null when unknown.',
      resolve: ({ agent }) => nullIfEmpty(agent),
    }),
    reasoning: t.string({
      nullable: true,
      description: 'Reasoning of the reviewer. Null without one.',
      resolve: ({ reasoning }) => nullIfEmpty(reasoning),
    }),
    verdicts: t.field({
      type: 'JSON',
      description: 'Observations: objects with `check_id`, `kind` and `summary`.',
      resolve: ({ verdicts }) => snakeCased(verdicts),
    }),
    cannotAssess: t.exposeBoolean('cannotAssess', {
      description: 'Whether the recorded data is too little for a verdict.',
    }),
    reused: t.exposeBoolean('reused', { description: 'Whether an earlier run made it.' }),
  }),
});

export const ExecutionType = builder.objectRef<Execution>('LensExecution').implement({
  description: 'An execution of a sample.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    traceId: t.exposeID('traceId', { description: 'Its trace.' }),
    traceRef: t.exposeID('traceRef', { description: 'Ref of its trace.' }),
    name: t.string({
      nullable: true,
      description: 'Name of its root span. Null while it has none.',
      resolve: ({ name }) => nullIfEmpty(name),
    }),
    spanCount: t.exposeInt('spanCount', { description: 'Number of its spans.' }),
    agent: t.string({
      nullable: true,
      description: 'Its agent. Null when unknown.',
      resolve: ({ agent }) => nullIfEmpty(agent),
    }),
    service: t.string({
      nullable: true,
      description: 'Its service. Null when unknown.',
      resolve: ({ service }) => nullIfEmpty(service),
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it began.',
      resolve: ({ startTime }) => new Date(startTime),
    }),
  }),
});

builder.node(LensRunType, {
  description: 'A run of a lens.',
  id: { resolve: ({ id, lensId }) => `${lensId}/${id}` },
  loadMany: nodesOf((id, { scope }) => {
    const [lensId, runId] = idsIn(id);
    return getLensRun(scope, { id: lensId, runId });
  }),
  fields: (t) => ({
    runId: t.exposeID('id', { description: 'Its id, also the id of its job.' }),
    lensId: t.exposeID('lensId', { description: 'Its lens.' }),
    status: t.expose('status', { type: LensRunStatusType, description: 'Its status.' }),
    stage: t.exposeString('stage', { description: 'Current stage, or the result.' }),
    error: t.string({
      nullable: true,
      description: 'Why the run or a part of it failed. Null without a failure.',
      resolve: ({ error }) => nullIfEmpty(error),
    }),
    attempts: t.exposeInt('attempts', { description: 'Number of times that a worker has claimed it.' }),
    coverage: t.expose('coverage', { type: CoverageType, description: 'Progress in counts.' }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost of its settled model calls in USD.',
      resolve: ({ cost }) => usdText(cost),
    }),
    model: t.string({ description: 'Model that reviews.', resolve: ({ settings }) => settings.model }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was queued.',
      resolve: ({ createdAt }) => new Date(createdAt),
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it ended. Null before that.',
      resolve: ({ finishedAt }) => (finishedAt === null ? null : new Date(finishedAt)),
    }),
    reviewed: t.exposeInt('reviewed', { description: 'Number of its reviews.' }),
    reviews: t.field({
      type: [LensReviewType],
      complexity: { field: 1, multiplier: 10 },
      description: 'Its latest reviews; in a subscription, those since the last event.',
      resolve: ({ reviews }) => [...reviews],
    }),
    executions: t.field({
      type: [ExecutionType],
      complexity: { field: 1, multiplier: 10 },
      description: 'Its sample, in the order of selection; empty before the selection.',
      args: {
        first: t.arg.int({ description: 'Maximum number of executions; all when absent.' }),
        offset: t.arg.int({ defaultValue: 0, description: 'Number of executions to skip.' }),
      },
      resolve({ sample }, { first, offset }) {
        const executions = sample?.executions ?? [];
        const start = Math.max(0, offset ?? 0);
        const end = typeof first === 'number' ? start + Math.max(0, first) : executions.length;
        return executions.slice(start, end);
      },
    }),
    callsTraceId: t.id({
      description: 'Id of the trace of the model calls of the run.',
      resolve: ({ id }) => traceIdOfRun(id),
    }),
  }),
});

builder.node(LensType, {
  description: 'A saved investigation of traces.',
  id: { resolve: ({ lens }) => lens.id },
  loadMany: nodesOf((id, { scope }) => getLens(scope, { id })),
  fields: (t) => ({
    lensId: t.id({ description: 'Its id on the HTTP routes.', resolve: ({ lens }) => lens.id }),
    name: t.string({ description: 'Its name.', resolve: ({ lens }) => lens.settings.name }),
    model: t.string({ description: 'Model that reviews.', resolve: ({ lens }) => lens.settings.model }),
    settings: t.field({
      type: 'JSON',
      description: 'All settings, with the members of `POST /lens`.',
      resolve: ({ lens }) => snakeCased(lens.settings),
    }),
    revision: t.int({ description: 'Revision of the settings, from 1.', resolve: ({ lens }) => lens.revision }),
    spentUsd: t.field({
      type: 'Decimal',
      description: 'Cost in USD of its model calls in the current calendar month (UTC).',
      resolve: ({ lens }) => usdText(lens.spent),
    }),
    nextRunAt: t.field({
      type: 'DateTime',
      description: 'When the schedule queues the next run. Without effect while the lens is paused or a run is active.',
      resolve: ({ lens }) => new Date(lens.nextRunAt),
    }),
    latestRun: t.field({ type: LensRunType, description: 'Its latest run.', resolve: ({ run }) => run }),
    findings: t.field({
      type: [FindingType],
      complexity: { field: 1, multiplier: 10 },
      description: 'Its findings, newest first.',
      resolve: ({ lens, findings }) => findings.map((finding): LensFinding => ({ lensId: lens.id, finding })),
    }),
  }),
});
