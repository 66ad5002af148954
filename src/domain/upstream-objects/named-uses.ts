import type { Usage } from '../chat/chat.ts';
import type { BatchCalls } from './batch-calls.ts';
import type { ModelUse } from './batch-use.ts';

/** Usage of a model in a batch, with the public name of the model. */
export interface NamedUse extends ModelUse {
  /** Null where the calls of the file were not counted. */
  readonly name: string | null;
}

/** The upstream's name of the model that a public name stands for; undefined where it is no longer configured. */
type UpstreamModelOf = (name: string) => string | undefined;

/**
 * Usage of a batch by public model name. A use whose model several names of the file stand for is shared among them. A
 * use without a model, or with one that no name stands for, is shared among all names.
 */
export function namedUses(
  uses: readonly ModelUse[],
  calls: BatchCalls,
  upstreamModelOf: UpstreamModelOf,
): readonly NamedUse[] {
  return uses.flatMap(({ model, usage }): readonly NamedUse[] => {
    const names = namesOf(model, Object.keys(calls), upstreamModelOf);
    const [only = null] = names;
    // A single name has the whole usage, with its calls of tools and its service tier.
    if (names.length <= 1) return [{ name: only, model, usage }];
    const shares = sharesOf(
      usage,
      names.map((name) => calls[name]?.tokens ?? 0),
    );
    return names.flatMap((name, index) => {
      const share = shares[index];
      return share === undefined ? [] : [{ name, model, usage: share }];
    });
  });
}

/** The names that stand for a reported model; all names where none does. */
function namesOf(model: string | null, names: readonly string[], upstreamModelOf: UpstreamModelOf): readonly string[] {
  if (names.length <= 1 || model === null) return names;
  // Upstreams report the exact version of a model, which starts with its name. The longest name fits best.
  const fitting = names.flatMap((name) => {
    const upstreamModel = upstreamModelOf(name);
    return upstreamModel !== undefined && model.startsWith(upstreamModel)
      ? [{ name, length: upstreamModel.length }]
      : [];
  });
  const longest = Math.max(...fitting.map(({ length }) => length));
  const best = fitting.filter(({ length }) => length === longest).map(({ name }) => name);
  return best.length === 0 ? names : best;
}

/** Shares of a usage in proportion to the estimated input tokens of calls. Their sum is the usage. */
function sharesOf(usage: Usage, tokens: readonly number[]): readonly Usage[] {
  const weights = tokens.map((count) => Math.max(1, count));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return weights.map((weight) => {
    const [from, to] = [before / total, (before + weight) / total];
    before += weight;
    const part = (count: number): number => Math.round(count * to) - Math.round(count * from);
    const cacheReadTokens = part(usage.cacheReadTokens);
    const cacheWriteTokens = part(usage.cacheWriteTokens);
    const reasoningTokens = part(usage.reasoningTokens);
    // The remainders are shared alone, so that rounding never makes a share with more cached tokens than input tokens.
    const uncachedTokens = part(usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
    const visibleTokens = part(usage.outputTokens - usage.reasoningTokens);
    return {
      inputTokens: uncachedTokens + cacheReadTokens + cacheWriteTokens,
      outputTokens: visibleTokens + reasoningTokens,
      cacheReadTokens,
      cacheWriteTokens,
      reasoningTokens,
    };
  });
}
