import { BudgetExceeded, type BudgetToldAs } from '../domain/errors.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import { addUsd, type Usd, usdText } from '../domain/money.ts';
import type { SpendStore } from '../domain/spend/spend-row.ts';

/** Keys whose spend is kept in memory at once; the longest unused is read again when it comes back. */
const KEYS_LIMIT = 100_000;

/** Knows what each key with an allowance has spent, without asking the store on every call. */
export interface Ledger {
  /**
   * Refuses a key that has used its allowance up. At once when the key's spend is in memory; a promise the
   * first time. Throws LimitExceeded.
   */
  assertAffordable(key: VirtualKey): void | Promise<void>;
  /** Counts a cost against a key. */
  add(keyHash: string, cost: Usd): void;
  /** What a key has spent, where that is in memory: keys with an allowance are, from their first call on. */
  spentBy(keyHash: string): Usd | null;
}

/** Spend is read from the store once per key and counted in memory from then on, exactly. */
export function createLedger(
  store: Pick<SpendStore, 'totalOf'>,
  budgetToldAs: BudgetToldAs = 'unprocessable',
  { limit = KEYS_LIMIT }: { readonly limit?: number } = {},
): Ledger {
  const totals = new Map<string, Usd>();
  const loading = new Map<string, Promise<void>>();
  /** Costs that came while a key's total was being read. */
  const meanwhile = new Map<string, Usd>();

  async function load(hash: string): Promise<void> {
    try {
      const total = await store.totalOf(hash);
      totals.set(hash, addUsd(total, meanwhile.get(hash) ?? NOTHING));
      const [oldest] = totals.keys();
      if (totals.size > limit && oldest !== undefined) totals.delete(oldest);
    } finally {
      meanwhile.delete(hash);
      loading.delete(hash);
    }
  }

  function assertWithin(key: VirtualKey, allowance: Usd, spent: Usd): void {
    if (spent < allowance) return;
    throw new BudgetExceeded(
      `Budget has been exceeded! Key=${key.alias ?? 'None'} (${key.name}) Current cost: ${amount(spent)}, Max budget: ${amount(allowance)}`,
      budgetToldAs,
    );
  }

  return {
    assertAffordable(key) {
      const allowance = key.maxBudget;
      if (allowance === null) return;
      const known = totals.get(key.hash);
      if (known !== undefined) return assertWithin(key, allowance, known);
      let reading = loading.get(key.hash);
      if (!reading) {
        reading = load(key.hash);
        loading.set(key.hash, reading);
      }
      return reading.then(() => assertWithin(key, allowance, totals.get(key.hash) ?? NOTHING));
    },
    add(keyHash, cost) {
      const known = totals.get(keyHash);
      if (known !== undefined) totals.set(keyHash, addUsd(known, cost));
      else if (loading.has(keyHash)) meanwhile.set(keyHash, addUsd(meanwhile.get(keyHash) ?? NOTHING, cost));
    },
    spentBy: (keyHash) => totals.get(keyHash) ?? null,
  };
}

const NOTHING = 0n as Usd;

/** As the reference writes amounts: always with a decimal point. */
const amount = (usd: Usd): string => {
  const text = usdText(usd);
  return text.includes('.') ? text : `${text}.0`;
};
