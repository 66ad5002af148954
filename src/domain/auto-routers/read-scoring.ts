import type { ConfigReader } from './config-reader.ts';
import {
  DEFAULT_BORDERS,
  DEFAULT_TOKENS,
  DEFAULT_WEIGHTS,
  defaultWords,
  type Dimension,
  DIMENSIONS,
  type HeuristicScoring,
  type TierBorders,
} from './heuristic.ts';
import { type KeywordFinder, keywordFinder } from './keywords.ts';

/** Members of the configuration that tune the heuristic. */
export const SCORING_MEMBERS = [
  'dimension_weights',
  'tier_boundaries',
  'token_thresholds',
  'reasoning_override_min_score',
  'code_keywords',
  'reasoning_keywords',
  'technical_keywords',
  'simple_keywords',
] as const;

/** Permitted ranges. */
const WEIGHT = { min: 0, max: 1 };
const SCORE = { min: -1, max: 2 };
const TOKENS = { min: 0, max: 10_000_000, isInteger: true } as const;

/** Reads the settings of the heuristic. A weight that `dimension_weights` leaves out is 0, as in the reference. */
export function readScoring(config: ConfigReader): HeuristicScoring {
  const words = defaultWords();
  const finderOf = (name: string, defaultFinder: KeywordFinder): KeywordFinder =>
    config.has(name) ? keywordFinder(config.texts(name)) : defaultFinder;
  const tokens = config.map('token_thresholds');
  tokens.refuseOthers(['simple', 'complex']);
  return {
    weights: readWeights(config),
    borders: readBorders(config),
    tokens: {
      simple: tokens.number('simple', DEFAULT_TOKENS.simple, TOKENS),
      complex: tokens.number('complex', DEFAULT_TOKENS.complex, TOKENS),
    },
    words: {
      code: finderOf('code_keywords', words.code),
      reasoning: finderOf('reasoning_keywords', words.reasoning),
      technical: finderOf('technical_keywords', words.technical),
      simple: finderOf('simple_keywords', words.simple),
    },
    overrideMinimum: config.number('reasoning_override_min_score', SCORE.min, SCORE),
  };
}

function readWeights(config: ConfigReader): Readonly<Record<Dimension, number>> {
  if (!config.has('dimension_weights')) return DEFAULT_WEIGHTS;
  const weights = config.map('dimension_weights');
  weights.refuseOthers(DIMENSIONS);
  return Object.fromEntries(DIMENSIONS.map((name) => [name, weights.number(name, 0, WEIGHT)])) as Record<
    Dimension,
    number
  >;
}

function readBorders(config: ConfigReader): TierBorders {
  const borders = config.map('tier_boundaries');
  borders.refuseOthers(Object.keys(DEFAULT_BORDERS));
  const borderOf = (name: keyof TierBorders): number => borders.number(name, DEFAULT_BORDERS[name], SCORE);
  const found: TierBorders = {
    simple_medium: borderOf('simple_medium'),
    medium_complex: borderOf('medium_complex'),
    complex_reasoning: borderOf('complex_reasoning'),
  };
  if (found.simple_medium > found.medium_complex || found.medium_complex > found.complex_reasoning)
    config.addFault('tier_boundaries', 'must not decrease from simple_medium to complex_reasoning');
  return found;
}
