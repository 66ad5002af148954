import type { Exchange } from '../../src/domain/chat/chat.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { AnsweredCall, type SettledByAnswer } from '../../src/gateway/calls/answered-call.ts';

/** An answered call without facts, that reports how it was settled. */
export function settledCall(
  { bytes, deltas }: Pick<Exchange, 'bytes' | 'deltas'>,
  settle: SettledByAnswer['settle'],
): GatewayCall {
  const call: SettledByAnswer = { settle, cost: () => null, keySpend: () => null, elapsedMs: () => 0 };
  return new AnsweredCall(call, {} as GatewayCall, { deltas }, bytes);
}
