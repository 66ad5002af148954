import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, type ToolSet } from 'ai';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASES, type ScratchDatabase } from '../ports/engines.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

/** Models whose upstreams are not called through the Responses API. */
const MODELS = ['of-openai', 'of-anthropic', 'of-google'] as const;
const WEATHER = { city: 'Wien', sky: 'clear' };

let upstream: LLMock;

/** Turns that the upstream received, read from its answer. */
const receivedTurns = (text: string): readonly unknown[] => JSON.parse(text) as readonly unknown[];

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.on(
    { userMessage: 'weather', hasToolResult: false },
    { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Wien"}' }] },
  );
  // Other requests are answered with their messages, so that a test can check what the upstream received.
  upstream.on({ predicate: () => true }, ({ messages }) => ({
    content: JSON.stringify(
      messages.map(({ role, content, tool_calls: calls }) => [
        role,
        calls?.map((call) => call.function.name) ?? content,
      ]),
    ),
  }));
  await upstream.start();
});

afterAll(() => upstream.stop());

function startWithModels(env: Record<string, string>, dataDir?: string): Promise<TestApp> {
  const api = { api_key: 'upstream-credential-0123456789' };
  return startApp({
    env,
    ...(dataDir === undefined ? {} : { dataDir }),
    config: {
      litellm_settings: { drop_params: true },
      model_list: [
        {
          model_name: 'of-openai',
          litellm_params: { model: 'openai/chat_completions/gpt-4o', api_base: `${upstream.url}/v1`, ...api },
        },
        {
          model_name: 'of-anthropic',
          litellm_params: { model: 'anthropic/claude-sonnet-4-5', api_base: upstream.url, ...api },
        },
        {
          model_name: 'of-google',
          litellm_params: { model: 'gemini/gemini-2.5-flash', api_base: upstream.url, ...api },
        },
      ],
    },
  });
}

const TOOLS: ToolSet = {
  get_weather: {
    description: 'Tells the weather.',
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    execute: async () => WEATHER,
  },
};

for (const engine of DATABASES)
  describe.skipIf(engine.skipReason !== null)(`responses stored in ${engine.name}`, () => {
    let scratch: ScratchDatabase | null = null;
    let env: Record<string, string> = {};
    let app: TestApp;
    let openai: OpenAI;

    beforeAll(async () => {
      if (engine.name === 'postgresql') {
        scratch = await engine.create();
        env = { DATABASE_URL: scratch.options.databaseUrl ?? '' };
      }
      app = await startWithModels(env);
      openai = clientOf(app);
    });

    afterAll(async () => {
      await app.stop();
      await scratch?.remove();
    });

    const clientOf = ({ url, adminKey }: TestApp): OpenAI =>
      new OpenAI({ apiKey: adminKey, baseURL: `${url}/v1`, maxRetries: 0 });

    describe.each(MODELS)('the official SDK, with a model %s', (model) => {
      it('continues a conversation over three turns, the last one streamed', async () => {
        const first = await openai.responses.create({ model, input: 'One', instructions: 'Count.' });
        const second = await openai.responses.create({ model, input: 'Two', previous_response_id: first.id });
        const stream = openai.responses.stream({ model, input: 'Three', previous_response_id: second.id });
        const third = await stream.finalResponse();
        const turns = receivedTurns(third.output_text);
        // Instructions apply to one response only.
        const system = turns.filter((turn) => Array.isArray(turn) && turn[0] === 'system');
        expect(system).toEqual([]);
        expect(turns).toEqual([
          ['user', 'One'],
          ['assistant', first.output_text],
          ['user', 'Two'],
          ['assistant', second.output_text],
          ['user', 'Three'],
        ]);
        expect(third.previous_response_id).toBe(second.id);
        expect(await openai.responses.retrieve(third.id)).toMatchObject({
          id: third.id,
          status: 'completed',
          output_text: third.output_text,
          store: true,
        });
      });

      it('lists input items in pages, does not cancel a complete response, and deletes it', async () => {
        const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }));
        const { id } = await openai.responses.create({ model, input });
        const texts: unknown[] = [];
        for await (const item of openai.responses.inputItems.list(id, { limit: 2, order: 'asc' }))
          texts.push('content' in item ? item.content : item);
        expect(texts).toEqual(['a', 'b', 'c'].map((text) => [{ type: 'input_text', text }]));
        await expect(openai.responses.cancel(id)).rejects.toBeInstanceOf(BadRequestError);
        await openai.responses.delete(id);
        await expect(openai.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
      });

      it('lets the AI SDK refer to items of the first turn in the second one, with tool calls', async () => {
        const sentBodies: string[] = [];
        const provider = createOpenAI({
          apiKey: app.adminKey,
          baseURL: `${app.url}/v1`,
          fetch(input, init) {
            sentBodies.push(typeof init?.body === 'string' ? init.body : '');
            return fetch(input, init);
          },
        });
        const options = { model: provider(model), tools: TOOLS, stopWhen: stepCountIs(3), maxRetries: 0 } as const;
        const messages: ModelMessage[] = [{ role: 'user', content: 'weather' }];
        const first = await generateText({ ...options, messages });
        expect(first.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
        messages.push(...first.responseMessages, { role: 'user', content: 'Thanks' });
        const second = streamText({ ...options, messages });
        expect(receivedTurns(await second.text)).toEqual([
          ['user', 'weather'],
          ['assistant', ['get_weather']],
          ['tool', JSON.stringify(WEATHER)],
          ['assistant', first.text],
          ['user', 'Thanks'],
        ]);
        const { input } = JSON.parse(sentBodies.at(-1) ?? '') as {
          readonly input: readonly { readonly type?: string }[];
        };
        // The SDK refers only to the text of the first turn. It sends the tool call whole.
        expect(input.filter(({ type }) => type === 'item_reference')).toHaveLength(1);
      });
    });

    it('survive a restart, and continue with another model', async () => {
      const first = await openai.responses.create({ model: 'of-anthropic', input: 'One' });
      const { dataDir } = app;
      await app.stop({ keepData: true });
      app = await startWithModels(env, dataDir);
      openai = clientOf(app);
      expect((await openai.responses.retrieve(first.id)).output_text).toBe(first.output_text);
      const body = { model: 'of-google', input: 'Two', previous_response_id: first.id };
      const second = await openai.responses.create(body);
      expect(receivedTurns(second.output_text)).toEqual([
        ['user', 'One'],
        ['assistant', first.output_text],
        ['user', 'Two'],
      ]);
    });
  });

/** A Python that has the `openai` package. */
const python = process.env['LENSGATE_TEST_PYTHON'] ?? '';
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (python === '') console.warn('SKIPPED: LENSGATE_TEST_PYTHON is not set: no Python client continues a response.');

const SCRIPT = fileURLToPath(new URL('clients-stored-responses.py', import.meta.url));

describe.skipIf(python === '')('stored responses, with the official client of Python', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startWithModels({});
  });
  afterAll(() => app.stop());

  it('are continued, retrieved, listed and deleted', async () => {
    const { stdout } = await promisify(execFile)(python, [SCRIPT, app.url, app.adminKey, 'of-anthropic']);
    const { last, ...results } = JSON.parse(stdout) as { readonly last: string };
    expect(receivedTurns(last).map((turn) => (Array.isArray(turn) ? turn[0] : turn))).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    // `same`: the retrieved response equals the streamed response. `items`: the texts of its own input.
    expect(results).toEqual({
      same: true,
      items: ['Three'],
      cancelled: ['BadRequestError', 400],
      deleted: ['NotFoundError', 404],
    });
  });
});
