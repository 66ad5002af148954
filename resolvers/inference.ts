import type { ModelRequest } from '../src/domain/chat/chat.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';

/** Sends a request that is already in the dialect; whoever asked relays the answer and settles the call. */
export const callModel = operation({
  name: 'callModel',
  access: anyKey,
  run: (scope, request: ModelRequest): Promise<GatewayCall> =>
    scope.platform.gateway.call(callerOf(scope), request, scope.signal),
});
