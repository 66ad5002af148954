import type { RealtimeRequest } from '../src/domain/realtime/realtime.ts';
import type { Secret } from '../src/domain/secret.ts';
import type { RealtimeSession } from '../src/gateway/realtime.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';

/**
 * Opens a session with the model's upstream; whoever asked joins the caller to it, or gives it up. The credential is
 * kept as long as the session: it is looked at again while that lasts.
 */
export const openRealtime = operation({
  name: 'openRealtime',
  access: anyKey,
  run: (
    scope,
    { request, credential }: { readonly request: RealtimeRequest; readonly credential: Secret },
  ): Promise<RealtimeSession> => {
    const { gateway, keyRing } = scope.platform;
    const identify = () => keyRing.identify(credential.reveal());
    return gateway.realtime.open(callerOf(scope), request, { signal: scope.signal, identify });
  },
});
