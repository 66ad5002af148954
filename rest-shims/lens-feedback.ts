import {
  assertTarget,
  deleteFeedback,
  type FeedbackDraft,
  listFeedback,
  setFeedback,
  readFeedbackSummary,
} from '../resolvers/lens-feedback.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { type Feedback, FEEDBACK_LIMITS } from '../src/domain/lens/feedback.ts';
import { SUCCESS } from './errors.ts';
import { bodyOf, modelOf, optional, orNull, queryOf, required, textOf, wholeOf } from './http/models.ts';
import { json, route, type RouteRow } from './http/route.ts';
import { TRACES, tracesFrom } from './lens-fields.ts';

const ROW = {
  surface: 'lens',
  category: null,
  credential: 'required',
  bodyLimit: 1024 * 1024,
} as const;

const user = optional(textOf({ most: FEEDBACK_LIMITS.user }), '');
const TARGET = {
  trace_id: optional(orNull(textOf({ least: 1 })), null),
  session_id: optional(orNull(textOf({ least: 1, most: FEEDBACK_LIMITS.session })), null),
  trace_ref: optional(textOf({ most: 512 }), ''),
};

const targetIn = (sent: {
  readonly trace_id: string | null;
  readonly session_id: string | null;
  readonly trace_ref: string;
}) => ({ traceId: sent.trace_id, sessionId: sent.session_id, traceRef: sent.trace_ref });

const readTarget = queryOf(modelOf(TARGET));
const readAuthored = queryOf(modelOf({ ...TARGET, user }));
const readDraft = bodyOf(
  modelOf({
    ...TARGET,
    score: required(wholeOf({ least: 0, most: FEEDBACK_LIMITS.score })),
    comment: optional(textOf({ most: FEEDBACK_LIMITS.comment }), ''),
    user,
  }),
);

function draftFrom(body: Uint8Array): FeedbackDraft {
  const sent = readDraft(body);
  const { score, comment, user: author } = sent;
  return assertTarget({ ...targetIn(sent), score, comment, user: author }, 'body');
}

const feedbackJson = ({ createdAt, updatedAt, ...feedback }: Feedback) => ({
  ...snakeCased(feedback),
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

/** Feedback of people about traces. */
export const lensFeedbackRows: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'lens.feedback',
    query: readTarget.schema,
    method: 'GET',
    paths: ['/lens/feedback'],
    bodyLimit: 0,
    answers: [200, 401, 403, 404, 422],
    parse: ({ search }) => assertTarget(targetIn(readTarget(search)), 'query'),
    run: listFeedback,
    render: ({ traceId, traceRef, feedback }) =>
      json({ trace_id: traceId, trace_ref: traceRef, feedback: feedback.map(feedbackJson) }),
  }),
  route({
    ...ROW,
    name: 'lens.setFeedback',
    request: readDraft.schema,
    method: 'PUT',
    paths: ['/lens/feedback'],
    answers: [200, 401, 403, 404, 409, 422],
    parse: ({ body }) => draftFrom(body),
    run: setFeedback,
    render: (feedback) => json(feedbackJson(feedback)),
  }),
  route({
    ...ROW,
    name: 'lens.deleteFeedback',
    query: readAuthored.schema,
    method: 'DELETE',
    paths: ['/lens/feedback'],
    answers: [204, 401, 403, 404, 422],
    parse({ search }) {
      const sent = readAuthored(search);
      return { ...assertTarget(targetIn(sent), 'query'), user: sent.user };
    },
    run: deleteFeedback,
    render: () => ({
      status: SUCCESS.noContent,
      body: { kind: 'bytes', bytes: new Uint8Array(), contentType: 'application/json' },
    }),
  }),
  route({
    ...ROW,
    name: 'lens.feedbackSummary',
    request: TRACES,
    method: 'POST',
    paths: ['/lens/feedback/summary'],
    answers: [200, 401, 403, 422],
    parse: ({ body }) => tracesFrom(body),
    run: readFeedbackSummary,
    render: (rows) => json(snakeCased(rows)),
  }),
];
