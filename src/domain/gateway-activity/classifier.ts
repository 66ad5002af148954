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

/** `/<server>/mcp` and `/toolset/<name>/mcp`. */
const NAMED_MCP = /^\/(?:toolset\/)?[^/]+\/mcp$/;

/** Ends of paths: the first that matches is the route. */
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

/**
 * Exact paths and their routes. It repeats the usual paths of `SUFFIXES`, so that most requests need one lookup. Each
 * further list has the paths of one route, which is named by the first of them.
 */
const EXACT: ReadonlyMap<string, CountedRoute> = new Map([
  ...SUFFIXES.flatMap(([suffix, route]): readonly [string, CountedRoute][] => [
    [`/v1${suffix}`, route],
    [suffix, route],
  ]),
  ...[
    ['/v1/messages'],
    ['/interactions'],
    ['/v1beta/interactions'],
    ['/comprehendmedical'],
    ['/transcribe'],
    ['/responses/compact', '/v1/responses/compact'],
    ['/decisions', '/v1/decisions'],
    ['/alt-decisions', '/v1/alt-decisions'],
    ['/systemone', '/v1/systemone'],
  ].flatMap((paths) => paths.map((path): [string, CountedRoute] => [path, countedRoute('llm', paths[0] ?? path)])),
]);

/** First segments of providers that requests pass through to. `vertex-ai` and `vertex_ai` stay two routes. */
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

/** Paths of this server that may end like those of a model call, but are not model calls. */
const OWN_READS = /^\/(?:v1\/)?(?:traces|lens)(?:\/|$)/;

/**
 * Category and route of a request, by its method and path; null when it is not counted. The set of routes is fixed, so
 * that callers cannot add any.
 */
export function countedRouteOf(method: string, target: string): CountedRoute | null {
  // Most targets are usual paths without a query: they need no decoding.
  const routeOfTarget = method === 'POST' ? EXACT.get(target) : undefined;
  if (routeOfTarget !== undefined) return routeOfTarget;
  const path = pathOf(target);
  if (isMcp(path)) return MCP;
  if (path.endsWith('/message/send') && (path.startsWith('/a2a/') || path.startsWith('/v1/a2a/'))) return A2A;
  if (method !== 'POST' || OWN_READS.test(path)) return null;
  const routeOfPath = EXACT.get(path);
  if (routeOfPath !== undefined) return routeOfPath;
  for (const [suffix, route] of SUFFIXES) if (path.endsWith(suffix)) return route;
  const end = path.indexOf('/', 1);
  return end === -1 ? null : (PROVIDERS.get(path.slice(1, end)) ?? null);
}

function isMcp(path: string): boolean {
  if (path === '/v1/mcp' || path.startsWith('/v1/mcp/')) return false;
  if (path === '/mcp' || path.startsWith('/mcp/') || path === '/mcp-rest/tools/call') return true;
  return path.endsWith('/mcp') && NAMED_MCP.test(path);
}

/** The path of a target, decoded, without query and without slashes at its end. */
function pathOf(target: string): string {
  const mark = target.indexOf('?');
  let path = mark === -1 ? target : target.slice(0, mark);
  if (path.includes('%')) path = decoded(path);
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === SLASH) end -= 1;
  return end === path.length ? path : path.slice(0, end);
}

const SLASH = 47;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
