import { decideTyped, type DecisionStep, streamDecision, type TypedDecision } from '../resolvers/decisions.ts';
import { findDecision, listDecisions } from '../resolvers/stored-decisions.ts';
import type { Usage } from '../src/domain/chat/usage.ts';
import type { DecisionDraft } from '../src/domain/decisions/decision-draft.ts';
import { type StoredDecision, answerOfStored } from '../src/domain/decisions/stored-decision.ts';
import { InvalidInput, LimitExceeded, NotFound, Rejected, Unsupported, UpstreamFailed } from '../src/domain/errors.ts';
import type { Usd } from '../src/domain/money.ts';
import { parseTraceparent } from '../src/domain/traces/trace-context.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { callerId } from '../src/domain/calls/caller-id.ts';
import { builder } from './base/builder.ts';
import { usdOrNull } from './base/decimal.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { readObject } from './base/json-inputs.ts';
import { type AnsweredQuestion, AnswerType, memberOf, QuestionKindType } from './decision-answers.ts';
import { CALL_COST } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { creationOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';
import { UsageType } from './base/refs.ts';
import { callFields } from './base/shared-fields.ts';

const TYPE = 'Decision';

const DecisionOptionInput = builder.inputType('DecisionOptionInput', {
  description: 'One option of a choice.',
  fields: (t) => ({
    value: t.field({ type: 'JSON', required: true, description: 'A text or a boolean. Distinct within a question.' }),
    description: t.string({ description: 'What the option means.' }),
  }),
});

const DecisionLevelInput = builder.inputType('DecisionLevelInput', {
  description: 'One level of a score.',
  fields: (t) => ({
    label: t.string({ required: true, description: 'Name of the level.' }),
    description: t.string({ description: 'What the level means.' }),
  }),
});

const DecisionQuestionInput = builder.inputType('DecisionQuestionInput', {
  description: 'A question about the input.',
  fields: (t) => ({
    kind: t.field({ type: QuestionKindType, required: true, description: 'Kind of the question.' }),
    name: t.string({ description: 'Name that the answer repeats.' }),
    instructions: t.string({ required: true, description: 'The question.' }),
    choices: t.field({ type: [DecisionOptionInput], description: 'Options of a choice, 2 to 255.' }),
    levels: t.field({ type: [DecisionLevelInput], description: 'Levels of a score, lowest first, 2 to 10.' }),
  }),
});

const DecideInput = builder.inputType('DecideInput', {
  description: 'A decision to make.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'Public model name.' }),
    input: t.field({
      type: 'JSON',
      required: true,
      description: 'What the questions are about: a text, or a list of messages in the standard format of decisions.',
    }),
    questions: t.field({
      type: [DecisionQuestionInput],
      required: true,
      description: 'At least one; 128 at most by default.',
    }),
    parameters: t.field({
      type: 'JSON',
      description: 'Further parameters of a decision: an object. The other fields of this input override its members.',
    }),
    ...callFields(t),
  }),
});

type DecideShape = typeof DecideInput.$inferInput;
type QuestionShape = typeof DecisionQuestionInput.$inferInput;

const readQuestion = ({ kind, name, instructions, choices, levels }: QuestionShape): Record<string, unknown> => ({
  type: kind,
  instructions,
  ...(name === null || name === undefined ? {} : { name }),
  ...(choices === null || choices === undefined ? {} : { choices }),
  ...(levels === null || levels === undefined ? {} : { levels }),
});

function readDecision(input: DecideShape): DecisionDraft {
  return {
    model: input.model,
    input: input.input,
    questions: input.questions.map(readQuestion),
    parameters: readObject(input.parameters, 'parameters'),
    // Null for an absent or invalid id. The gateway then generates the id of the call.
    callId: callerId(input.callId),
    parent: parseTraceparent(input.traceparent ?? undefined),
  };
}

/** A decision as the graph shows one: made by this request, or stored. */
interface ShownDecision {
  readonly id: string;
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Public model name. */
  readonly modelGroup: string;
  /** Model name in the answer of the provider; null when it sent none. */
  readonly model: string | null;
  readonly answers: readonly AnsweredQuestion[];
  readonly usage: Usage;
  /** Undefined for a stored decision: its spend row has the cost. */
  readonly cost?: Usd | null;
  readonly stored: StoredDecision | null;
}

/** The decision of this request as the graph shows one. A question without an answer counts as refused. */
function shownMade({ questions, decision, ...call }: TypedDecision): ShownDecision {
  const { callId, traceId, spanId, modelGroup, cost } = call;
  const answers = questions.map((question, index) => ({
    question,
    answer: decision.answers[index] ?? ({ kind: 'refusal' } as const),
  }));
  const { model, usage } = decision;
  return { id: `${traceId}${spanId}`, callId, traceId, spanId, modelGroup, model, answers, usage, cost, stored: null };
}

/** A stored decision as the graph shows one. */
export function shownStored(stored: StoredDecision): ShownDecision {
  const { traceId, spanId, answeredBy, usage, answers } = stored.content;
  return {
    id: stored.id,
    callId: stored.callId,
    traceId,
    spanId,
    modelGroup: stored.model,
    model: answeredBy,
    answers: answers.map((one) => ({ question: one.question, answer: answerOfStored(one) })),
    usage,
    stored,
  };
}

export const DecisionType = builder.objectRef<ShownDecision>(TYPE);

builder.node(DecisionType, {
  description:
    'A decision: one answer for each question. `node` finds stored decisions only. They are stored where `store_decisions` of the key or the configuration enables it.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf(async (id, { scope }) => {
    const stored = await findDecision(scope, id);
    return stored === null ? null : shownStored(stored);
  }),
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'Id of the call: `callId` of the input, or generated.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of this call. The trace is readable within seconds.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of this call.' }),
    modelGroup: t.exposeString('modelGroup', { description: 'Public name of the model that answered.' }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'Model name in the answer of the provider. Null when it sent none.',
    }),
    input: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the questions are about. Null where it was not stored, and in the result of `decide`.',
      resolve: ({ stored }) => stored?.content.input ?? null,
    }),
    answers: t.field({
      type: [AnswerType],
      description: 'Answers in the order of the questions.',
      resolve: ({ answers }) => answers.map(memberOf),
    }),
    usage: t.field({ type: UsageType, description: 'Token counts.', resolve: ({ usage }) => usage }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Cost in USD. Null when no price is known, and for a stored decision without a spend row that the caller may read.',
      async resolve({ traceId, spanId, cost }, _args, { scope }) {
        if (cost !== undefined) return usdOrNull(cost);
        const spendRow = await scope.loaders.spendRowBySpan.load(`${traceId}:${spanId}`);
        return usdOrNull(spendRow?.cost);
      },
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was stored. Null in the result of `decide`.',
      resolve: ({ stored }) => stored?.createdAt ?? null,
    }),
  }),
});

builder.mutationField('decide', (t) =>
  t.field({
    type: DecisionType,
    description: 'Answers typed questions about an input, with probabilities.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: DecideInput, required: true, description: 'The request.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported, LimitExceeded, Rejected, UpstreamFailed],
      union: { name: 'DecideResult', description: 'The decision, or why the call failed.' },
    },
    resolve: async (_root, { input }, { scope }) => shownMade(await decideTyped(scope, readDecision(input))),
  }),
);

const DecisionFilterType = builder.inputType('DecisionFilter', {
  description: 'Filter of stored decisions. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    model: t.string({ description: 'Exact public model name.' }),
    callId: t.id({ description: 'Exact `callId` of the decision.' }),
    from: t.field({ type: 'DateTime', description: 'Earliest time, inclusive.' }),
    to: t.field({ type: 'DateTime', description: 'Latest time, exclusive.' }),
  }),
});

const DecisionOrderType = creationOrder('Decision', 'stored decisions');

builder.queryField('decisions', (t) =>
  t.connection(
    {
      type: DecisionType,
      description:
        'Stored decisions, newest first by default. Administrators see all decisions. Keys of a team see the decisions of the team. Other keys see their own. Decisions are stored where `store_decisions` of the key or the configuration enables it. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: DecisionFilterType, description: 'All stored decisions when absent.' }),
        orderBy: t.arg({ type: DecisionOrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const page = readOrderedPage<'created_at'>(args, orderBy);
        const { nodes, ...counts } = await listDecisions(scope, {
          filter: {
            callId: nullIfBlank(filter?.callId),
            model: nullIfBlank(filter?.model),
            since: filter?.from ?? null,
            before: filter?.to ?? null,
          },
          page,
        });
        const { edges, ...connection } = rowConnection({ ...counts, nodes }, page, (row) => row);
        return { ...connection, edges: edges.map(({ node, cursor }) => ({ node: shownStored(node), cursor })) };
      },
    },
    { ...pageType('Decision', 'decisions'), fields: (pageFields) => totalCount(pageFields, 'decisions') },
    edgeType('Decision', 'decision'),
  ),
);

type StepOf<Kind extends DecisionStep['kind']> = Extract<DecisionStep, { kind: Kind }>;

const AnsweredStepType = builder.objectRef<StepOf<'answer'>>('DecisionAnswered').implement({
  description: 'An answer of a decision that is being made.',
  fields: (t) => ({
    index: t.exposeInt('position', { description: 'Index of the question, from 0.' }),
    answer: t.field({ type: AnswerType, description: 'The answer.', resolve: memberOf }),
  }),
});

const MadeStepType = builder.objectRef<StepOf<'decision'>>('DecisionMade').implement({
  description: 'The whole decision. The last event.',
  fields: (t) => ({
    decision: t.field({
      type: DecisionType,
      description: 'The decision.',
      resolve: ({ decision }) => shownMade(decision),
    }),
  }),
});

const StepType = builder.unionType('DecisionEvent', {
  description: 'One event of a streamed decision.',
  types: [AnsweredStepType, MadeStepType],
  resolveType: ({ kind }) => (kind === 'answer' ? AnsweredStepType.name : MadeStepType.name),
});

builder.subscriptionField('decisionStream', (t) =>
  t.field({
    type: StepType,
    description:
      'Makes a decision and sends each answer as soon as it is known, then the whole decision. A retry or a fallback sends answers again: the last answer to each question is valid. Unsubscribing cancels the call.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: DecideInput, required: true, description: 'The request.' }) },
    subscribe: (_root, { input }, { scope }) => streamDecision(scope, readDecision(input)),
    resolve: (step) => step,
  }),
);
