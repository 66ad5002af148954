import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { ThreadAnswer } from './thread-pool.ts';

/** The answer of a thread with a result. Buffers in `transferred` are transferred to the pool without a copy. */
export function resultAnswer(result: unknown, transferred: readonly ArrayBuffer[]): unknown {
  const answer: ThreadAnswer<unknown> = { result };
  return move({ [transferableSymbol]: transferred, [valueSymbol]: answer });
}
