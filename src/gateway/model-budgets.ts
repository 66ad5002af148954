import { isRefused } from '../domain/admission/rules.ts';
import type { Clock } from '../domain/clock.ts';
import { BudgetExceeded, type BudgetErrorKind, InvalidInput } from '../domain/errors.ts';
import { windowEnd } from '../domain/keys/durations.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import { addUsd, type Usd, usdFrom, ZERO_USD } from '../domain/money.ts';
import { resetText } from './budget-charges.ts';

/** Counters in memory at once. Beyond that the oldest is removed. */
const COUNTERS_LIMIT = 100_000;

interface Spent {
  amount: Usd;
  /** End of its window, Unix ms. */
  readonly untilMs: number;
}

/**
 * Budgets of single models of a key or a team. Counters are per process and start at zero. Running calls are not reserved, so
 * concurrent calls can exceed a budget by their cost.
 */
export interface ModelBudgets {
  /** Throws BudgetExceeded where the budget of a model is used up. */
  check(key: VirtualKey | null, model: string): void;
  charge(key: VirtualKey | null, model: string, cost: Usd): void;
}

/** The budget of a model that holds for a call, and what its refusal names. */
interface Held {
  /** Key or team, as a part of the counter's name. */
  readonly owner: string;
  readonly limit: Usd;
  readonly timePeriod: string | null;
  readonly subject: string;
}

export function createModelBudgets(clock: Pick<Clock, 'now'>, errorKind: BudgetErrorKind): ModelBudgets {
  const counters = new Map<string, Spent>();

  function counterOf({ owner, timePeriod }: Held, model: string): Spent {
    const name = `${owner}\n${model}`;
    const now = clock.now();
    const known = counters.get(name);
    if (known !== undefined && known.untilMs > now.getTime()) return known;
    const fresh = { amount: ZERO_USD, untilMs: endOf(timePeriod, now) };
    counters.delete(name);
    counters.set(name, fresh);
    const [oldest] = counters.keys();
    if (counters.size > COUNTERS_LIMIT && oldest !== undefined) counters.delete(oldest);
    return fresh;
  }

  return {
    check(key, model) {
      const held = heldBy(key, model);
      if (held === null) return;
      const { limit, timePeriod, subject } = held;
      const { amount: used, untilMs } = counterOf(held, model);
      if (!isRefused({ counter: model, limit, amount: ZERO_USD, refused: 'at' }, { used, reserved: 0n })) return;
      const window =
        timePeriod === null || untilMs === Infinity ? null : { duration: timePeriod, resetAt: new Date(untilMs) };
      throw new BudgetExceeded(`${subject}, exceeded budget for model=${model}${resetText(window)}`, errorKind);
    },
    charge(key, model, cost) {
      const held = heldBy(key, model);
      if (held === null) return;
      const counter = counterOf(held, model);
      counter.amount = addUsd(counter.amount, cost);
    },
  };
}

/** End of the window of a budget, Unix ms. The metadata of a team is not checked when it is stored: a malformed period is none. */
function endOf(timePeriod: string | null, now: Date): number {
  if (timePeriod === null) return Infinity;
  try {
    return windowEnd(timePeriod, now).getTime();
  } catch (error) {
    if (error instanceof InvalidInput) return Infinity;
    throw error;
  }
}

/** The budget of a model: the key's own, else that of its team. A negative one is unlimited, as in the reference. */
function heldBy(key: VirtualKey | null, model: string): Held | null {
  if (key === null) return null;
  const own = memberOf(key.settings.modelMaxBudget, model);
  if (own !== undefined) {
    const subject = `LiteLLM Virtual Key: ${key.hash}, key_alias: ${key.alias ?? 'None'}`;
    return heldOf({ owner: key.hash, subject }, own.budgetLimit, own.timePeriod);
  }
  const team = key.owners?.team;
  if (!team) return null;
  const ofTeam = memberOf(objectOr(team.metadata['model_max_budget']), model);
  if (ofTeam === undefined) return null;
  const { budget_limit, max_budget, time_period, budget_duration } = objectOr(ofTeam);
  const about = { owner: `team ${team.id}`, subject: `LiteLLM Team: ${team.id}` };
  return heldOf(about, budget_limit ?? max_budget, time_period ?? budget_duration);
}

function heldOf(about: Pick<Held, 'owner' | 'subject'>, budget: unknown, timePeriod: unknown): Held | null {
  const limit = typeof budget === 'string' || typeof budget === 'number' ? usdFrom(budget) : null;
  if (limit === null || limit < 0n) return null;
  return { ...about, limit, timePeriod: typeof timePeriod === 'string' ? timePeriod : null };
}

const objectOr = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const memberOf = <Value>(values: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
