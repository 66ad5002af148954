import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Provider } from '../../domain/chat/provider.ts';
import type { OpenCall } from './call.ts';
import { mockOf, type Route } from '../routing/route.ts';

/** The mock deployment for a request that a guardrail answers; null for other requests. The call moves there. */
export function mockedRoute(
  call: Pick<OpenCall, 'replaceDeployment'>,
  request: ModelRequest,
  route: Route,
  { providers }: { readonly providers: readonly Provider[] },
): Route | null {
  if (request.mockFinish === undefined) return null;
  const mocked = mockOf(route, providers);
  call.replaceDeployment({ request, deployment: mocked.deployment });
  return mocked;
}
