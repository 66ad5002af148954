import { takeAgentMessage } from '../resolvers/coding-agent-status.ts';
import { callCodingAgents } from '../resolvers/coding-agents.ts';
import { callProvider, callUnconfigured } from '../resolvers/forwarded-providers.ts';
import { CODING_AGENTS, FORWARDED_PROVIDERS, type ForwardedProvider } from '../src/domain/pass-through/providers.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './http/route.ts';
import { FORWARDED, relayedAnswer, sentRequest, sentToProvider } from './pass-through.ts';

type Scope = Parameters<RouteRow['handle']>[1];

/** Most bytes of a message about an agent. */
const MESSAGE_LIMIT = 256 * 1024;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** First segment of a path, and the rest as it was sent. */
function partsOf(path: string): { readonly prefix: string; readonly subpath: string } {
  const slash = path.indexOf('/', 1);
  if (slash === -1) return { prefix: path.slice(1), subpath: '' };
  return { prefix: path.slice(1, slash), subpath: path.slice(slash + 1) };
}

/** Everything below the prefixes of providers, and the prefix itself where operations are named by a header. */
function pathsOf(providers: readonly ForwardedProvider[]): [string, ...string[]] {
  const [first = '', ...others] = providers.flatMap(({ prefixes, aws }) =>
    prefixes.flatMap((prefix) => [`/${prefix}/{*subpath}`, ...(aws?.target === undefined ? [] : [`/${prefix}`])]),
  );
  return [first, ...others];
}

const rowsOf = (
  name: string,
  providers: readonly ForwardedProvider[],
  more: Pick<RouteRow, 'handle'> & Partial<Pick<RouteRow, 'keyParameter'>>,
): readonly RouteRow[] =>
  METHODS.map((method) => ({
    ...FORWARDED,
    ...more,
    credential: 'required',
    name: `${name}.${method.toLowerCase()}`,
    method,
    ...(method === 'POST' ? { hot: true, category: 'llm' as const } : {}),
    paths: pathsOf(providers),
    answers: [200, 400, 401, 403],
  }));

const PROVIDERS: ReadonlyMap<string, ForwardedProvider> = new Map(
  FORWARDED_PROVIDERS.flatMap((provider) => provider.prefixes.map((prefix) => [prefix, provider])),
);

const providerAt = (prefix: string): ForwardedProvider | undefined => PROVIDERS.get(prefix);

async function forwardToProvider(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { prefix, subpath } = partsOf(request.path);
  const provider = providerAt(prefix);
  if (provider === undefined) throw new TypeError(`No provider has the prefix ${prefix}.`);
  return relayedAnswer(await callProvider(scope, { provider, subpath, sent: sentToProvider(request) }), scope);
}

/**
 * A handler of a row that also has a path below a provider's prefix. There, a request for a model that is not configured
 * goes to the provider, where it has an account.
 */
export const orForwarded =
  (handle: RouteRow['handle']): RouteRow['handle'] =>
  async (request, scope) => {
    const { prefix, subpath } = partsOf(request.path);
    const provider = providerAt(prefix);
    if (provider === undefined) return handle(request, scope);
    const call = await callUnconfigured(scope, { provider, subpath, sent: sentRequest(request) });
    return call === null ? handle(request, scope) : relayedAnswer(call, scope);
  };

async function forwardToAgents(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { subpath } = partsOf(request.path);
  const { call, bytes } = await callCodingAgents(scope, { subpath, sent: sentRequest(request) });
  return relayedAnswer(call, scope, bytes);
}

const isGemini = ({ name }: ForwardedProvider): boolean => name === 'gemini';

/**
 * The providers' own APIs, below a prefix each, and the coding agents' API. A row of the gateway below a prefix keeps its
 * path. Clients of Gemini send their key as a parameter.
 */
export const forwardedProviderRoutes: readonly RouteRow[] = [
  route({
    name: 'codingAgents.webhook',
    method: 'POST',
    paths: ['/codeagent/webhook'],
    surface: 'proxy',
    category: null,
    credential: 'none',
    anyAddress: true,
    answers: [200, 400, 404],
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
