import {
  deleteFeedback,
  type FeedbackDraft,
  listFeedback,
  setFeedback,
  readFeedbackSummary,
} from '../resolvers/lens-feedback.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { type Feedback, FEEDBACK_LIMITS, assertFeedbackTarget } from '../src/domain/lens/feedback.ts';
import { SUCCESS } from './errors.ts';
import { bodyOf, modelOf, optional, orNull, queryOf, required, textOf, wholeOf } from './helpers/http/strict-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { TRACES, tracesFrom } from './helpers/fields/lens.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const user = optional(textOf({ max: FEEDBACK_LIMITS.user }), '');
/** The trace or session that feedback is about. */
const TARGET = {
  trace_id: optional(orNull(textOf({ min: 1 })), null),
  session_id: optional(orNull(textOf({ min: 1, max: FEEDBACK_LIMITS.session })), null),
  trace_ref: optional(textOf({ max: 512 }), ''),
};

const parseTarget = (input: {
  readonly trace_id: string | null;
  readonly session_id: string | null;
  readonly trace_ref: string;
}) => ({ traceId: input.trace_id, sessionId: input.session_id, traceRef: input.trace_ref });

const readTarget = queryOf(modelOf(TARGET));
const readDeletion = queryOf(modelOf({ ...TARGET, user }));
const readDraft = bodyOf(
  modelOf({
    ...TARGET,
    score: required(wholeOf({ min: 0, max: FEEDBACK_LIMITS.score })),
    comment: optional(textOf({ max: FEEDBACK_LIMITS.comment }), ''),
    user,
  }),
);

function draftFrom(body: Uint8Array): FeedbackDraft {
  const input = readDraft(body);
  const { score, comment, user: author } = input;
  return assertFeedbackTarget({ ...parseTarget(input), score, comment, user: author }, 'body');
}

const feedbackJson = ({ createdAt, updatedAt, ...feedback }: Feedback) => ({
  ...snakeCased(feedback),
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

/** Feedback of users about traces. */
export const lensFeedbackRoutes: readonly RouteRow[] = [
  route({
    ...LENS_READ,
    name: 'lens.feedback',
    querySchema: readTarget.schema,
    paths: ['/lens/feedback'],
    statuses: [200, 401, 403, 404, 422],
    parse: ({ search }) => assertFeedbackTarget(parseTarget(readTarget(search)), 'query'),
    run: listFeedback,
    render: ({ traceId, traceRef, feedback }) =>
      json({ trace_id: traceId, trace_ref: traceRef, feedback: feedback.map(feedbackJson) }),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.setFeedback',
    bodySchema: readDraft.schema,
    method: 'PUT',
    paths: ['/lens/feedback'],
    statuses: [200, 401, 403, 404, 409, 422],
    parse: ({ body }) => draftFrom(body),
    run: setFeedback,
    render: (feedback) => json(feedbackJson(feedback)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.deleteFeedback',
    querySchema: readDeletion.schema,
    method: 'DELETE',
    paths: ['/lens/feedback'],
    statuses: [204, 401, 403, 404, 422],
    parse({ search }) {
      const parameters = readDeletion(search);
      return { ...assertFeedbackTarget(parseTarget(parameters), 'query'), user: parameters.user };
    },
    run: deleteFeedback,
    render: () => ({
      status: SUCCESS.noContent,
      body: { kind: 'bytes', bytes: new Uint8Array(), contentType: 'application/json' },
    }),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.feedbackSummary',
    bodySchema: TRACES,
    paths: ['/lens/feedback/summary'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => tracesFrom(body),
    run: readFeedbackSummary,
    render: (rows) => json(snakeCased(rows)),
  }),
];
