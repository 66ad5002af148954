import { describe, expect, it } from 'vitest';
import { countedRouteOf } from '../../../src/domain/gateway-activity/classifier.ts';
import { restRoutes } from '../../../src/http/routes.ts';

const categoryAndRouteOf = (method: string, path: string): string | null => {
  const route = countedRouteOf(method, path);
  return route === null ? null : `${route.category} ${route.route}`;
};

/** A path of a route: `x` in place of each parameter, or a model and its action where the route requires an action. */
const examplePath = (name: string, path: string): string =>
  path.replaceAll(/:[a-z]\w*|\{?\*\w+\}?/gi, name === 'content.generate' ? 'x:generateContent' : 'x');

describe('the category and route of a request', () => {
  it.each([
    ['POST', '/v1/chat/completions', 'llm /chat/completions'],
    ['POST', '/chat/completions', 'llm /chat/completions'],
    ['POST', '/chat/completions?x=/embeddings', 'llm /chat/completions'],
    ['POST', '/v1/chat/completions///', 'llm /chat/completions'],
    ['POST', '/openai/deployments/x/chat/completions', 'llm /chat/completions'],
    ['POST', '/cursor/chat/completions', 'llm /chat/completions'],
    ['POST', '/zzz/chat/completions', 'llm /chat/completions'],
    ['POST', '/v1/completions', 'llm /completions'],
    ['POST', '/v1/responses', 'llm /responses'],
    ['POST', '/v1/responses/compact', 'llm /responses/compact'],
    ['POST', '/v1/messages', 'llm /v1/messages'],
    ['POST', '/anthropic/v1/messages', 'llm /anthropic'],
    ['POST', '/v1/decisions', 'llm /decisions'],
    ['POST', '/alt-decisions', 'llm /alt-decisions'],
    ['POST', '/v1/systemone', 'llm /systemone'],
    ['POST', '/v1beta/models/oa:generateContent', 'llm :generateContent'],
    ['POST', '/v1beta/models/oa%3AstreamGenerateContent', 'llm :streamGenerateContent'],
    ['POST', '/vertex_ai/models/m:generateContent', 'llm :generateContent'],
    ['POST', '/vertex-ai/models/m:predict', 'llm /vertex-ai'],
    ['POST', '/vertex_ai/models/m:predict', 'llm /vertex_ai'],
    ['POST', '/bedrock/model/m/invoke', 'llm /bedrock'],
    ['POST', '/cursor/v0/agents', 'llm /cursor'],
    ['POST', '/codeagent/v0/agents', 'llm /codeagent'],
    ['POST', '/comprehendmedical', 'llm /comprehendmedical'],
    ['POST', '/v1/vector_stores/vs_1/search', 'llm /search'],
    ['GET', '/mcp', 'mcp /mcp'],
    ['POST', '/mcp/', 'mcp /mcp'],
    ['DELETE', '/mcp/session', 'mcp /mcp'],
    ['POST', '/github/mcp', 'mcp /mcp'],
    ['POST', '/toolset/t1/mcp', 'mcp /mcp'],
    ['POST', '/mcp-rest/tools/call', 'mcp /mcp'],
    ['POST', '/a2a/agent/message/send', 'a2a /a2a'],
    ['POST', '/v1/a2a/agent/message/send', 'a2a /a2a'],
  ])('for %s %s are %s', (method, path, expected) => {
    expect(categoryAndRouteOf(method, path)).toBe(expected);
  });

  it.each([
    ['GET', '/v1/chat/completions'],
    ['OPTIONS', '/v1/chat/completions'],
    ['POST', '/messages'],
    ['POST', '/v1/messages/count_tokens'],
    ['POST', '/claude_code_gateway/v1/messages'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['POST', '/v1/batches'],
    ['POST', '/v1/files'],
    ['POST', '/v1/threads/t1/messages'],
    ['POST', '/langfuse/api/public/ingestion'],
    ['POST', '/anthropic'],
    ['POST', '/v1/traces/search'],
    ['POST', '/lens/1/runs'],
    ['POST', '/a2a/agent'],
    ['GET', '/v1/mcp'],
    ['POST', '/v1/mcp/server'],
    ['GET', '/mcp-rest/tools/list'],
    ['POST', '/a/b/mcp'],
    ['GET', '/cursor/v0/me'],
    ['GET', '/codeagent/v0/agents'],
    ['POST', '/codeagent/webhook'],
    ['POST', '/'],
    ['POST', '/%'],
  ])('are null for %s %s, which is not counted', (method, path) => {
    expect(categoryAndRouteOf(method, path)).toBeNull();
  });

  it('are the same object for two paths of one route', () => {
    expect(countedRouteOf('POST', '/v1/embeddings')).toBe(countedRouteOf('POST', '/embeddings'));
  });
});

/** Names of the rows that call models. They are counted at all their paths, as `llm`. */
const MODEL_CALLS: ReadonlySet<string> = new Set([
  'chat.completions',
  'completions.create',
  'embeddings.create',
  'moderations.create',
  'rerank.create',
  'speech.create',
  'transcriptions.create',
  'translations.create',
  'images.generate',
  'images.edit',
  'images.variation',
  'responses.create',
  'responses.compact',
  'messages.create',
  'content.generate',
  'interactions.create',
  'decisions.create',
  'decisions.systemOne',
  'ide.chat',
  'forwarded.post',
  'forwardedGemini.post',
  'providerStores.search',
  'rag.query',
  'search.call',
  'videos.create',
  'videos.remix',
  'ocr.create',
]);

/** Name of the row that is counted as `llm` and relays no answer of an upstream. */
const INGEST = 'rag.ingest';

/** Names of the rows of MCP clients, which are counted as `mcp`. */
const MCP_CALLS: ReadonlySet<string> = new Set([
  'mcpProtocol.send',
  'mcpProtocol.listen',
  'mcpProtocol.end',
  'mcpTools.call',
]);
/** Paths of messages to A2A agents. */
const A2A_MESSAGE = /^\/(?:v1\/)?a2a\/x\/message\/send$/;

/** Names of the other POST rows that call an upstream. They are counted at some of their paths, or at none. */
const OTHER_UPSTREAM_CALLS: ReadonlySet<string> = new Set([
  'responses.inputTokens',
  'responses.cancel',
  'interactions.cancel',
  'messages.countTokens',
  'files.create',
  'batches.create',
  'batches.cancel',
  'codingAgents.post',
  'a2a.call',
  'providerStores.create',
  'providerStores.update',
  'storeFiles.create',
  'storeFiles.update',
  'storeBatches.create',
  'storeBatches.cancel',
  'search.callTool',
  'prompts.test',
  'containers.create',
  'containerFiles.create',
  'fineTuningJobs.create',
  'fineTuningJobs.cancel',
  'fineTuningJobs.pause',
  'fineTuningJobs.resume',
  'evals.create',
  'evals.update',
  'evalRuns.create',
  'evalRuns.cancel',
  'skills.create',
  'skillVersions.create',
]);

/** All POST requests below the path of a provider are counted as `llm`. */
const BELOW_PROVIDER = /^\/(?:openai|anthropic|cursor|codeagent)\/(?!webhook$)/;

function categoryOf(name: string, method: string, path: string): string | null {
  if (MCP_CALLS.has(name)) return 'mcp';
  if (A2A_MESSAGE.test(examplePath(name, path))) return 'a2a';
  return MODEL_CALLS.has(name) || name === INGEST || (method === 'POST' && BELOW_PROVIDER.test(path)) ? 'llm' : null;
}

describe('the rows', () => {
  const rows = restRoutes();
  const paths = rows.flatMap(({ name, method, paths: pathsOfRow }) =>
    pathsOfRow.map((path) => {
      return { name, method, category: categoryOf(name, method, path), path: examplePath(name, path) };
    }),
  );
  it.each(paths)('for $method $path ($name) have the category $category', ({ method, path, category }) => {
    expect(countedRouteOf(method, path)?.category ?? null).toBe(category);
  });

  it('with POST that call an upstream are all listed, as model calls or as others', () => {
    const calling = rows.filter(({ method, relays }) => method === 'POST' && relays !== undefined);
    expect(calling.map(({ name }) => name).toSorted()).toEqual([...MODEL_CALLS, ...OTHER_UPSTREAM_CALLS].toSorted());
  });
});
