import { describe, expect, it } from 'vitest';
import {
  DEFAULT_BORDERS,
  DEFAULT_TOKENS,
  DEFAULT_WEIGHTS,
  defaultWords,
  forecastSuccess,
  type HeuristicScoring,
  isNearBorder,
  scoreByHeuristic,
  tierOfScore,
} from '../../../src/domain/auto-routers/heuristic.ts';
import { keywordFinder } from '../../../src/domain/auto-routers/keywords.ts';

const SCORING: HeuristicScoring = {
  weights: DEFAULT_WEIGHTS,
  borders: DEFAULT_BORDERS,
  tokens: DEFAULT_TOKENS,
  words: defaultWords(),
  overrideMinimum: -1,
};
const score = (text: string) => scoreByHeuristic(text, SCORING);

describe('the heuristic', () => {
  it('has the weights and borders of the reference', () => {
    expect(Object.values(DEFAULT_WEIGHTS)).toEqual([0.1, 0.3, 0.25, 0.25, 0.05, 0.03, 0.02]);
    expect(['SIMPLE', 'MEDIUM', 'COMPLEX', 'REASONING']).toEqual(
      [0.149, 0.15, 0.35, 0.6].map((value) => tierOfScore(value, DEFAULT_BORDERS)),
    );
  });

  it('sums the weighted dimensions', () => {
    expect(score('blue')).toEqual({ tier: 'SIMPLE', score: -0.1, signals: ['tokenCount'], isForced: false });
    // More than 15 tokens without a word of any list.
    const words = 'plain words that say nothing at all, '.repeat(3);
    expect(score(words)).toMatchObject({ score: 0, signals: [], tier: 'SIMPLE' });
    expect(score(`${words} function`)).toMatchObject({ score: 0.15, tier: 'MEDIUM' });
    expect(score(`${words} function docker`)).toMatchObject({ score: 0.3, tier: 'MEDIUM' });
    expect(score(`${words} function docker latency`)).toMatchObject({ score: 0.425, tier: 'COMPLEX' });
    expect(score(`${words} function docker latency sharding quantum, prove`)).toMatchObject({
      score: 0.675,
      tier: 'REASONING',
    });
    expect(score(`${words} What is this?`)).toMatchObject({ score: -0.05, signals: ['simpleIndicators'] });
    expect(score(`${words} 1? 2? 3? 4?`)).toMatchObject({ score: 0.02, signals: ['questionComplexity'] });
    expect(score(`${words}\n1. this\n2. that`)).toMatchObject({ score: 0.03, signals: ['multiStepPatterns'] });
    expect(score('word '.repeat(400))).toMatchObject({ score: 0.1, signals: ['tokenCount'] });
  });

  it('selects REASONING for two reasoning markers, if the score reaches overrideMinimum', () => {
    expect(score('prove it step by step')).toMatchObject({ tier: 'REASONING', isForced: true, score: 0.15 });
    expect(score('prove it')).toMatchObject({ tier: 'SIMPLE', isForced: false });
    const strict = scoreByHeuristic('prove it step by step', { ...SCORING, overrideMinimum: 0.2 });
    expect(strict).toMatchObject({ tier: 'MEDIUM', isForced: false });
  });

  it('tells whether a score is within a margin of a border', () => {
    expect([0.11, 0.12, 0.18, 0.19].map((value) => isNearBorder(value, DEFAULT_BORDERS, 0.03))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('heuristic_v2', () => {
  it('selects the first tier with a probability of success of 0.75 or more', () => {
    const simple = forecastSuccess('blue', SCORING);
    expect(simple).toMatchObject({ tier: 'SIMPLE', success: { SIMPLE: 0.9526, REASONING: 1 } });
    const words = 'plain words that say nothing at all, '.repeat(3);
    expect(forecastSuccess(`${words} function docker latency`, SCORING).tier).toBe('COMPLEX');
    const { success } = forecastSuccess(`${words} function docker`, SCORING);
    const values = [success.SIMPLE, success.MEDIUM, success.COMPLEX, success.REASONING];
    expect(values.toSorted((one, other) => one - other)).toEqual(values);
  });
});

describe('keywords', () => {
  it('are found as whole words in upper and lower case; longer keywords come first', () => {
    const finder = keywordFinder(['api', 'c++', 'REST api', '数据库']);
    expect([...finder.find('A rest API and an API, C++, 用数据库吗')]).toEqual(['rest api', 'api', 'c++', '数据库']);
    expect([...finder.find('apis, xc++')]).toEqual([]);
    expect([...keywordFinder([' ']).find('anything')]).toEqual([]);
  });
});
