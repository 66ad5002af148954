import { ALL_ANNOTATIONS } from '../src/domain/annotations/annotation.ts';
import { visibilityOf } from '../src/domain/caller.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import {
  type Feedback,
  FEEDBACK_FILTER,
  FEEDBACK_LIMITS,
  feedbackOfAnnotation,
  type FeedbackSummary,
  judgementOf,
  sessionSeed,
  summaryOfFeedback,
  type FeedbackTarget,
} from '../src/domain/lens/feedback.ts';
import { storable } from '../src/domain/storable.ts';
import type { TraceKey } from '../src/domain/traces/store.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { authored } from './operation/authored.ts';
import { feedbackWriter, lensReader } from './operation/lens-access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { saveAnnotation } from './operation/save-annotation.ts';
import { feedbackAbout } from './operation/lens-feedback.ts';

const TRACE_ID = /^[0-9a-f]{32}$/;

/** The trace id of a target. The trace of a session has an id that is a hash of the session id. */
function traceIdOf({ platform }: Scope<LensPlatform>, { traceId, sessionId }: FeedbackTarget): string {
  return sessionId === null
    ? (traceId ?? '').toLowerCase()
    : platform.keyGenerator.hash(sessionSeed(sessionId)).slice(0, 32);
}

/** The traces with this id that the caller may see. Only the trace with the given ref, unless the ref is empty. */
async function tracesOf(
  scope: Scope<LensPlatform>,
  traceId: string,
  traceRef: string,
): Promise<readonly TraceSummary[]> {
  if (!TRACE_ID.test(traceId)) return [];
  const { stores, records } = scope.platform;
  await records.readable();
  return stores.traces.findSummaries(visibilityOf(callerOf(scope)), traceId, nullIfEmpty(traceRef));
}

/** The trace of a target. Throws NotFound, also when several owners sent the id. */
async function traceOf(scope: Scope<LensPlatform>, target: FeedbackTarget): Promise<TraceSummary> {
  const traceId = traceIdOf(scope, target);
  const [trace, ...others] = await tracesOf(scope, traceId, target.traceRef);
  if (trace === undefined || others.length > 0) throw new NotFound('trace', traceId, 'Trace not found');
  return trace;
}

/** A trace and the feedback about it. */
export interface TraceFeedback {
  readonly traceId: string;
  readonly traceRef: string;
  readonly feedback: readonly Feedback[];
}

/** Lists the feedback about a trace, the oldest first. Throws NotFound. */
export const listFeedback = operation({
  name: 'listFeedback',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, target: FeedbackTarget): Promise<TraceFeedback> {
    const trace = await traceOf(scope, target);
    const { traceId, traceRef } = trace;
    return { traceId, traceRef, feedback: await feedbackAbout(scope, [trace]) };
  },
});

/** Feedback as its author sends it. */
export interface FeedbackDraft extends FeedbackTarget {
  readonly score: number;
  readonly comment: string;
  /** User that gives the feedback; empty for the caller. */
  readonly user: string;
}

/** The author that feedback names, and the user or key that sends it. */
const authorsOf = (scope: Scope<LensPlatform>, user: string) => {
  const { now, by: sender } = authored(scope);
  return { now, sender, by: user === '' ? sender : storable(user) };
};

/**
 * Throws Forbidden when the author sent the stored feedback with the author's own credential, and the caller uses
 * another one. Proxy administrators may change all feedback.
 */
async function assertNotOfAnother(
  scope: Scope<LensPlatform>,
  trace: TraceKey,
  { by, sender }: { readonly by: string; readonly sender: string },
): Promise<void> {
  if (by === sender || callerOf(scope).role === 'proxy_admin') return;
  const { annotations } = scope.platform.stores;
  const found = await annotations.all({ ...ALL_ANNOTATIONS, ...FEEDBACK_FILTER, traces: [trace], author: by });
  if (found.some(({ updatedBy }) => updatedBy === by))
    throw new Forbidden('The author of this feedback sent it with another key.');
}

/** Throws InvalidInput for texts and scores beyond their limits. */
function assertDraft({ score, comment, user }: FeedbackDraft): void {
  const rules: readonly (readonly [name: string, holds: boolean, limit: string])[] = [
    ['score', Number.isInteger(score) && score >= 0 && score <= FEEDBACK_LIMITS.score, `0 to ${FEEDBACK_LIMITS.score}`],
    ['comment', comment.length <= FEEDBACK_LIMITS.comment, `at most ${FEEDBACK_LIMITS.comment} characters`],
    ['user', user.length <= FEEDBACK_LIMITS.user, `at most ${FEEDBACK_LIMITS.user} characters`],
  ];
  const issues = rules.flatMap(([name, holds, limit]) =>
    holds ? [] : [{ path: ['body', name], rule: 'range', message: `Input should have ${limit}` }],
  );
  if (issues.length > 0) throw new InvalidInput('The feedback is not valid.', issues);
}

/**
 * Saves feedback about a trace; replaces earlier feedback of the author. Throws NotFound, Forbidden, InvalidInput,
 * Conflict and Unavailable.
 */
export const setFeedback = operation({
  name: 'setFeedback',
  access: feedbackWriter,
  async run(scope: Scope<LensPlatform>, draft: FeedbackDraft): Promise<Feedback> {
    assertDraft(draft);
    const trace = await traceOf(scope, draft);
    const authorship = authorsOf(scope, draft.user);
    await assertNotOfAnother(scope, trace, authorship);
    return feedbackOfAnnotation(
      await saveAnnotation(scope, { trace, spanId: '', judgement: judgementOf(draft), authorship }),
    );
  },
});

/** Deletes the feedback of an author about a trace. Throws NotFound and Forbidden. */
export const deleteFeedback = operation({
  name: 'deleteFeedback',
  access: feedbackWriter,
  async run(
    scope: Scope<LensPlatform>,
    { user, ...target }: FeedbackTarget & { readonly user: string },
  ): Promise<Feedback> {
    const trace = await traceOf(scope, target);
    const { annotations } = scope.platform.stores;
    const authorship = authorsOf(scope, user);
    await assertNotOfAnother(scope, trace, authorship);
    const { by: author } = authorship;
    const found = await annotations.all({ ...ALL_ANNOTATIONS, ...FEEDBACK_FILTER, traces: [trace], author });
    const [removed] = await annotations.remove(found.map(({ id }) => id));
    if (removed === undefined) throw new NotFound('feedback', author, 'No feedback from this user on this trace');
    return feedbackOfAnnotation(removed);
  },
});

/** Counts the feedback about traces. A trace id without a ref gives one row per owner. */
export const readFeedbackSummary = operation({
  name: 'readFeedbackSummary',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    traces: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<readonly FeedbackSummary[]> {
    const rows: TraceKey[] = [];
    for (const { traceId, traceRef } of traces) {
      const wanted = { traceId: storable(traceId.toLowerCase()), traceRef: storable(traceRef) };
      const found = await tracesOf(scope, wanted.traceId, traceRef);
      rows.push(...(found.length === 0 ? [wanted] : found));
    }
    const unique = [...new Map(rows.map((row) => [`${row.traceId}:${row.traceRef}`, row])).values()];
    const byTrace = Map.groupBy(await feedbackAbout(scope, unique), (one) => `${one.traceId}:${one.traceRef}`);
    return unique.map((row) => summaryOfFeedback(row, byTrace.get(`${row.traceId}:${row.traceRef}`) ?? []));
  },
});
