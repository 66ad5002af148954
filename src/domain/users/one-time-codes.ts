import type { Clock } from '../clock.ts';
import { LimitExceeded } from '../errors.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';

/** Lifetime of a code, in seconds. */
export const CODE_SECONDS = 60;
/** Most codes of this process that are not exchanged. */
const MOST_CODES = 10_000;

/** Codes that are exchanged for a value once, in the memory of this process. */
export interface OneTimeCodes<Value> {
  /** A code for a value. Throws LimitExceeded when too many are open. */
  issue(value: Value): string;
  /** The value of a code, which is then used up; null for an unknown, used or expired one. */
  take(code: string): Value | null;
}

export function createOneTimeCodes<Value>(
  generator: Pick<KeyGenerator, 'hash' | 'token'>,
  clock: Pick<Clock, 'monotonicMs'>,
): OneTimeCodes<Value> {
  // By hash, in the order of their end.
  const codes = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  function evictEnded(): void {
    const nowMs = clock.monotonicMs();
    for (const [hash, { untilMs }] of codes) {
      if (untilMs > nowMs) return;
      codes.delete(hash);
    }
  }

  return {
    issue(value) {
      evictEnded();
      if (codes.size >= MOST_CODES)
        throw new LimitExceeded('Too many sign-ins are open. Try again later.', 'requests', CODE_SECONDS);
      const code = generator.token();
      codes.set(generator.hash(code), { value, untilMs: clock.monotonicMs() + CODE_SECONDS * 1000 });
      return code;
    },
    take(code) {
      evictEnded();
      const hash = generator.hash(code);
      const found = codes.get(hash);
      codes.delete(hash);
      return found?.value ?? null;
    },
  };
}
