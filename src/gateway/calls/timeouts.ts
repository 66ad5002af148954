import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { TimeoutPolicy } from '../../domain/routing/routing-policy.ts';

/**
 * A deployment with the timeout of a call. The timeout of the request has precedence, then for streams those of the
 * deployment and of the configuration, then those for all calls.
 */
export function withTimeout(
  deployment: Deployment,
  { stream, timeoutSeconds: ofRequest }: Pick<ModelRequest, 'stream' | 'timeoutSeconds'>,
  configured: TimeoutPolicy,
): Deployment {
  const ofStream = stream ? (deployment.streamTimeoutSeconds ?? configured.streamSeconds) : null;
  const ofCall = deployment.hasOwnTimeout === true ? null : configured.seconds;
  const timeoutSeconds = ofRequest ?? ofStream ?? ofCall ?? deployment.timeoutSeconds;
  return timeoutSeconds === deployment.timeoutSeconds ? deployment : { ...deployment, timeoutSeconds };
}
