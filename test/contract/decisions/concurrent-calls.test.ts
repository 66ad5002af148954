import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const QUESTION_COUNT = 128;
/** Maximum concurrent calls of one decision, as in `chat-decider.ts`. */
const CONCURRENCY = 16;

let app: TestApp;
let upstream: FaultServer;
const bodies: string[] = [];
let open = 0;
let mostOpen = 0;

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'tiny-1',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Yes' },
      logprobs: {
        content: [
          {
            token: 'Yes',
            logprob: Math.log(0.75),
            top_logprobs: [
              { token: 'Yes', logprob: Math.log(0.75) },
              { token: 'No', logprob: Math.log(0.25) },
            ],
          },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
});

beforeAll(async () => {
  upstream = await startFaultServer();
  const waiting: (() => void)[] = [];
  upstream.answer((response, _socket, { body }) => {
    bodies.push(body);
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    const answer = (): void => {
      open -= 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(ANSWER);
    };
    waiting.push(answer);
    // The first call is sent alone. Later answers wait until 16 calls are open or all calls have arrived. They are sent
    // 20 ms later, so that a call above the maximum would arrive while 16 are open.
    const isTimeToAnswer = open === CONCURRENCY || bodies.length === 1 || bodies.length === QUESTION_COUNT;
    if (isTimeToAnswer)
      setTimeout(() => {
        for (const sendAnswer of waiting.splice(0)) sendAnswer();
      }, 20);
  });
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'tiny',
          litellm_params: {
            model: 'openai/tiny',
            api_base: upstream.url,
            api_key: 'k',
            use_chat_for_decisions: true,
          },
        },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Length of the common prefix of two texts. */
function commonLength(first: string, second: string): number {
  let length = 0;
  while (length < first.length && first[length] === second[length]) length += 1;
  return length;
}

it('128 questions are sent in 128 calls with equal bytes up to the question, at most 16 at the same time', async () => {
  const questions = Array.from({ length: QUESTION_COUNT }, (_unused, index) => ({
    type: 'predicate',
    name: `q${index}`,
    instructions: `Is part ${index} late?`,
  }));
  const input = 'A parcel with "quotes", ümlauts and a </input> tag. '.repeat(50);
  const response = await app.call('POST', '/v1/decisions', { model: 'tiny', input, questions });
  expect(response.status).toBe(200);
  const { answers } = (await response.json()) as { readonly answers: readonly { readonly name: string }[] };
  expect(answers.map(({ name }) => name)).toEqual(questions.map(({ name }) => name));
  expect([bodies.length, mostOpen]).toEqual([QUESTION_COUNT, CONCURRENCY]);
  const [first = ''] = bodies;
  const shared = Math.min(...bodies.slice(1).map((body) => commonLength(first, body)));
  // The common prefix: input, end of the input, and start of the question.
  expect(first.slice(0, shared)).toContain(`</input>${String.raw`\n\n`}Question: q`);
  expect(Buffer.byteLength(first.slice(0, shared))).toBeGreaterThan(Buffer.byteLength(input));
});
