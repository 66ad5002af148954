import type { RealtimeRequest } from '../src/domain/realtime/realtime.ts';
import type { RealtimeSession } from '../src/gateway/sessions/realtime.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { RealtimePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/**
 * Opens a session with the model's upstream. The transport connects the client's socket to the session, or abandons the
 * session.
 */
export const openRealtime = operation({
  name: 'openRealtime',
  access: anyKey,
  run: (scope: Scope<RealtimePlatform>, request: RealtimeRequest): Promise<RealtimeSession> => {
    const { gateway, keyRing } = scope.platform;
    const caller = callerOf(scope);
    const identify = () => keyRing.current(caller);
    return gateway.realtime.open(caller, request, { signal: scope.signal, identify });
  },
});
