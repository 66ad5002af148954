import type { Exchange } from '../../src/domain/chat/chat.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { AnsweredCall, type CallOfAnswer } from '../../src/gateway/calls/answered-call.ts';

/** Answered call that passes its end to `settle`. Its facts, such as ids and deployment, are undefined. */
export function settledCall(
  { bytes, deltas }: Pick<Exchange, 'bytes' | 'deltas'>,
  settle: CallOfAnswer['settle'],
): GatewayCall {
  const call: CallOfAnswer = { settle, cost: () => null, keySpend: () => null, elapsedMs: () => 0 };
  return new AnsweredCall(call, {} as GatewayCall, { deltas }, bytes);
}
