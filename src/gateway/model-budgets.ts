import { isRefused } from '../domain/admission/rules.ts';
import type { Clock } from '../domain/clock.ts';
import { BudgetExceeded, type BudgetErrorKind } from '../domain/errors.ts';
import { windowEnd } from '../domain/keys/durations.ts';
import type { ModelBudget } from '../domain/keys/key-settings.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import { addUsd, type Usd, usdFrom, ZERO_USD } from '../domain/money.ts';

/** Counters in memory at once. Beyond that the oldest is removed. */
const COUNTERS_LIMIT = 100_000;

interface Spent {
  amount: Usd;
  /** End of its window, Unix ms. */
  readonly untilMs: number;
}

/**
 * Budgets of single models of a key. Counters are per process and start at zero. Running calls are not reserved, so
 * concurrent calls can exceed a budget by their cost.
 */
export interface ModelBudgets {
  /** Throws BudgetExceeded where a key's budget of a model is used up. */
  check(key: VirtualKey | null, model: string): void;
  charge(key: VirtualKey | null, model: string, cost: Usd): void;
}

export function createModelBudgets(clock: Pick<Clock, 'now'>, errorKind: BudgetErrorKind): ModelBudgets {
  const counters = new Map<string, Spent>();

  function counterOf(hash: string, model: string, { timePeriod }: ModelBudget): Spent {
    const name = `${hash}\n${model}`;
    const now = clock.now();
    const known = counters.get(name);
    if (known !== undefined && known.untilMs > now.getTime()) return known;
    const fresh = { amount: ZERO_USD, untilMs: timePeriod === null ? Infinity : windowEnd(timePeriod, now).getTime() };
    counters.delete(name);
    counters.set(name, fresh);
    const [oldest] = counters.keys();
    if (counters.size > COUNTERS_LIMIT && oldest !== undefined) counters.delete(oldest);
    return fresh;
  }

  return {
    check(key, model) {
      const budget = budgetOf(key, model);
      const limit = budget === null ? null : usdFrom(budget.budgetLimit);
      // A negative budget is unlimited, as in the reference.
      if (key === null || budget === null || limit === null || limit < 0n) return;
      const used = counterOf(key.hash, model, budget).amount;
      if (isRefused({ counter: model, limit, amount: ZERO_USD, refused: 'at' }, { used, reserved: 0n }))
        throw new BudgetExceeded(
          `LiteLLM Virtual Key: ${key.hash}, key_alias: ${key.alias ?? 'None'}, exceeded budget for model=${model}`,
          errorKind,
        );
    },
    charge(key, model, cost) {
      const budget = budgetOf(key, model);
      if (key === null || budget === null) return;
      const counter = counterOf(key.hash, model, budget);
      counter.amount = addUsd(counter.amount, cost);
    },
  };
}

function budgetOf(key: VirtualKey | null, model: string): ModelBudget | null {
  const budgets = key?.settings.modelMaxBudget ?? {};
  return Object.hasOwn(budgets, model) ? (budgets[model] ?? null) : null;
}
