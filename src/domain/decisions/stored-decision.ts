import type { JsonObject } from '../json-object.ts';
import type { Owner, Visibility } from '../caller.ts';
import type { Usage } from '../chat/usage.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { Answer, MadeDecision, Question } from './decision.ts';

/**
 * Storage level of a decision. `none`: nothing. `redacted`: questions and answers, without input, instructions, rules
 * and descriptions. `full`: everything.
 */
export const STORAGE_LEVELS = ['none', 'redacted', 'full'] as const;
export type StorageLevel = (typeof STORAGE_LEVELS)[number];

/** Maximum length of a stored input as JSON, in characters; a longer one is not stored. */
const INPUT_LIMIT = 1024 * 1024;

/** A question and its answer, as plain JSON. */
export interface StoredAnswer {
  readonly question: Question;
  /** The answer, with maps as lists of entries. */
  readonly answer: JsonObject;
}

/** Content of a stored decision. It is stored as JSON with these member names. */
export interface DecisionContent {
  readonly traceId: string;
  readonly spanId: string;
  /** `MadeDecision.qualifiedModel`. */
  readonly upstream: string;
  /** The upstream's name of its model; null when it sent none. */
  readonly answeredBy: string | null;
  readonly level: Exclude<StorageLevel, 'none'>;
  /** `input` or `state` of the request; null where it is redacted or too long. */
  readonly input: unknown;
  readonly answers: readonly StoredAnswer[];
  readonly usage: Usage;
}

/** A decision that was stored because a setting, or the key of its call, asks for it. */
export interface StoredDecision extends Stamps, Owner {
  /** Trace id and span id of its call. */
  readonly id: string;
  readonly callId: string;
  /** Public model name. */
  readonly model: string;
  readonly content: DecisionContent;
}

export interface DecisionFilter {
  readonly visible: Visibility;
  readonly callId: string | null;
  /** Only decisions created before this time; null for all. */
  readonly before: Date | null;
  /** Only decisions created at or after this time; null for all. */
  readonly since?: Date | null;
  /** Exact public model name; null for all. */
  readonly model?: string | null;
}

export type DecisionStore = RowStore<StoredDecision, DecisionFilter>;

const isLevel = (value: unknown): value is StorageLevel => STORAGE_LEVELS.some((level) => level === value);

/** Storage level of the decisions of a key: `store_decisions` of its metadata, else the setting. */
export function storageLevelOf(setting: StorageLevel, key: { readonly metadata: JsonObject } | null): StorageLevel {
  const levelOfKey = key?.metadata['store_decisions'];
  return isLevel(levelOfKey) ? levelOfKey : setting;
}

/**
 * The question without instructions, rules and descriptions. It keeps the name, the options and the labels of levels,
 * because the answer refers to them.
 */
function redacted(question: Question): Question {
  const shared = { name: question.name, instructions: null, more: {} };
  switch (question.kind) {
    case 'predicate':
      return { kind: 'predicate', ...shared, rules: null };
    case 'choice': {
      const options = question.options.map(({ value }) => ({ value, description: null }));
      return { kind: 'choice', ...shared, options };
    }
    case 'score': {
      const levels = question.levels.map(({ label }) => ({ label, description: null }));
      return { kind: 'score', ...shared, levels };
    }
    case 'box':
      return { kind: 'box', ...shared };
  }
}

/** The answer as plain JSON. `more` and `legend` are stored at the level `full` only. */
function storedFormOf(answer: Answer, level: DecisionContent['level']): StoredAnswer['answer'] {
  if (answer.kind === 'refusal') return { kind: 'refusal' };
  const shared = level === 'full' ? answer : { ...answer, more: {} };
  if (shared.kind === 'choice') return { ...shared, probabilities: [...shared.probabilities] };
  if (shared.kind !== 'score') return { ...shared };
  const legend = level === 'full' && shared.legend !== null ? [...shared.legend] : null;
  return { ...shared, probabilities: [...shared.probabilities], legend };
}

/** Reads an answer from its stored form. */
export function answerOfStored({ answer }: StoredAnswer): Answer {
  const { probabilities, legend } = answer;
  return {
    ...answer,
    ...(Array.isArray(probabilities) ? { probabilities: new Map(probabilities as [string, number][]) } : {}),
    ...(Array.isArray(legend) ? { legend: new Map(legend as [string, unknown][]) } : {}),
  } as Answer;
}

/** The content to store for a decision. */
export function decisionContentOf(
  { questions, decision, qualifiedModel }: MadeDecision,
  input: unknown,
  { level, ...call }: Pick<DecisionContent, 'traceId' | 'spanId' | 'level'>,
): DecisionContent {
  const isStorable = level === 'full' && (JSON.stringify(input) ?? '').length <= INPUT_LIMIT;
  return {
    ...call,
    level,
    upstream: qualifiedModel,
    answeredBy: decision.model,
    input: isStorable ? (input ?? null) : null,
    answers: questions.map((question, index) => ({
      question: level === 'full' ? question : redacted(question),
      answer: storedFormOf(decision.answers[index] ?? { kind: 'refusal' }, level),
    })),
    usage: decision.usage,
  };
}
