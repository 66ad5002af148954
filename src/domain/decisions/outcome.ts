import type { Owner } from '../caller.ts';
import { InvalidInput } from '../errors.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { CalibrationGroup, JudgedAnswer, Quality, Temperatures } from './calibration.ts';
import { type Answer, optionText, type Question } from './decision.ts';
import { type LabelledQuestion, probabilitiesOf } from './distribution.ts';

/** The right answer to a question of a stored decision, as a caller reported it. */
export interface DecisionOutcome extends Stamps, Owner, JudgedAnswer {
  /** Id of the decision, a dot, and the position of the question. */
  readonly id: string;
  readonly decisionId: string;
  /** Provider and model that answered. */
  readonly model: string;
  readonly kind: CalibrationGroup['kind'];
  readonly source: CalibrationGroup['source'];
  /** Scope of its author: see `outcomeScopeOf`. */
  readonly scope: string;
}

export interface OutcomeStore extends RowStore<DecisionOutcome, null, 'created_at' | 'updated_at'> {
  /**
   * The latest outcomes of each scope, at most `perScope` of one and `limit` in all. Scopes share the limit equally, so
   * that many outcomes of one scope do not displace those of another. Outcomes of one scope are sorted, latest first.
   */
  latest(limits: { readonly perScope: number; readonly limit: number }): Promise<readonly DecisionOutcome[]>;
}

/** Calibration of one group of answers in one scope. */
export interface CalibrationReport extends CalibrationGroup {
  readonly scope: string;
  /** Number of the outcomes that the report is about. */
  readonly outcomes: number;
  /** Null without a fit. */
  readonly temperature: number | null;
  /** Quality of the probabilities as the model gave them. */
  readonly raw: Quality;
  /** Quality at the fitted temperature; null without a fit. */
  readonly fitted: Quality | null;
}

/** Calibration temperatures that are fitted to recorded outcomes. */
export interface Calibrations extends Temperatures {
  /** Reports, sorted by scope, model, kind and source. */
  reports(): readonly CalibrationReport[];
  /** Reads new outcomes. Throws Unavailable. */
  refresh(): Promise<void>;
}

const invalidMember = (path: string, message: string): InvalidInput =>
  new InvalidInput(`\`${path}\` ${message}.`, [{ path: ['input', path], rule: 'value', message }]);

/** Labels of a question as callers name them. */
function labelsOf(question: LabelledQuestion): readonly string[] {
  switch (question.kind) {
    case 'predicate':
      return ['true', 'false'];
    case 'choice':
      return question.options.map(optionText);
    case 'score':
      return question.levels.map((_level, index) => String(index));
  }
}

/**
 * Probabilities of an answer, and the index of the right label. `outcome` is a boolean for a predicate, an option for a
 * choice, and the index of a level for a score. Throws InvalidInput for any other outcome, and for a question without
 * probabilities. Of a calibrated answer, the probabilities are those before calibration.
 */
export function judgedAnswer(question: Question, answer: Answer, outcome: unknown): JudgedAnswer {
  const probabilities = probabilitiesOf(question, answer);
  if (probabilities === null || question.kind === 'box' || answer.kind === 'refusal')
    throw invalidMember('question', 'names a question without probabilities');
  const labels = labelsOf(question);
  const isScalar = typeof outcome === 'string' || typeof outcome === 'number' || typeof outcome === 'boolean';
  const index = isScalar ? labels.indexOf(String(outcome)) : -1;
  if (index === -1) throw invalidMember('outcome', `must be one of ${labels.join(', ')}`);
  return { probabilities: answer.calibration?.raw ?? probabilities, outcome: index };
}
