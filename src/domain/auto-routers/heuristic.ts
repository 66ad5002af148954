import type { Tier } from './tiers.ts';
import { CODE_WORDS, REASONING_WORDS, SIMPLE_WORDS, STEP_PATTERNS, TECHNICAL_WORDS } from './heuristic-words.ts';
import { type KeywordFinder, keywordFinder } from './keywords.ts';

/** What the heuristic measures in a text. */
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

/** Lowest score of the higher one of two neighbouring tiers. */
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
  /** Minimum score at which two reasoning markers select REASONING. */
  readonly overrideMinimum: number;
}

let compiledWords: HeuristicScoring['words'] | null = null;

/** The default word lists, compiled at the first use. */
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
  /** Dimensions that changed the score. Empty for a text without evidence. */
  readonly signals: readonly string[];
  /** Whether two reasoning markers selected the tier. */
  readonly isForced: boolean;
}

/** Maximum number of characters that are searched. The rest of a text counts in its number of tokens only. */
const SCORED_CHARACTERS = 65_536;
/** Number of reasoning markers that select REASONING. */
const FORCING_MARKERS = 2;
const CHARACTERS_PER_TOKEN = 4;

/** Value of a dimension by the number of distinct words: 0.5 for one word, 1 for two or more. */
const graded = (count: number): number => Math.min(count, 2) / 2;

/** Value by the number of question marks: 0.5 from two, 1 from four. */
function questionValue(text: string): number {
  const questions = text.split('?').length - 1;
  if (questions >= 4) return 1;
  return questions >= 2 ? 0.5 : 0;
}

/** Scores a text by the weighted dimensions, and selects the tier of the score. */
export function scoreByHeuristic(text: string, scoring: HeuristicScoring): HeuristicResult {
  const { weights, tokens, words, borders, overrideMinimum } = scoring;
  const searched = text.slice(0, SCORED_CHARACTERS);
  const tokenCount = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const markers = words.reasoning.find(searched).size;
  const lengthValue = tokenCount > tokens.complex ? 1 : 0;
  const values: Readonly<Record<Dimension, number>> = {
    tokenCount: tokenCount < tokens.simple ? -1 : lengthValue,
    codePresence: graded(words.code.find(searched).size + (searched.includes('```') ? 1 : 0)),
    reasoningMarkers: graded(markers),
    technicalTerms: graded(words.technical.find(searched).size),
    simpleIndicators: words.simple.find(searched).size > 0 ? -1 : 0,
    multiStepPatterns: STEP_PATTERNS.some((pattern) => pattern.test(searched)) ? 1 : 0,
    questionComplexity: questionValue(searched),
  };
  const sum = DIMENSIONS.reduce((total, name) => total + values[name] * weights[name], 0);
  // Rounded, because the sum of doubles 0.1 + 0.05 is above the border 0.15.
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

/** Whether a score differs from a border by at most `margin`. */
export const isNearBorder = (score: number, borders: TierBorders, margin: number): boolean =>
  Object.values(borders).some((border: number) => Math.abs(score - border) <= margin);

/** Steepness of the success curves of `heuristic_v2`. */
const STEEPNESS = 12;
/** Minimum probability of success of the selected tier. */
const NEEDED_SUCCESS = 0.75;

/** Result of `heuristic_v2`. */
export interface SuccessForecast extends HeuristicResult {
  /** Probability of success by tier. A higher tier never has a lower probability. */
  readonly success: Readonly<Record<Tier, number>>;
}

/**
 * `heuristic_v2`: selects the lowest tier whose probability of success is at least `NEEDED_SUCCESS`. The probability of
 * a tier is 0.5 for a score at its upper border, and lower for higher scores. The reference uses a trained table
 * instead.
 */
export function forecastSuccess(text: string, scoring: HeuristicScoring): SuccessForecast {
  const found = scoreByHeuristic(text, scoring);
  const { borders } = scoring;
  const successBelow = (border: number): number => {
    const probability = 1 / (1 + Math.exp(-STEEPNESS * (border - found.score)));
    return Math.round(probability * 1e4) / 1e4;
  };
  const success: Record<Tier, number> = {
    SIMPLE: successBelow(borders.simple_medium),
    MEDIUM: successBelow(borders.medium_complex),
    COMPLEX: successBelow(borders.complex_reasoning),
    REASONING: 1,
  };
  const first = (['SIMPLE', 'MEDIUM', 'COMPLEX'] as const).find((tier) => success[tier] >= NEEDED_SUCCESS);
  return { ...found, tier: found.isForced ? 'REASONING' : (first ?? 'REASONING'), success };
}
