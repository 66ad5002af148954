import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
});
const MESSAGES = [{ role: 'user', content: 'twelve chars' }];
/** Estimated tokens of the prompt: one token for four bytes. */
const PROMPT_TOKENS = 3;

let app: TestApp;
let upstream: FaultServer;
let keyCount = 0;

beforeAll(async () => {
  upstream = await startFaultServer();
  const model = (name: string) => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}-up`,
      api_base: `${upstream.url}/v1`,
      api_key: 'k',
      input_cost_per_token: 0.5,
      output_cost_per_token: 1,
    },
  });
  app = await startApp({
    config: {
      model_list: [model('one'), model('spare')],
      router_settings: { disable_cooldowns: true },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const chunk = (delta: object, members: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'a',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...members,
  })}\n\n`;

interface Row {
  readonly status: string;
  readonly spend: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly model_group: string;
}

async function newKey(): Promise<string> {
  keyCount += 1;
  const answer = await app.call('POST', '/key/generate', { key_alias: `key ${keyCount}` });
  return ((await answer.json()) as { readonly key: string }).key;
}

/** Spend rows of a key. */
async function rowsOf(key: string): Promise<readonly Row[]> {
  const { key: keyHash } = (await (await app.call('GET', `/key/info?key=${key}`)).json()) as { readonly key: string };
  const day = new Date().toISOString().slice(0, 10);
  const period = `start_date=${day}%2000:00:00&end_date=${day}%2023:59:59`;
  const listed = await app.call('GET', `/spend/logs/v2?${period}&api_key=${keyHash}`);
  return ((await listed.json()) as { readonly data: readonly Row[] }).data;
}

/** Waits until all spend rows of a key are stored, and returns them. */
async function storedRows(key: string): Promise<readonly Row[]> {
  await expect.poll(async () => (await rowsOf(key)).length).toBeGreaterThan(0);
  // Records are stored in order, and the next read waits for the record of this later call: all rows are stored then.
  await ask(await newKey(), {});
  const rows = await rowsOf(key);
  return rows.map(({ status, spend, prompt_tokens, completion_tokens, model_group }) => ({
    status,
    spend,
    prompt_tokens,
    completion_tokens,
    model_group,
  }));
}

const answerAll = (): void =>
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(ANSWER);
  });

/** Makes the upstream refuse its first requests with a status, and answer later ones. */
const failFirst = (failureCount: number, status: number): void => {
  let received = 0;
  upstream.answer((response) => {
    received += 1;
    response.writeHead(received <= failureCount ? status : 200, { 'content-type': 'application/json' });
    response.end(received <= failureCount ? '{"error":{"message":"broken"}}' : ANSWER);
  });
};

async function ask(key: string, fields: object, signal?: AbortSignal): Promise<Response> {
  return await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one', messages: MESSAGES, ...fields }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Row of a call with the usage `USAGE`. The call costs 10 × 0.50 USD + 4 × 1 USD. */
const SUCCESS_ROW = { status: 'success', spend: 9, prompt_tokens: 10, completion_tokens: 4, model_group: 'one' };

describe('exactly one spend row is stored', () => {
  it('for a successful call', async () => {
    answerAll();
    const key = await newKey();
    expect((await ask(key, {})).status).toBe(200);
    expect(await storedRows(key)).toEqual([SUCCESS_ROW]);
  });

  it('for a failed call, with a spend of 0', async () => {
    failFirst(9, 400);
    const key = await newKey();
    expect((await ask(key, {})).status).toBe(400);
    answerAll();
    expect(await storedRows(key)).toEqual([expect.objectContaining({ status: 'failure', spend: 0 })]);
  });

  it('for a call that is retried', async () => {
    failFirst(1, 500);
    const key = await newKey();
    expect((await ask(key, { num_retries: 2 })).status).toBe(200);
    expect(await storedRows(key)).toEqual([SUCCESS_ROW]);
  });

  it('for a call that a fallback answers', async () => {
    failFirst(1, 400);
    const key = await newKey();
    expect((await ask(key, { fallbacks: ['spare'] })).status).toBe(200);
    expect(await storedRows(key)).toEqual([{ ...SUCCESS_ROW, model_group: 'spare' }]);
  });

  it('for a stream', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `${chunk({ role: 'assistant', content: '' })}${chunk({ content: 'a' })}${chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${chunk({}, { choices: [], usage: USAGE })}data: [DONE]\n\n`,
      );
    });
    const key = await newKey();
    await (await ask(key, { stream: true })).text();
    answerAll();
    expect(await storedRows(key)).toEqual([SUCCESS_ROW]);
  });

  it('for a stream whose client disconnects in the middle: it costs the prompt and the text so far', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: '' }));
      for (const text of ['a', 'b', 'c']) response.write(chunk({ content: text }));
    });
    const key = await newKey();
    const abort = new AbortController();
    const answer = await ask(key, { stream: true }, abort.signal);
    const reader = answer.body?.getReader();
    let text = '';
    while (!text.includes('"c"')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    abort.abort();
    await upstream.nextDisconnect();
    answerAll();
    expect(await storedRows(key)).toEqual([
      {
        status: 'failure',
        spend: PROMPT_TOKENS * 0.5 + 3,
        prompt_tokens: PROMPT_TOKENS,
        completion_tokens: 3,
        model_group: 'one',
      },
    ]);
  });

  it.each([false, true])(
    'for a call whose client disconnects before the first byte: it costs the prompt (stream: %s)',
    async (stream) => {
      const arrived = Promise.withResolvers<undefined>();
      upstream.answer(() => arrived.resolve(undefined));
      const key = await newKey();
      const abort = new AbortController();
      const answer = ask(key, { stream }, abort.signal);
      await arrived.promise;
      abort.abort();
      await answer.catch(() => {});
      await upstream.nextDisconnect();
      answerAll();
      expect(await storedRows(key)).toEqual([
        {
          status: 'failure',
          spend: PROMPT_TOKENS * 0.5,
          prompt_tokens: PROMPT_TOKENS,
          completion_tokens: 0,
          model_group: 'one',
        },
      ]);
    },
  );

  it('for a stream whose client disconnects after the last token: it costs the reported usage', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: '' }));
      response.write(chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      response.write(chunk({}, { choices: [], usage: USAGE }));
    });
    const key = await newKey();
    const abort = new AbortController();
    const answer = await ask(key, { stream: true, stream_options: { include_usage: true } }, abort.signal);
    const reader = answer.body?.getReader();
    let text = '';
    while (!text.includes('"usage":{')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    abort.abort();
    await upstream.nextDisconnect();
    answerAll();
    expect(await storedRows(key)).toEqual([expect.objectContaining({ spend: 9, completion_tokens: 4 })]);
  });
});
