import { listCalibrations, recordDecisionOutcome, type RecordedOutcome } from '../resolvers/stored-decisions.ts';
import type { Quality, ReliabilityBin } from '../src/domain/decisions/calibration.ts';
import type { CalibrationReport } from '../src/domain/decisions/outcome.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { AnswerType, memberOf, ProbabilitySourceType, QuestionKindType } from './decision-answers.ts';
import { DecisionType, shownStored } from './decisions.ts';

const OutcomeInput = builder.inputType('RecordDecisionOutcomeInput', {
  description: 'The right answer to a question of a stored decision. Either `question` or `index` names the question.',
  fields: (t) => ({
    callId: t.id({
      required: true,
      description:
        '`callId` of the decision, or the response header `x-litellm-call-id`. The latest decision with this id is selected.',
    }),
    question: t.string({ description: 'Name of the question.' }),
    index: t.int({ description: 'Index of the question, from 0.' }),
    outcome: t.field({
      type: 'JSON',
      required: true,
      description:
        'The right answer: a boolean for a predicate, an option for a choice, the index of a level from 0 for a score.',
    }),
  }),
});

const OutcomeType = builder.objectRef<RecordedOutcome>('DecisionOutcome').implement({
  description: 'The right answer to a question of a decision.',
  fields: (t) => ({
    decision: t.field({
      type: DecisionType,
      description: 'The decision.',
      resolve: ({ decision }) => shownStored(decision),
    }),
    index: t.exposeInt('position', { description: 'Index of the question, from 0.' }),
    answer: t.field({ type: AnswerType, description: 'The answer that the model gave.', resolve: memberOf }),
    probability: t.float({
      description: 'Probability that the model gave to the right answer, before calibration, 0 to 1.',
      resolve: ({ outcome: { probabilities, outcome: rightLabelIndex } }) => probabilities[rightLabelIndex] ?? 0,
    }),
  }),
});

builder.mutationField('recordDecisionOutcome', (t) =>
  t.field({
    type: OutcomeType,
    description:
      'Records the right answer to a question of a stored decision. A later outcome replaces the earlier one of the same scope: a team, a key without a team, or all administrators. Outcomes of a team, or of a key without a team, calibrate its own calls. Outcomes of administrators calibrate the calls of callers whose own outcomes are too few. For every key that is not read-only, on decisions that it may read.',
    args: { input: t.arg({ type: OutcomeInput, required: true, description: 'The question and its right answer.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'RecordDecisionOutcomeResult', description: 'The outcome, or why it was not recorded.' },
    },
    resolve: (_root, { input: { callId, question, index, outcome } }, { scope }) =>
      recordDecisionOutcome(scope, { callId, question: question ?? null, index: index ?? null, outcome }),
  }),
);

const BinType = builder.objectRef<ReliabilityBin>('ReliabilityBin').implement({
  description: 'Answers with a similar probability.',
  fields: (t) => ({
    from: t.exposeFloat('from', { description: 'Lower end of the probabilities.' }),
    to: t.exposeFloat('to', { description: 'Upper end of the probabilities.' }),
    count: t.exposeInt('count', { description: 'Number of answers.' }),
    reported: t.exposeFloat('reported', {
      nullable: true,
      description: 'Mean probability of the answers. Null without answers.',
    }),
    observed: t.exposeFloat('observed', {
      nullable: true,
      description:
        'For predicates, the share of answers whose outcome is yes. For other kinds, the share whose likeliest label is right. Null without answers.',
    }),
  }),
});

const QualityType = builder.objectRef<Quality>('CalibrationQuality').implement({
  description: 'How well probabilities match the outcomes.',
  fields: (t) => ({
    logLoss: t.exposeFloat('logLoss', {
      description: 'Mean negative natural logarithm of the probability of the right answer.',
    }),
    brier: t.exposeFloat('brier', {
      description:
        'Brier score: mean squared difference between probability and outcome. For predicates: of P(yes). For other kinds: the sum over the labels.',
    }),
    expectedCalibrationError: t.exposeFloat('calibrationError', {
      description:
        'Mean distance between reported probability and observed share, weighted by the answers of each bin.',
    }),
    reliability: t.expose('reliability', {
      type: [BinType],
      description:
        'Reliability curve in ten bins of equal width: by P(yes) for predicates, by the probability of the likeliest label for other kinds.',
    }),
  }),
});

const CalibrationType = builder.objectRef<CalibrationReport>('DecisionCalibration').implement({
  description:
    'Calibration of the answers of one model, of one kind of question and one source of probabilities, in one scope.',
  fields: (t) => ({
    scope: t.exposeString('scope', {
      description:
        'Owner of the outcomes: `team:` and an id, `key:` and a hash, or `platform` for those of administrators. The calibration of `platform` applies to callers without a fitted temperature of their own.',
    }),
    model: t.exposeString('model', { description: 'Provider and model, e.g. `typesafe/jev-latest`.' }),
    kind: t.expose('kind', { type: QuestionKindType, description: 'Kind of the questions.' }),
    source: t.expose('source', { type: ProbabilitySourceType, description: 'Where the probabilities come from.' }),
    outcomes: t.exposeInt('outcomes', {
      description:
        'Number of outcomes that are counted. Only the latest 5,000 of a scope are read, and at most 20,000 of all scopes.',
    }),
    temperature: t.exposeFloat('temperature', {
      nullable: true,
      description:
        'Fitted temperature, 0.05 to 20: above 1 the model is overconfident. Null with fewer than 30 outcomes: there is no fit.',
    }),
    raw: t.expose('raw', { type: QualityType, description: 'Quality of the probabilities as the model gave them.' }),
    fitted: t.expose('fitted', {
      type: QualityType,
      nullable: true,
      description: 'Quality of the probabilities at the fitted temperature. Null without a fit.',
    }),
  }),
});

builder.queryField('decisionCalibrations', (t) =>
  t.field({
    type: [CalibrationType],
    nullable: true,
    description:
      'How well probabilities of decisions match recorded outcomes, by scope, model, kind and source. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listCalibrations(scope, undefined))],
  }),
);
