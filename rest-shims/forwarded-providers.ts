import { takeAgentMessage } from '../resolvers/coding-agent-status.ts';
import { callCodingAgents } from '../resolvers/coding-agents.ts';
import { callProvider } from '../resolvers/forwarded-providers.ts';
import { CODING_AGENTS, FORWARDED_PROVIDERS, type ForwardedProvider } from '../src/domain/pass-through/providers.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { FORWARDED, relayedAnswer, sentRequest, sentToProvider } from './helpers/model-call/pass-through.ts';
import { pathParts, providerAt } from './helpers/model-call/forwarded-providers.ts';

type Scope = Parameters<RouteRow['handle']>[1];

/** Maximum size of a webhook message about a coding agent, in bytes. */
const MESSAGE_LIMIT = 256 * 1024;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** All paths below the prefixes of providers, and the prefix itself for AWS services whose operation is in a header. */
function pathsOf(providers: readonly ForwardedProvider[]): [string, ...string[]] {
  const [first = '', ...others] = providers.flatMap(({ prefixes, aws }) =>
    prefixes.flatMap((prefix) => [`/${prefix}/{*subpath}`, ...(aws?.target === undefined ? [] : [`/${prefix}`])]),
  );
  return [first, ...others];
}

const rowsOf = (
  name: string,
  providers: readonly ForwardedProvider[],
  handling: Pick<RouteRow, 'handle'> & Partial<Pick<RouteRow, 'keyParameter'>>,
): readonly RouteRow[] =>
  METHODS.map((method) => ({
    ...FORWARDED,
    ...handling,
    credential: 'required',
    name: `${name}.${method.toLowerCase()}`,
    method,
    ...(method === 'POST' ? { hot: true } : {}),
    paths: pathsOf(providers),
    statuses: [200, 400, 401, 403],
  }));

async function forwardToProvider(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { prefix, subpath } = pathParts(request.path);
  const provider = providerAt(prefix);
  if (provider === undefined) throw new TypeError(`No provider has the prefix ${prefix}.`);
  return relayedAnswer(await callProvider(scope, { provider, subpath, sent: sentToProvider(request) }), scope);
}

async function forwardToAgents(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { subpath } = pathParts(request.path);
  const { call, bytes } = await callCodingAgents(scope, { subpath, sent: sentRequest(request) });
  return relayedAnswer(call, scope, bytes);
}

const isGemini = ({ name }: ForwardedProvider): boolean => name === 'gemini';

/**
 * The APIs of providers, each below a path prefix, and the API of coding agents. These rows have wildcards: the router
 * prefers other rows below the same prefix. Clients of Gemini may send their key as a query parameter.
 */
export const forwardedProviderRoutes: readonly RouteRow[] = [
  route({
    name: 'codingAgents.webhook',
    method: 'POST',
    paths: ['/codeagent/webhook'],
    surface: 'proxy',
    credential: 'none',
    anyAddress: true,
    statuses: [200, 400, 404],
    bodyLimit: MESSAGE_LIMIT,
    parse: ({ body, headers }) => ({ bytes: body, signature: [headers['x-webhook-signature']].flat()[0] ?? null }),
    run: takeAgentMessage,
    render: () => json({ received: true }),
  }),
  ...rowsOf(
    'forwarded',
    FORWARDED_PROVIDERS.filter((one) => !isGemini(one)),
    { handle: forwardToProvider },
  ),
  ...rowsOf('forwardedGemini', FORWARDED_PROVIDERS.filter(isGemini), {
    handle: forwardToProvider,
    keyParameter: 'key',
  }),
  ...rowsOf('codingAgents', [CODING_AGENTS], { handle: forwardToAgents }),
];
