import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { startVideoUpstream, type VideoUpstream } from '../../support/video-upstream.ts';
import { blocks } from './policy-server.ts';

let app: TestApp;
let tools: McpTestUpstream;
let videos: VideoUpstream;

beforeAll(async () => {
  tools = await startMcpUpstream();
  videos = await startVideoUpstream();
  app = await startApp({
    config: {
      guardrails: [blocks('one')],
      policies: { careful: { guardrails: { add: ['one'] } } },
      policy_attachments: [{ policy: 'careful', tags: ['sensitive'] }],
      mcp_servers: { main: { transport: 'http', url: tools.url, allow_all_keys: true } },
      model_list: [
        {
          model_name: 'film',
          litellm_params: { model: 'openai/sora-2', api_base: `${videos.url}/v1`, api_key: 'k' },
        },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await tools.stop();
  await videos.stop();
});

async function newKey(draft: object): Promise<string> {
  return ((await (await app.call('POST', '/key/generate', draft)).json()) as { readonly key: string }).key;
}

const TOOL = { server_id: 'main', name: 'echo', arguments: { text: 'one-word' } };
const VIDEO = { model: 'film', prompt: 'one-word' };

describe.each([
  ['a tool', '/mcp-rest/tools/call', TOOL],
  ['the creation of a video', '/v1/videos', VIDEO],
])('policies that are attached to a tag apply to %s', (_call, path, body) => {
  const statusOf = async (key: string, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}`, ...headers });
    await answer.text();
    return answer.status;
  };

  it('by the tags of the key', async () => {
    expect(await statusOf(await newKey({ metadata: { tags: ['sensitive'] } }))).toBe(400);
    expect(await statusOf(await newKey({ metadata: { tags: ['other'] } }))).toBe(200);
  });

  it('by the tags of the request', async () => {
    const key = await newKey({});
    expect(await statusOf(key, { 'x-litellm-tags': 'other, sensitive' })).toBe(400);
    expect(await statusOf(key, { 'x-litellm-tags': 'other' })).toBe(200);
  });
});
