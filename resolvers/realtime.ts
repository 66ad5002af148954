import type { RealtimeRequest } from '../src/domain/realtime/realtime.ts';
import type { RealtimeSession } from '../src/gateway/realtime.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';

/** Opens a session with the model's upstream; whoever asked joins the caller to it, or gives it up. */
export const openRealtime = operation({
  name: 'openRealtime',
  access: anyKey,
  run: (scope, request: RealtimeRequest): Promise<RealtimeSession> => {
    const { gateway, keyRing } = scope.platform;
    const caller = callerOf(scope);
    const identify = () => keyRing.current(caller);
    return gateway.realtime.open(caller, request, { signal: scope.signal, identify });
  },
});
