import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

const execute = promisify(execFile);
const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'provider-apis.md');
const AGENT = { id: 'bc_1', name: 'Repair', status: 'CREATING' };

let upstream: LLMock;
let agents: FaultServer;
let app: TestApp;
let key: string;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  upstream.onMessage('hello', { content: 'Grüß Gott 😀', usage });
  upstream.onEmbedding('hello', { embedding: [0.5, 0.25] });
  await upstream.start();
  agents = await startFaultServer();
  agents.answer((response) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify(AGENT));
  });
  app = await startApp({
    env: {
      OPENAI_API_BASE: upstream.url,
      OPENAI_API_KEY: 'k',
      ANTHROPIC_API_BASE: upstream.url,
      ANTHROPIC_API_KEY: 'k',
      GEMINI_API_BASE: upstream.url,
      GEMINI_API_KEY: 'k',
      AWS_BEDROCK_RUNTIME_ENDPOINT: upstream.url,
      AWS_BEARER_TOKEN_BEDROCK: 'k',
      CURSOR_API_BASE: agents.url,
      CURSOR_API_KEY: 'k',
    },
  });
  const made = await app.call('POST', '/key/generate', { max_budget: 1 });
  ({ key } = (await made.json()) as { key: string });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await agents.stop();
});

/** Commands of the document, in order. */
const snippets = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```bash\n([\s\S]*?)```/g)].map(([, text = '']) => text);

describe('the commands of docs/provider-apis.md answer', () => {
  it.each([
    ['Anthropic', 0, { type: 'message', content: [{ text: 'Grüß Gott 😀' }] }],
    ['Gemini', 1, { candidates: [{ content: { parts: [{ text: 'Grüß Gott 😀' }] } }] }],
    ['Amazon Bedrock', 2, { output: { message: { content: [{ text: 'Grüß Gott 😀' }] } } }],
    ['Cursor', 3, AGENT],
  ])('%s', async (_name, index, answer) => {
    const snippet = (snippets[index] ?? '').replace('http://127.0.0.1:4000', app.url);
    const { stdout } = await execute('bash', ['-euc', snippet], { env: { ...process.env, KEY: key } });
    expect(JSON.parse(stdout)).toMatchObject(answer);
  });
});

describe('SDKs with their base address set to a prefix', () => {
  it('get whole and streamed answers, embeddings and errors: OpenAI', async () => {
    const client = new OpenAI({ baseURL: `${app.url}/openai/v1`, apiKey: key, maxRetries: 0 });
    const body = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'hello' }] };
    const whole = await client.chat.completions.create(body);
    expect(whole.choices[0]?.message.content).toBe('Grüß Gott 😀');
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Grüß Gott 😀');
    const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'hello' });
    expect(data).toHaveLength(1);
    const unknown = client.chat.completions.create({ ...body, messages: [{ role: 'user', content: 'unmatched' }] });
    await expect(unknown).rejects.toThrow(APIError);
  });

  it('get whole and streamed answers: Anthropic', async () => {
    const client = new Anthropic({ baseURL: `${app.url}/anthropic`, apiKey: key, maxRetries: 0 });
    const body = {
      model: 'claude-sonnet-4-5',
      max_tokens: 64,
      messages: [{ role: 'user' as const, content: 'hello' }],
    };
    expect((await client.messages.create(body)).content).toMatchObject([{ type: 'text', text: 'Grüß Gott 😀' }]);
    const streamed = await client.messages.stream(body).finalMessage();
    expect(streamed.content).toMatchObject([{ type: 'text', text: 'Grüß Gott 😀' }]);
  });

  it('get whole and streamed answers: Google', async () => {
    const client = new GoogleGenAI({
      apiKey: key,
      httpOptions: { baseUrl: `${app.url}/gemini`, apiVersion: 'v1beta' },
    });
    const body = { model: 'gemini-2.5-flash', contents: 'hello' };
    expect((await client.models.generateContent(body)).text).toBe('Grüß Gott 😀');
    let text = '';
    for await (const chunk of await client.models.generateContentStream(body)) text += chunk.text ?? '';
    expect(text).toBe('Grüß Gott 😀');
  });

  it('cause spend of their key', async () => {
    const spend = async (): Promise<number> => {
      const info = await app.call('GET', `/key/info?key=${key}`);
      return ((await info.json()) as { info: { spend: number } }).info.spend;
    };
    // A call is recorded after its answer.
    await vi.waitFor(async () => expect(await spend()).toBeGreaterThan(0), POLLING);
  });
});
