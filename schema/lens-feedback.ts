import { deleteFeedback, listFeedback, setFeedback, type TraceFeedback } from '../resolvers/lens-feedback.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type Feedback, FEEDBACK_LIMITS, summaryOfFeedback } from '../src/domain/lens/feedback.ts';
import { nullIfBlank, nullIfEmpty } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { TRACE_ID, traceAddressOf } from './base/trace-address.ts';

const FeedbackType = builder.objectRef<Feedback>('Feedback').implement({
  description: 'Score and comment of a user about a trace. An author has one feedback per trace.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'The trace.' }),
    score: t.exposeInt('score', { description: `Score, 0 to ${FEEDBACK_LIMITS.score}; the highest is the best.` }),
    comment: t.string({
      nullable: true,
      description: 'Comment. Null without one.',
      resolve: ({ comment }) => nullIfEmpty(comment),
    }),
    author: t.exposeID('author', {
      description: 'The user that wrote it. Where the key that sent it has no user, the hash of the key.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first written.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last written.' }),
  }),
});

const summaryOf = (trace: TraceFeedback) => summaryOfFeedback(trace, trace.feedback);

const TraceFeedbackType = builder.objectRef<TraceFeedback>('TraceFeedback').implement({
  description: 'The feedback about a trace.',
  fields: (t) => ({
    count: t.int({ description: 'Number of authors.', resolve: (trace) => summaryOf(trace).count }),
    averageScore: t.float({
      nullable: true,
      description: 'Mean score. Null without feedback.',
      resolve: (trace) => summaryOf(trace).average,
    }),
    lowestScore: t.int({
      nullable: true,
      description: 'Lowest score. Null without feedback.',
      resolve: (trace) => summaryOf(trace).lowest,
    }),
    items: t.field({
      type: [FeedbackType],
      complexity: { field: 1, multiplier: 10 },
      description: 'All feedback, the oldest first.',
      resolve: ({ feedback }) => [...feedback],
    }),
  }),
});

const REF = 'Ref of one trace. Required when several keys sent the trace id.';
const USER = 'Author. When absent: the user of the key, or the key when it has no user.';

builder.queryField('traceFeedback', (t) =>
  t.field({
    type: TraceFeedbackType,
    nullable: true,
    description:
      'The feedback about a trace. Fails with NOT_FOUND when the trace does not exist. For proxy administrators with full or read-only access.',
    args: {
      traceId: t.arg.id({ required: true, description: TRACE_ID }),
      traceRef: t.arg.id({ description: REF }),
    },
    resolve: (_root, { traceId, traceRef }, { scope }) => listFeedback(scope, targetOf({ traceId, traceRef })),
  }),
);

function targetOf(input: { readonly traceId: string; readonly traceRef?: string | null | undefined }) {
  const { traceId, traceRef } = traceAddressOf(input.traceId, nullIfBlank(input.traceRef));
  return { traceId, sessionId: null, traceRef: traceRef ?? '' };
}

const SetInput = builder.inputType('SetTraceFeedbackInput', {
  description: 'Feedback about a trace.',
  fields: (t) => ({
    traceId: t.id({ required: true, description: TRACE_ID }),
    traceRef: t.id({ description: REF }),
    score: t.int({ required: true, description: `0 to ${FEEDBACK_LIMITS.score}; the highest is the best.` }),
    comment: t.string({ description: `At most ${FEEDBACK_LIMITS.comment} characters; empty when absent.` }),
    user: t.id({ description: USER }),
  }),
});

const DeleteInput = builder.inputType('DeleteTraceFeedbackInput', {
  description: 'The feedback to delete.',
  fields: (t) => ({
    traceId: t.id({ required: true, description: TRACE_ID }),
    traceRef: t.id({ description: REF }),
    user: t.id({ description: USER }),
  }),
});

builder.mutationFields((t) => ({
  setTraceFeedback: t.field({
    type: FeedbackType,
    description:
      'Saves feedback about a trace. It replaces earlier feedback of the same author. For every key that is not read-only, ' +
      'on traces that it may read.',
    args: { input: t.arg({ type: SetInput, required: true, description: 'The feedback.' }) },
    errors: {
      types: [NotFound, InvalidInput, Conflict],
      union: { name: 'SetTraceFeedbackResult', description: 'The feedback, or why it was not saved.' },
    },
    resolve: (_root, { input }, { scope }) =>
      setFeedback(scope, {
        ...targetOf(input),
        score: input.score,
        comment: input.comment ?? '',
        user: localId('User', input.user ?? ''),
      }),
  }),
  deleteTraceFeedback: t.field({
    type: FeedbackType,
    description:
      'Deletes the feedback of an author about a trace. For every key that is not read-only, on traces that it may read.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The feedback.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteTraceFeedbackResult', description: 'The deleted feedback, or why none was deleted.' },
    },
    resolve: (_root, { input }, { scope }) =>
      deleteFeedback(scope, { ...targetOf(input), user: localId('User', input.user ?? '') }),
  }),
}));
