import { describe, expect, it } from 'vitest';
import { addUsage, type ModelUse } from '../../../src/domain/upstream-objects/batch-use.ts';
import { namedUses } from '../../../src/domain/upstream-objects/named-uses.ts';

const use = (model: string | null, inputTokens: number, outputTokens: number): ModelUse => ({
  model,
  usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
});
const named = (name: string | null, ...counts: Parameters<typeof use>) => ({ name, ...use(...counts) });

/** Upstream names of public names. The model of the name `removed` is no longer configured. */
const UPSTREAM_MODELS: Readonly<Record<string, string>> = {
  large: 'gpt-9',
  small: 'gpt-9-mini',
  tiny: 'gpt-9-mini',
  other: 'gpt-8',
};
const callsOf = (tokens: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(tokens).map(([name, count]) => [name, { requests: 1, tokens: count }]));
const usesOf = (uses: readonly ModelUse[], tokens: Readonly<Record<string, number>>) =>
  namedUses(uses, callsOf(tokens), (name) => UPSTREAM_MODELS[name]);

describe('the usage of a batch by public model name', () => {
  it('belongs to the only name of the file, whatever the upstream reports', () => {
    const uses = [use('gpt-9-2026', 3, 2), use('another', 5, 1), use(null, 1, 1)];
    expect(usesOf(uses, { large: 7 })).toEqual([
      named('large', 'gpt-9-2026', 3, 2),
      named('large', 'another', 5, 1),
      named('large', null, 1, 1),
    ]);
  });

  it('belongs to the name whose upstream model is the longest start of the reported model', () => {
    const uses = [use('gpt-9-mini-2026', 3, 2), use('gpt-9-2026', 5, 1)];
    expect(usesOf(uses, { large: 1, small: 1, other: 1 })).toEqual([
      named('small', 'gpt-9-mini-2026', 3, 2),
      named('large', 'gpt-9-2026', 5, 1),
    ]);
  });

  it('is shared by estimated tokens among names of the same upstream model', () => {
    expect(usesOf([use('gpt-9-mini', 40, 8)], { large: 100, small: 10, tiny: 30 })).toEqual([
      named('small', 'gpt-9-mini', 10, 2),
      named('tiny', 'gpt-9-mini', 30, 6),
    ]);
  });

  it.each([null, 'gpt-7'])('is shared among all names, if none of them stands for the model %s', (model) => {
    expect(usesOf([use(model, 40, 8)], { large: 10, removed: 30 })).toEqual([
      named('large', model, 10, 2),
      named('removed', model, 30, 6),
    ]);
  });

  it('has no share with more cached tokens than input, or more reasoning tokens than output', () => {
    const usage = { inputTokens: 3, outputTokens: 3, cacheReadTokens: 1, cacheWriteTokens: 1, reasoningTokens: 1 };
    const shares = usesOf([{ model: null, usage }], { large: 1, small: 1, other: 1 }).map((share) => share.usage);
    for (const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } of shares) {
      expect(inputTokens).toBeGreaterThanOrEqual(cacheReadTokens + cacheWriteTokens);
      expect(outputTokens).toBeGreaterThanOrEqual(reasoningTokens);
    }
    expect(shares.reduce(addUsage)).toEqual(usage);
  });

  it('is shared without loss', () => {
    const shared = usesOf([use(null, 1_000_000_001, 2)], { large: 1, small: 1, other: 1 });
    expect(shared.map(({ usage: { inputTokens, outputTokens } }) => [inputTokens, outputTokens])).toEqual([
      [333_333_334, 1],
      [333_333_333, 0],
      [333_333_334, 1],
    ]);
  });

  it('has no name, if the calls of the file were not counted', () => {
    expect(usesOf([use('gpt-9', 3, 2)], {})).toEqual([named(null, 'gpt-9', 3, 2)]);
  });
});
