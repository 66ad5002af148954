import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Provider } from '../../domain/chat/provider.ts';
import type { OpenCall } from './call.ts';
import { mockOf, type Route } from '../routing/route.ts';

/**
 * Makes a mock deployment the target of a call that a guardrail answers. Returns the route to the mock deployment; null
 * for other calls, which are not changed.
 */
export function redirectToMock(
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
