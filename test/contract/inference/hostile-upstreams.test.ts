import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostileUpstream, ODD_ANSWERS, SHAPES, startHostileUpstream } from '../../support/hostile-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let upstream: HostileUpstream;
let app: TestApp;

beforeAll(async () => {
  upstream = await startHostileUpstream();
  // Only the deployment that never answers has a short timeout: other answers may take long on a busy machine.
  const deployment = (name: string, timeout: number) => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}`,
      use_chat_completions_api: true,
      api_base: `${upstream.url}/v1`,
      api_key: 'sk-upstream-secret',
      timeout,
    },
  });
  app = await startApp({
    config: {
      model_list: [deployment('*', 60), deployment('silence', 0.5)],
      general_settings: { upstream_silence_seconds: 1.5, demo_model: false },
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const MESSAGES = [{ role: 'user', content: 'x' }];
/** The same call in the dialect of the upstream, and in two dialects that are translated. */
const DIALECTS = {
  '/v1/chat/completions': { messages: MESSAGES },
  '/v1/messages': { messages: MESSAGES, max_tokens: 9 },
  '/v1/responses': { input: 'x' },
} as const;

async function ask(path: string, body: object) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') ?? '' };
}

/** Data of every event except `[DONE]`. Throws for invalid JSON. */
const eventsOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);

/** Outcome for the caller: `answer` with the text `hello`, `failure` with an error, else a description. */
function outcomeOf({ status, text, type }: Awaited<ReturnType<typeof ask>>, stream: boolean): string {
  if (text.includes('sk-upstream-secret')) return 'the secret';
  if (status !== 200) {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; type?: unknown } };
    return typeof error?.message === 'string' && error.message !== '' ? 'failure' : `no failure: ${text}`;
  }
  if (!stream)
    return JSON.stringify(JSON.parse(text)).includes('"hello"') ? 'answer' : `no answer: ${text.slice(0, 300)}`;
  if (!type.startsWith('text/event-stream')) return `no stream: ${text.slice(0, 300)}`;
  const events = eventsOf(text);
  const last = events.at(-1) ?? {};
  if ('error' in last || last['type'] === 'error' || last['type'] === 'response.failed') return 'failure';
  // The upstream streams `hello` in two pieces. Some dialects repeat the whole text at the end.
  const content = [...text.matchAll(/"(?:content|text|delta)":"(hel|lo)"/g)].map(([, piece]) => piece).join('');
  return content.startsWith('hello') ? 'answer' : `no answer: ${text.slice(0, 300)}`;
}

const CASES = Object.entries(SHAPES).flatMap(([shape, { whole, stream }]) => [
  ...(whole === null ? [] : [{ shape, stream: false, outcome: whole }]),
  ...(stream === null ? [] : [{ shape, stream: true, outcome: stream }]),
]);

/** Cases without an answer wait for timeouts, so those of one dialect are called at the same time. */
const isSilent = ({ shape }: { readonly shape: string }): boolean => shape.startsWith('silence');

describe.each(Object.entries(DIALECTS))('a call of %s to an upstream that answers with', (path, body) => {
  async function check({ shape, stream, outcome }: (typeof CASES)[number]): Promise<void> {
    const answer = await ask(path, { ...body, model: shape, stream });
    expect(outcomeOf(answer, stream)).toBe(outcome);
    const next = await ask(path, { ...body, model: 'honest', stream });
    expect([next.status, next.text.includes('"honest"')]).toEqual([200, true]);
  }
  it.each(CASES.filter((hostile) => !isSilent(hostile)))(
    '$shape (stream: $stream): $outcome, and the next call is answered',
    check,
  );
  it.concurrent.each(CASES.filter(isSilent))(
    '$shape (stream: $stream): $outcome, and the next call is answered',
    check,
  );

  it.each(Object.keys(ODD_ANSWERS))('%s: an answer or a failure, and the next call is answered', async (model) => {
    const answer = await ask(path, { ...body, model });
    const { error } = JSON.parse(answer.text) as { error?: { message?: unknown } | null };
    // An answer has no error, and a failure has a message.
    expect(typeof error?.message).toBe(answer.status === 200 ? 'undefined' : 'string');
    expect(answer.text).not.toContain('sk-upstream-secret');
    const next = await ask(path, { ...body, model: 'honest' });
    expect([next.status, next.text.includes('"honest"')]).toEqual([200, true]);
  });
});

it('the lists have more than 57 hostile answers', () => {
  expect(Object.keys(SHAPES).length + Object.keys(ODD_ANSWERS).length).toBeGreaterThan(57);
});
