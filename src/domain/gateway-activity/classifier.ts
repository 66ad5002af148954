import type { ActivityCategory, CountedRoute } from './gateway-activity.ts';

const routes = new Map<string, CountedRoute>();

/** One object per category and route, so that counters compare references. */
function countedRoute(category: ActivityCategory, route: string): CountedRoute {
  const name = `${category} ${route}`;
  const known = routes.get(name);
  if (known !== undefined) return known;
  const created = { category, route };
  routes.set(name, created);
  return created;
}

const MCP = countedRoute('mcp', '/mcp');
const A2A = countedRoute('a2a', '/a2a');

/** The paths `/<server>/mcp` and `/toolset/<name>/mcp`. */
const NAMED_MCP = /^\/(?:toolset\/)?[^/]+\/mcp$/;

/** Ends of paths, each with its route. The first matching end decides. */
const SUFFIXES: readonly (readonly [string, CountedRoute])[] = [
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/responses',
  '/rerank',
  '/moderations',
  '/images/generations',
  '/images/edits',
  '/images/variations',
  '/audio/transcriptions',
  '/audio/translations',
  '/audio/speech',
  '/videos',
  '/remix',
  '/ocr',
  '/search',
  '/rag/query',
  '/rag/ingest',
  ':generateContent',
  ':streamGenerateContent',
].map((suffix) => [suffix, countedRoute('llm', suffix)]);

/** Routes with no suffix of `SUFFIXES`, and their paths. A route has the name of its first path. */
const PATHS_BY_ROUTE: readonly (readonly [route: string, ...aliases: string[]])[] = [
  ['/v1/messages'],
  ['/interactions'],
  ['/v1beta/interactions'],
  // Pass-through calls of these two need no further path. `PROVIDERS` has both for calls with a further path.
  ['/comprehendmedical'],
  ['/transcribe'],
  ['/responses/compact', '/v1/responses/compact'],
  ['/decisions', '/v1/decisions'],
  ['/alt-decisions', '/v1/alt-decisions'],
  ['/systemone', '/v1/systemone'],
];

/** Routes by exact path, so that most requests need one lookup. It includes the usual paths that end in a suffix. */
const EXACT: ReadonlyMap<string, CountedRoute> = new Map([
  ...SUFFIXES.flatMap(([suffix, route]): readonly [string, CountedRoute][] => [
    [`/v1${suffix}`, route],
    [suffix, route],
  ]),
  ...PATHS_BY_ROUTE.flatMap((paths) => {
    const route = countedRoute('llm', paths[0]);
    return paths.map((path): [string, CountedRoute] => [path, route]);
  }),
]);

/** First segments of pass-through paths, by provider. `vertex-ai` and `vertex_ai` are two routes. */
const PROVIDERS: ReadonlyMap<string, CountedRoute> = new Map(
  [
    'bedrock',
    'comprehendmedical',
    'azure_speech',
    'transcribe',
    'vertex-ai',
    'vertex_ai',
    'cohere',
    'cursor',
    'codeagent',
    'gemini',
    'anthropic',
    'azure',
    'azure_ai',
    'openai',
    'openai_passthrough',
    'assemblyai',
    'eu.assemblyai',
    'tinyfish',
    'vllm',
    'mistral',
    'typesafe',
    'laya',
    'bespoke',
    'openrouter',
    'milvus',
    'gigachat',
    'watsonx',
    'nvidia_nim',
    'deepgram',
    'fal_ai',
  ].map((name) => [name, countedRoute('llm', `/${name}`)]),
);

/**
 * Paths of traces and lenses, and of messages from a provider of coding agents. They are no model calls, even if they
 * end in a suffix of `SUFFIXES` or are below the path of a provider.
 */
const NO_CALL = /^\/(?:(?:v1\/)?(?:traces|lens)(?:\/|$)|codeagent\/webhook$)/;

/**
 * Category and route of a request, by its method and path; null when it is not counted. The set of routes is fixed, so
 * that callers cannot add any.
 */
export function countedRouteOf(method: string, target: string): CountedRoute | null {
  // A quick lookup that needs no decoding: most targets are usual paths without a query.
  const routeOfTarget = method === 'POST' ? EXACT.get(target) : undefined;
  if (routeOfTarget !== undefined) return routeOfTarget;
  const path = pathOf(target);
  if (isMcp(path)) return MCP;
  if (path.endsWith('/message/send') && (path.startsWith('/a2a/') || path.startsWith('/v1/a2a/'))) return A2A;
  if (method !== 'POST' || NO_CALL.test(path)) return null;
  const routeOfPath = EXACT.get(path);
  if (routeOfPath !== undefined) return routeOfPath;
  for (const [suffix, route] of SUFFIXES) if (path.endsWith(suffix)) return route;
  const segmentEnd = path.indexOf('/', 1);
  if (segmentEnd === -1) return null;
  const firstSegment = path.slice(1, segmentEnd);
  return PROVIDERS.get(firstSegment) ?? null;
}

function isMcp(path: string): boolean {
  if (path === '/v1/mcp' || path.startsWith('/v1/mcp/')) return false;
  if (path === '/mcp' || path.startsWith('/mcp/') || path === '/mcp-rest/tools/call') return true;
  return path.endsWith('/mcp') && NAMED_MCP.test(path);
}

const SLASH = '/'.charCodeAt(0);

/** The path of a target, decoded, without query and without slashes at its end. */
function pathOf(target: string): string {
  const queryStart = target.indexOf('?');
  let path = queryStart === -1 ? target : target.slice(0, queryStart);
  if (path.includes('%')) path = decoded(path);
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === SLASH) end -= 1;
  return end === path.length ? path : path.slice(0, end);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
