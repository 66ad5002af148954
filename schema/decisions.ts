import { decideTyped, type TypedDecision } from '../resolvers/decisions.ts';
import type { Answer, Box, Question } from '../src/domain/decisions/decision.ts';
import type { DecisionDraft } from '../src/domain/decisions/decision-draft.ts';
import { InvalidInput, LimitExceeded, NotFound, Rejected, Unsupported, UpstreamFailed } from '../src/domain/errors.ts';
import { usdText } from '../src/domain/money.ts';
import { parseTraceparent } from '../src/domain/traces/trace-context.ts';
import { builder } from './builder.ts';
import { CALL_COST } from './limits.ts';
import { UsageType } from './refs.ts';

const QuestionKindType = builder.enumType('QuestionKind', {
  description: 'Kind of a question.',
  values: {
    PREDICATE: { value: 'predicate', description: 'Yes or no.' },
    CHOICE: { value: 'choice', description: 'One of several options.' },
    SCORE: { value: 'score', description: 'A position on ordered levels.' },
    BOX: { value: 'box', description: 'The place of an object in an image.' },
  } as const,
});

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
      description: 'Further parameters of a decision: an object. The other fields of this input override it.',
    }),
    callId: t.id({
      description: 'Client id of this call, at most 200 printable characters without spaces. Generated when absent.',
    }),
    traceparent: t.string({ description: 'W3C trace context of the parent span. A new trace when absent.' }),
  }),
});

type DecideShape = typeof DecideInput.$inferInput;
type QuestionShape = typeof DecisionQuestionInput.$inferInput;

/** Call ids that are stored unchanged. Others are ignored. */
const CALL_ID = /^[\x21-\x7e]{1,200}$/;

const readQuestion = ({ kind, name, instructions, choices, levels }: QuestionShape): Record<string, unknown> => ({
  type: kind,
  instructions,
  ...(name === null || name === undefined ? {} : { name }),
  ...(choices === null || choices === undefined ? {} : { choices }),
  ...(levels === null || levels === undefined ? {} : { levels }),
});

function readDecision(input: DecideShape): DecisionDraft {
  const parameters = input.parameters ?? {};
  if (typeof parameters !== 'object' || Array.isArray(parameters))
    throw new InvalidInput('`parameters` must be an object.', [
      { path: ['input', 'parameters'], rule: 'type', message: 'must be an object' },
    ]);
  return {
    model: input.model,
    input: input.input,
    questions: input.questions.map(readQuestion),
    parameters: { ...parameters },
    callId: CALL_ID.test(input.callId ?? '') ? (input.callId ?? null) : null,
    parent: parseTraceparent(input.traceparent ?? undefined),
  };
}

/** An answer with its question. */
interface AnyAnswered {
  readonly question: Question;
  readonly answer: Answer;
}

/** An answer of one kind. */
type Answered<Kind extends Answer['kind']> = AnyAnswered & { readonly answer: Extract<Answer, { kind: Kind }> };

const AnsweredType = builder.interfaceRef<AnyAnswered>('DecisionAnswer').implement({
  description: 'The answer to one question.',
  fields: (t) => ({
    name: t.string({
      nullable: true,
      description: 'Name of the question. Null when it has none.',
      resolve: ({ question }) => question.name,
    }),
  }),
});

interface Weight {
  readonly value: string;
  readonly probability: number;
}

const WeightType = builder.objectRef<Weight>('DecisionProbability').implement({
  description: 'Probability of an option or a level.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'Text of the option, or index of the level from 0.' }),
    probability: t.exposeFloat('probability', { description: 'Probability, 0 to 1.' }),
  }),
});

const PredicateAnswerType = builder.objectRef<Answered<'predicate'>>('PredicateAnswer').implement({
  description: 'Answer to a question with the answer yes or no.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    probability: t.float({ description: 'Probability of yes, 0 to 1.', resolve: ({ answer }) => answer.probability }),
  }),
});

const ChoiceAnswerType = builder.objectRef<Answered<'choice'>>('ChoiceAnswer').implement({
  description: 'Answer to a choice.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    choice: t.string({ description: 'Text of the chosen option.', resolve: ({ answer }) => answer.choice }),
    confidence: t.float({ description: 'Confidence, 0 to 1.', resolve: ({ answer }) => answer.confidence }),
    distribution: t.field({
      type: [WeightType],
      description: 'Probabilities of the options, in their order.',
      resolve: ({ question, answer }) =>
        (question.kind === 'choice' ? question.options : []).map(({ value }) => ({
          value: String(value),
          probability: answer.probabilities.get(String(value)) ?? 0,
        })),
    }),
  }),
});

const ScoreAnswerType = builder.objectRef<Answered<'score'>>('ScoreAnswer').implement({
  description: 'Answer to a score.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    score: t.float({
      description: 'Mean of the level indices, weighted by their probabilities.',
      resolve: ({ answer }) => answer.score,
    }),
    confidence: t.float({ description: 'Confidence, 0 to 1.', resolve: ({ answer }) => answer.confidence }),
    distribution: t.field({
      type: [WeightType],
      description: 'Probabilities of the levels, lowest first.',
      resolve: ({ question, answer }) =>
        (question.kind === 'score' ? question.levels : []).map((_level, index) => ({
          value: String(index),
          probability: answer.probabilities.get(String(index)) ?? 0,
        })),
    }),
  }),
});

const edgeOf =
  (edge: keyof Box) =>
  ({ answer }: Answered<'box'>): number =>
    answer.box[edge];

const BoxAnswerType = builder.objectRef<Answered<'box'>>('BoxAnswer').implement({
  description: 'Place of an object in an image. Edges are fractions of its height and width, from its top left corner.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    top: t.float({ description: 'Upper edge.', resolve: edgeOf('top') }),
    bottom: t.float({ description: 'Lower edge.', resolve: edgeOf('bottom') }),
    left: t.float({ description: 'Left edge.', resolve: edgeOf('left') }),
    right: t.float({ description: 'Right edge.', resolve: edgeOf('right') }),
    confidence: t.float({
      nullable: true,
      description: 'Confidence, 0 to 1. Null when the model gives none.',
      resolve: ({ answer }) => answer.confidence,
    }),
  }),
});

const RefusedAnswerType = builder.objectRef<Answered<'refusal'>>('RefusedAnswer').implement({
  description: 'The model did not answer the question.',
  interfaces: [AnsweredType],
});

const NAMES: Readonly<Record<Answer['kind'], string>> = {
  predicate: PredicateAnswerType.name,
  choice: ChoiceAnswerType.name,
  score: ScoreAnswerType.name,
  box: BoxAnswerType.name,
  refusal: RefusedAnswerType.name,
};

const AnswerType = builder.unionType('Answer', {
  description: 'The answer to one question, by its kind.',
  types: [PredicateAnswerType, ChoiceAnswerType, ScoreAnswerType, BoxAnswerType, RefusedAnswerType],
  resolveType: ({ answer }) => NAMES[answer.kind],
});

/** Narrows an answer to the member of the union for its kind. */
const memberOf = (answered: AnyAnswered) => answered as { [Kind in Answer['kind']]: Answered<Kind> }[Answer['kind']];

const DecisionType = builder.objectRef<TypedDecision>('Decision').implement({
  description: 'A decision: one answer for each question.',
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'Id of the call: `callId` of the input, or generated.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of this call. The trace is readable within seconds.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of this call.' }),
    model: t.string({
      nullable: true,
      description: 'Model name in the answer of the provider. Null when it sent none.',
      resolve: ({ decision }) => decision.model,
    }),
    answers: t.field({
      type: [AnswerType],
      description: 'Answers in the order of the questions.',
      resolve: ({ questions, decision }) =>
        questions.map((question, index) =>
          memberOf({ question, answer: decision.answers[index] ?? { kind: 'refusal' } }),
        ),
    }),
    usage: t.field({ type: UsageType, description: 'Token counts.', resolve: ({ decision }) => decision.usage }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost in USD. Null when no price is known.',
      resolve: ({ cost }) => (cost === null ? null : usdText(cost)),
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
    resolve: (_root, { input }, { scope }) => decideTyped(scope, readDecision(input)),
  }),
);
