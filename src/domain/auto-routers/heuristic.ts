import type { Tier } from './tiers.ts';
import { CODE_WORDS, REASONING_WORDS, SIMPLE_WORDS, STEP_PATTERNS, TECHNICAL_WORDS } from './heuristic-words.ts';
import { type KeywordFinder, keywordFinder } from './keywords.ts';

export const DIMENSIONS = [
  'tokenCount',
  'codePresence',
  'reasoningMarkers',
  'technicalTerms',
  'simpleIndicators',
  'multiStepPatterns',
  'questionComplexity',
] as const;

export type Dimension = (typeof DIMENSIONS)[number];

export const DEFAULT_WEIGHTS: Readonly<Record<Dimension, number>> = {
  tokenCount: 0.1,
  codePresence: 0.3,
  reasoningMarkers: 0.25,
  technicalTerms: 0.25,
  simpleIndicators: 0.05,
  multiStepPatterns: 0.03,
  questionComplexity: 0.02,
};

/** Scores from which the higher tier applies. */
export interface TierBorders {
  readonly simple_medium: number;
  readonly medium_complex: number;
  readonly complex_reasoning: number;
}

export const DEFAULT_BORDERS: TierBorders = { simple_medium: 0.15, medium_complex: 0.35, complex_reasoning: 0.6 };

/** Token counts below `simple` lower the score; counts above `complex` raise it. */
export const DEFAULT_TOKENS = { simple: 15, complex: 400 } as const;

/** Settings of the heuristic. */
export interface HeuristicScoring {
  readonly weights: Readonly<Record<Dimension, number>>;
  readonly borders: TierBorders;
  readonly tokens: { readonly simple: number; readonly complex: number };
  readonly words: {
    readonly code: KeywordFinder;
    readonly reasoning: KeywordFinder;
    readonly technical: KeywordFinder;
    readonly simple: KeywordFinder;
  };
  /** Score from which two reasoning markers select REASONING. */
  readonly overrideMinimum: number;
}

let compiledWords: HeuristicScoring['words'] | null = null;

/** The word lists of this gateway, compiled when they are first used. */
export function defaultWords(): HeuristicScoring['words'] {
  compiledWords ??= {
    code: keywordFinder(CODE_WORDS),
    reasoning: keywordFinder(REASONING_WORDS),
    technical: keywordFinder(TECHNICAL_WORDS),
    simple: keywordFinder(SIMPLE_WORDS),
  };
  return compiledWords;
}

/** Result of the heuristic. */
export interface HeuristicResult {
  readonly tier: Tier;
  readonly score: number;
  /** Dimensions that moved the score. Empty: the text gave no evidence. */
  readonly signals: readonly string[];
  /** Whether two reasoning markers selected the tier. */
  readonly isForced: boolean;
}

/** Maximum length of a scored text, in characters. The rest only counts as tokens. */
const SCORED_CHARACTERS = 65_536;
/** Reasoning markers that select REASONING. */
const FORCING_MARKERS = 2;
const CHARACTERS_PER_TOKEN = 4;

/** Value of a dimension by the number of distinct words: one counts half, two or more count fully. */
const graded = (count: number): number => Math.min(count, 2) / 2;

function questionValue(text: string): number {
  const questions = text.split('?').length - 1;
  if (questions >= 4) return 1;
  return questions >= 2 ? 0.5 : 0;
}

/** Scores the text of the current turn by seven weighted dimensions. */
export function scoreByHeuristic(whole: string, scoring: HeuristicScoring): HeuristicResult {
  const { weights, tokens, words, borders, overrideMinimum } = scoring;
  const text = whole.slice(0, SCORED_CHARACTERS);
  const tokenCount = Math.ceil(whole.length / CHARACTERS_PER_TOKEN);
  const markers = words.reasoning.in(text).size;
  const lengthValue = tokenCount > tokens.complex ? 1 : 0;
  const values: Readonly<Record<Dimension, number>> = {
    tokenCount: tokenCount < tokens.simple ? -1 : lengthValue,
    codePresence: graded(words.code.in(text).size + (text.includes('```') ? 1 : 0)),
    reasoningMarkers: graded(markers),
    technicalTerms: graded(words.technical.in(text).size),
    simpleIndicators: words.simple.in(text).size > 0 ? -1 : 0,
    multiStepPatterns: STEP_PATTERNS.some((pattern) => pattern.test(text)) ? 1 : 0,
    questionComplexity: questionValue(text),
  };
  const sum = DIMENSIONS.reduce((total, name) => total + values[name] * weights[name], 0);
  // Rounded, so that a sum such as 0.1 + 0.05 equals the border 0.15.
  const score = Math.round(sum * 1e6) / 1e6;
  const signals = DIMENSIONS.filter((name) => values[name] !== 0);
  const isForced = markers >= FORCING_MARKERS && score >= overrideMinimum;
  return { tier: isForced ? 'REASONING' : tierOfScore(score, borders), score, signals, isForced };
}

export function tierOfScore(score: number, borders: TierBorders): Tier {
  if (score < borders.simple_medium) return 'SIMPLE';
  if (score < borders.medium_complex) return 'MEDIUM';
  return score < borders.complex_reasoning ? 'COMPLEX' : 'REASONING';
}

/** Whether a score is within `margin` of a border, so that a small difference would select another tier. */
export const isNearBorder = (score: number, borders: TierBorders, margin: number): boolean =>
  Object.values(borders).some((border: number) => Math.abs(score - border) <= margin);

/** Steepness of the success curves of `heuristic_v2`. */
const STEEPNESS = 12;
/** Probability of success that a tier needs. */
const NEEDED_SUCCESS = 0.75;

/** Result of `heuristic_v2`. */
export interface SuccessForecast extends HeuristicResult {
  /** Probability of success of each tier, not decreasing. */
  readonly success: Readonly<Record<Tier, number>>;
}

/**
 * `heuristic_v2`: the first tier whose probability of success is 0.75 or more. The probability falls with the distance
 * of the score above the upper border of the tier. The table that the reference trained is not used.
 */
export function forecastSuccess(text: string, scoring: HeuristicScoring): SuccessForecast {
  const found = scoreByHeuristic(text, scoring);
  const { borders } = scoring;
  const below = (border: number): number => {
    const value = 1 / (1 + Math.exp(-STEEPNESS * (border - found.score)));
    return Math.round(value * 1e4) / 1e4;
  };
  const success: Record<Tier, number> = {
    SIMPLE: below(borders.simple_medium),
    MEDIUM: below(borders.medium_complex),
    COMPLEX: below(borders.complex_reasoning),
    REASONING: 1,
  };
  const first = (['SIMPLE', 'MEDIUM', 'COMPLEX'] as const).find((tier) => success[tier] >= NEEDED_SUCCESS);
  return { ...found, tier: found.isForced ? 'REASONING' : (first ?? 'REASONING'), success };
}
