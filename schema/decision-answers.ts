import { probabilitySourceOf } from '../src/domain/decisions/calibration.ts';
import type { Answer, Box, Question } from '../src/domain/decisions/decision.ts';
import { builder } from './base/builder.ts';

export const QuestionKindType = builder.enumType('QuestionKind', {
  description: 'Kind of a question.',
  values: {
    PREDICATE: { value: 'predicate', description: 'Yes or no.' },
    CHOICE: { value: 'choice', description: 'One of several options.' },
    SCORE: { value: 'score', description: 'A position on ordered levels.' },
    BOX: { value: 'box', description: 'The position of an object in an image.' },
  } as const,
});

/** An answer with its question. */
export interface AnsweredQuestion {
  readonly question: Question;
  readonly answer: Answer;
}

/** An answer of one kind. */
type AnswerOfKind<Kind extends Answer['kind']> = AnsweredQuestion & {
  readonly answer: Extract<Answer, { kind: Kind }>;
};

export const ProbabilitySourceType = builder.enumType('ProbabilitySource', {
  description: 'Where a probability comes from.',
  values: {
    NATIVE: { value: 'native', description: 'A decision model.' },
    LOGPROBS: { value: 'logprobs', description: 'Log probabilities of one token of a chat model.' },
    VOTES: { value: 'votes', description: 'Several samples of a chat model.' },
    SELF_REPORTED: { value: 'self_reported', description: 'Weights that a chat model stated.' },
  } as const,
});

/** Instructions as a JSON value: text, JSON, or parts as they were sent. */
function instructionsOf({ instructions }: Question): unknown {
  if (instructions === null || typeof instructions === 'string') return instructions;
  return 'parts' in instructions ? instructions.parts.map(({ sent }) => sent) : instructions.json;
}

const AnsweredType = builder.interfaceRef<AnsweredQuestion>('DecisionAnswer').implement({
  description: 'The answer to one question.',
  fields: (t) => ({
    name: t.string({
      nullable: true,
      description: 'Name of the question. Null when it has none.',
      resolve: ({ question }) => question.name,
    }),
    instructions: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Text of the question, or a JSON value. Null when it has none, or where it was not stored.',
      resolve: ({ question }) => instructionsOf(question),
    }),
    source: t.field({
      type: ProbabilitySourceType,
      nullable: true,
      description: 'Where the probabilities come from. Null for a refusal.',
      resolve: ({ answer }) => probabilitySourceOf(answer),
    }),
    labelMass: t.float({
      nullable: true,
      description:
        'Sum of the probabilities of all labels (yes and no, the options or the levels) before normalisation, 0 to 1. For votes, the share that names a label. Null when unknown.',
      resolve: ({ answer }) => (answer.kind === 'refusal' ? null : (answer.evidence?.labelMass ?? null)),
    }),
    missingBound: t.float({
      nullable: true,
      description:
        'Upper bound of the probability of labels that the provider did not list. Null when none is missing.',
      resolve: ({ answer }) => (answer.kind === 'refusal' ? null : (answer.evidence?.missingBound ?? null)),
    }),
    model: t.string({
      nullable: true,
      description: 'Provider and model that answered. Null where one model answered all questions, and for a refusal.',
      resolve: ({ answer }) => (answer.kind === 'refusal' ? null : (answer.model ?? null)),
    }),
    calibrated: t.boolean({
      description: 'Whether the probabilities were changed by a temperature that is fitted to recorded outcomes.',
      resolve: ({ answer }) => answer.kind !== 'refusal' && answer.calibration !== undefined,
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

const PredicateAnswerType = builder.objectRef<AnswerOfKind<'predicate'>>('PredicateAnswer').implement({
  description: 'Answer to a question with the answer yes or no.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    probability: t.float({ description: 'Probability of yes, 0 to 1.', resolve: ({ answer }) => answer.probability }),
  }),
});

const ChoiceAnswerType = builder.objectRef<AnswerOfKind<'choice'>>('ChoiceAnswer').implement({
  description: 'Answer to a choice.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    choice: t.string({ description: 'Text of the selected option.', resolve: ({ answer }) => answer.choice }),
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

const ScoreAnswerType = builder.objectRef<AnswerOfKind<'score'>>('ScoreAnswer').implement({
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
  ({ answer }: AnswerOfKind<'box'>): number =>
    answer.box[edge];

const BoxAnswerType = builder.objectRef<AnswerOfKind<'box'>>('BoxAnswer').implement({
  description:
    'Position of an object in an image. Edges are fractions of the height and width of the image, from its top left corner.',
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

const RefusedAnswerType = builder.objectRef<AnswerOfKind<'refusal'>>('RefusedAnswer').implement({
  description: 'The model did not answer the question.',
  interfaces: [AnsweredType],
});

const TYPE_NAMES: Readonly<Record<Answer['kind'], string>> = {
  predicate: PredicateAnswerType.name,
  choice: ChoiceAnswerType.name,
  score: ScoreAnswerType.name,
  box: BoxAnswerType.name,
  refusal: RefusedAnswerType.name,
};

export const AnswerType = builder.unionType('Answer', {
  description: 'The answer to one question, by its kind.',
  types: [PredicateAnswerType, ChoiceAnswerType, ScoreAnswerType, BoxAnswerType, RefusedAnswerType],
  resolveType: ({ answer }) => TYPE_NAMES[answer.kind],
});

/** Narrows an answer to the member of the union for its kind. */
export const memberOf = (answered: AnsweredQuestion) =>
  answered as { [Kind in Answer['kind']]: AnswerOfKind<Kind> }[Answer['kind']];
