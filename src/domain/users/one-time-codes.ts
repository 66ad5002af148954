import type { Clock } from '../clock.ts';
import { LimitExceeded } from '../errors.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';
import type { PendingSignInStore } from './pending-sign-ins.ts';

/** Lifetime of a code, in seconds. */
export const CODE_SECONDS = 60;
/** Maximum number of codes that are not exchanged yet. */
const MAX_CODES = 10_000;

/** Codes that are exchanged for a value once, by any process of the installation. A value is plain JSON. */
export interface OneTimeCodes<Value> {
  /** A code for a value. Throws LimitExceeded when too many are open. */
  issue(value: Value): Promise<string>;
  /** Returns the value of a code and removes the code; null for an unknown, used or expired code. */
  take(code: string): Promise<Value | null>;
}

export function createOneTimeCodes<Value>(options: {
  readonly generator: Pick<KeyGenerator, 'hash' | 'token'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly store: PendingSignInStore;
  /** Begins the ids of the codes, so that a code of another kind is unknown. `code` when absent. */
  readonly prefix?: string;
  /** Lifetime of a code in seconds; `CODE_SECONDS` when absent. */
  readonly seconds?: number;
}): OneTimeCodes<Value> {
  const { generator, clock, store, prefix = 'code', seconds = CODE_SECONDS } = options;
  const nowMs = (): number => clock.now().getTime();
  const idOf = (code: string): string => `${prefix}-${generator.hash(code)}`;
  return {
    async issue(value) {
      const code = generator.token();
      const now = nowMs();
      const pending = { id: idOf(code), kind: 'code', content: JSON.stringify(value) } as const;
      if (await store.add({ ...pending, untilMs: now + seconds * 1000 }, { nowMs: now, most: MAX_CODES })) return code;
      throw new LimitExceeded('Too many sign-ins are open. Try again later.', 'requests', seconds);
    },
    async take(code) {
      const content = await store.take(idOf(code), nowMs());
      return content === null ? null : (JSON.parse(content) as Value);
    },
  };
}
