import type { JsonObject } from '../json-object.ts';
import type { Usage } from '../chat/usage.ts';
import type { Usd } from '../money.ts';

/** Wire format of a decision: a list of questions, or a map of questions by name. */
export type DecisionFormat = 'standard' | 'named-map';

/** Members of a JSON object. */
export type Members = JsonObject;

/** Text, or a JSON object or array in place of text. */
export type Content = string | { readonly json: unknown };

/** One part of a message. `sent` is the part in the standard format, for an upstream of that format. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly sent: Members }
  | { readonly kind: 'image'; readonly url: string; readonly sent: Members }
  | { readonly kind: 'json'; readonly data: unknown; readonly sent: Members };

/** One item of a conversation to decide about. */
export interface Item {
  /** `user`, another role, or a title of a tool item. */
  readonly role: string;
  readonly content: string | readonly Part[];
  /** Members of the item in the standard format, besides its content. */
  readonly sent: Members;
  /** Member of the standard format that holds the content. */
  readonly member: 'content' | 'output' | 'arguments' | 'input';
}

/** Input of the questions: one text or JSON value, or a conversation. */
export type DecisionInput = Content | { readonly items: readonly Item[] };

/** Instructions of a question: text, JSON, or parts of the standard format. */
export type Instructions = Content | { readonly parts: readonly Part[] };

interface QuestionBase {
  /** Null when the caller gave none. Names need not be distinct. */
  readonly name: string | null;
  readonly instructions: Instructions | null;
  /** Members that only upstreams of the named-map format understand; empty in the standard format. */
  readonly more: Members;
}

/** A question with the answer yes or no. */
export interface PredicateQuestion extends QuestionBase {
  readonly kind: 'predicate';
  /** Pairs of an answer and the case in which to give it, in the caller's order; null without rules. */
  readonly rules: readonly (readonly ['true' | 'false', Content | null])[] | null;
}

/** One option of a choice. The texts of all values are distinct. */
export interface Option {
  readonly value: string | boolean;
  readonly description: Content | null;
}

/** A question with one of several options as its answer. */
export interface ChoiceQuestion extends QuestionBase {
  readonly kind: 'choice';
  readonly options: readonly Option[];
}

/** One level of a score. */
export interface Level {
  readonly label: Content;
  readonly description: string | null;
}

/** A question with a position on ordered levels, lowest first, as its answer. */
export interface ScoreQuestion extends QuestionBase {
  readonly kind: 'score';
  readonly levels: readonly Level[];
}

/** A question whose answer is the position of an object in an image. */
export interface BoxQuestion extends QuestionBase {
  readonly kind: 'box';
}

export type Question = PredicateQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion;

/** An image or a clip: an address or a data URL, or its content. */
export type Media = string | { readonly contentType: string; readonly base64: string };

/** Parts of a decision that not every upstream accepts. */
export interface Attachments {
  /** Images besides those in the items. */
  readonly images: readonly Media[];
  /** Named files that the input refers to, as the caller sent them. */
  readonly assets: readonly (readonly [string, Members])[];
  readonly audio: readonly Media[];
  readonly videos: readonly Media[];
  /** The caller's pseudonym of its user; null where it sent none. */
  readonly safetyIdentifier: string | null;
}

/** Input and questions of a decision. */
export interface DecisionCore {
  readonly input: DecisionInput;
  /** At least one. */
  readonly questions: readonly Question[];
}

/** A decision to make, in the form that both wire formats share. */
export interface DecisionRequest extends DecisionCore, Attachments {}

/** Where a probability comes from, for a model that does not report probabilities itself. */
export interface ProbabilityEvidence {
  readonly source: 'logprobs' | 'votes' | 'self_reported';
  /** Sum of the label probabilities before normalisation, 0 to 1; null where it is unknown. */
  readonly labelMass: number | null;
  /** Upper bound of the probability of labels that the upstream did not list; null where none is missing. */
  readonly missingBound: number | null;
}

interface AnswerBase {
  /** Members of the upstream's answer beyond the format; only the named-map format shows them. */
  readonly more: Members;
  /** Absent when the upstream is a decision model and reports probabilities itself. */
  readonly evidence?: ProbabilityEvidence;
  /** Present when the probabilities were changed by a fitted temperature. */
  readonly calibration?: Calibration;
  /** Provider and model that answered; absent where one model was asked. */
  readonly model?: string;
}

/** Calibration of an answer. */
interface Calibration {
  readonly temperature: number;
  /** Probabilities before calibration, in the order of the labels. */
  readonly raw: readonly number[];
}

/** Edges of a box, as fractions of the image's height and width from its top left corner. */
export interface Box {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The answer to one question. */
export type Answer =
  | ({ readonly kind: 'predicate'; readonly probability: number } & AnswerBase)
  | ({
      readonly kind: 'choice';
      /** Text of the chosen option. */
      readonly choice: string;
      readonly confidence: number;
      /** Probabilities by the text of an option, in the upstream's order. Options may be missing. */
      readonly probabilities: ReadonlyMap<string, number>;
    } & AnswerBase)
  | ({
      readonly kind: 'score';
      /** Weighted mean of the level indices, from 0. */
      readonly score: number;
      readonly confidence: number;
      /** Probabilities by the index of a level as text. Levels may be missing. */
      readonly probabilities: ReadonlyMap<string, number>;
      /** The upstream's own text of a level, by the same index; null where the request's texts apply. */
      readonly legend: ReadonlyMap<string, unknown> | null;
    } & AnswerBase)
  | ({ readonly kind: 'box'; readonly box: Box; readonly confidence: number | null } & AnswerBase)
  | { readonly kind: 'refusal' };

/** The result of a `DecisionRequest`: answers to its questions, with usage and cost. */
export interface Decision {
  /** The upstream's name of its model; null when it sends none. */
  readonly model: string | null;
  /** One answer for each question, in the order of the questions. */
  readonly answers: readonly Answer[];
  readonly usage: Usage;
  /** Cost that the upstream reports; absent where it reports none or its report is not authoritative. */
  readonly charged?: Usd;
  /** Members of the upstream's answer and of its usage beyond the format; only the named-map format shows them. */
  readonly more: Members;
  readonly usageMore: Members;
}

/** A question of a decision with its answer. */
export interface AnsweredQuestion {
  /** Index of the question, from 0. */
  readonly position: number;
  readonly question: Question;
  readonly answer: Answer;
}

/** A decision and the questions that it answers. */
export interface MadeDecision {
  /** Provider and model that answered, e.g. `typesafe/jev-latest`. */
  readonly qualifiedModel: string;
  readonly questions: readonly Question[];
  readonly decision: Decision;
}

/** Text of an option's value; distinct within a question. */
export const optionText = ({ value }: Option): string => String(value);

/**
 * Keys of the questions in the named-map format: their names when every question has one and all are distinct, else
 * their positions.
 */
export function questionKeys(questions: readonly Question[]): readonly string[] {
  const names = questions.flatMap(({ name }) => (name === null ? [] : [name]));
  return new Set(names).size === questions.length ? names : questions.map((_question, index) => String(index));
}
