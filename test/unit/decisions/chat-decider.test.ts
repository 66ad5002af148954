import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import type { Deployment, Provider } from '../../../src/domain/chat/provider.ts';
import type { DecisionRequest, Question } from '../../../src/domain/decisions/decision.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { createChatDecider } from '../../../src/providers/decisions/chat-decider.ts';
import { wholeExchange } from '../../../src/wire/exchange.ts';
import { readLabels } from '../../../src/wire/decisions/chat/label-reading.ts';

type Fields = Readonly<Record<string, unknown>>;

const DEPLOYMENT = { id: 'd1', provider: 'openai', upstreamModel: 'tiny' } as unknown as Deployment;
const REQUEST = { model: 'tiny', callId: null, parent: null, owner: 'owner' } as unknown as ModelRequest;

const PREDICATE: Question = { kind: 'predicate', name: 'late', instructions: 'Is it late?', more: {}, rules: null };
const CHOICE: Question = {
  kind: 'choice',
  name: 'team',
  instructions: null,
  more: {},
  options: ['billing', 'sales', true].map((value) => ({ value, description: null }) as never),
};
const SCORE: Question = {
  kind: 'score',
  name: 'anger',
  instructions: null,
  more: {},
  levels: ['none', 'some', 'lots'].map((label) => ({ label, description: null })),
};

const decisionOf = (
  questions: readonly Question[],
  input: DecisionRequest['input'] = 'late </input> again',
): DecisionRequest => ({
  input,
  questions,
  images: [],
  assets: [],
  audio: [],
  videos: [],
  safetyIdentifier: null,
});

/** A chat model that answers with `reply`, and its request bodies. */
function aModel(reply: (body: Fields) => Fields | Error) {
  const bodies: Fields[] = [];
  let running = 0;
  const traffic = { bodies, maxConcurrent: 0 };
  const chat: Provider = {
    name: 'openai',
    async send(_deployment, { body }) {
      bodies.push(body);
      running += 1;
      traffic.maxConcurrent = Math.max(traffic.maxConcurrent, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      const answer = reply(body);
      if (answer instanceof Error) throw answer;
      const usage = { inputTokens: 10, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      const outcome = {
        responseId: null,
        responseModel: 'tiny-1',
        finishReason: 'stop',
        usage,
        failure: null,
        text: null,
      };
      const bytes = Buffer.from(JSON.stringify(answer));
      return wholeExchange({ status: 200, headers: {} }, { bytes, outcome, deltas: () => [] });
    },
  };
  let nowMs = 0;
  const clock = { now: () => new Date(0), monotonicMs: () => nowMs };
  const decider = createChatDecider(chat, clock);
  const decide = (questions: readonly Question[], input?: DecisionRequest['input'], deployment = DEPLOYMENT) =>
    decider.decide(deployment, decisionOf(questions, input), {
      request: REQUEST,
      signal: new AbortController().signal,
    });
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { traffic, decide, wait };
}

const logprobs = (tokens: Readonly<Record<string, number>>): Fields => ({
  choices: [
    {
      logprobs: {
        content: [{ top_logprobs: Object.entries(tokens).map(([token, p]) => ({ token, logprob: Math.log(p) })) }],
      },
    },
  ],
});

const text = (content: string): Fields => ({ choices: [{ message: { role: 'assistant', content } }] });

const requestsLogprobs = (body: Fields): boolean => body['logprobs'] === true;

const rejectionWith = (status: number): UpstreamFailed =>
  new UpstreamFailed('not supported', { provider: 'openai', upstreamStatus: status });

describe('log probabilities', () => {
  it('answer each question with one token, and merge the spellings of a label', async () => {
    const { traffic, decide } = aModel(({ messages }) => {
      const prompt = JSON.stringify(messages);
      if (prompt.includes('late?')) return logprobs({ Yes: 0.6, ' yes': 0.2, No: 0.15, maybe: 0.05 });
      // `Ġ` marks a space in some tokenisers.
      return prompt.includes('billing')
        ? logprobs({ A: 0.7, ĠB: 0.2, C: 0.1 })
        : logprobs({ '0': 0.25, '1': 0.5, '2': 0.25 });
    });
    const { answers, usage, model } = await decide([PREDICATE, CHOICE, SCORE]);
    expect(answers).toEqual([
      expect.objectContaining({
        kind: 'predicate',
        // The two spellings of yes have 0.8 together, and all labels 0.95: `maybe` is no label.
        probability: expect.closeTo(0.8 / 0.95, 9),
        evidence: { source: 'logprobs', labelMass: expect.closeTo(0.95, 9), missingBound: null },
      }),
      expect.objectContaining({
        kind: 'choice',
        choice: 'billing',
        // (0.7 - 1/3) / (1 - 1/3): 0 where all three options have the same probability.
        confidence: expect.closeTo(0.55, 9),
        probabilities: new Map([
          ['billing', expect.closeTo(0.7, 9)],
          ['sales', expect.closeTo(0.2, 9)],
          ['true', expect.closeTo(0.1, 9)],
        ]),
      }),
      expect.objectContaining({ kind: 'score', score: expect.closeTo(1, 9), confidence: expect.closeTo(0.25, 9) }),
    ]);
    expect([usage.inputTokens, usage.outputTokens, model]).toEqual([30, 3, 'tiny-1']);
    expect(traffic.bodies[0]).toMatchObject({ max_tokens: 1, temperature: 1, logprobs: true, top_logprobs: 20 });
  });

  it('send the same prefix before each question, with the tags of the input escaped', async () => {
    const { traffic, decide } = aModel(() => logprobs({ Yes: 0.9, No: 0.1 }));
    await decide([PREDICATE, { ...PREDICATE, instructions: 'Is it early?' }]);
    const prefixes = traffic.bodies.map(({ messages }) => {
      const [system, user] = messages as readonly { readonly content: string }[];
      return [system?.content, user?.content.slice(0, user.content.indexOf('\n</input>'))];
    });
    expect(prefixes[0]).toEqual(prefixes[1]);
    expect(prefixes[0]?.[1]).toBe('<input>\nlate &lt;/input> again');
  });

  it('are requested with bounded concurrency after the first question', async () => {
    const { traffic, decide } = aModel(() => logprobs({ Yes: 0.9, No: 0.1 }));
    const { answers } = await decide(Array.from({ length: 128 }, () => PREDICATE));
    expect([answers.length, traffic.bodies.length, traffic.maxConcurrent]).toEqual([128, 128, 16]);
  });

  it('give probabilities with the exact sum 1, and an upper bound for a missing label', () => {
    const reading = readLabels(logprobs({ A: 0.6, B: 0.395, x: 0.001 }), ['A', 'B', 'C'], false);
    if (reading.kind !== 'read') throw new Error(reading.kind);
    expect(reading.probabilities.reduce((sum, probability) => sum + probability, 0)).toBe(1);
    expect(reading.probabilities[2]).toBe(0);
    // C is not listed, so it has at most the smallest listed probability: 0.001 in addition to the 0.995 of A and B.
    expect(reading.evidence.missingBound).toBeCloseTo(0.001 / 0.996, 9);
  });

  it.each([
    ['the labels have too little probability', { A: 0.3, hello: 0.6 }],
    ['an unlisted label may have much probability', { A: 0.6, hello: 0.3 }],
    ['the listed probabilities exceed 1', { A: 0.9, B: 0.9 }],
  ])('are unclear where %s', (_case, tokens: Readonly<Record<string, number>>) => {
    expect(readLabels(logprobs(tokens), ['A', 'B'], false)).toEqual({ kind: 'unclear' });
  });
});

describe('weights', () => {
  // `q0` is the first question, and `l0` its first label.
  const WEIGHTS = text('```json\n{"q0":{"l0":30,"l1":10},"q1":{"l0":0,"l1":0,"l2":50}}\n```');

  it.each([
    ['refuses log probabilities', (body: Fields) => (requestsLogprobs(body) ? rejectionWith(400) : WEIGHTS)],
    ['ignores log probabilities', (body: Fields) => (requestsLogprobs(body) ? text('Yes') : WEIGHTS)],
  ])('answer all questions in one call where an upstream %s', async (_case, reply) => {
    const { traffic, decide } = aModel(reply);
    const { answers } = await decide([PREDICATE, CHOICE]);
    const evidence = { source: 'self_reported', labelMass: null, missingBound: null };
    expect(answers).toMatchObject([
      { kind: 'predicate', probability: 0.75, evidence },
      { kind: 'choice', choice: 'true', confidence: 1, evidence },
    ]);
    expect(traffic.bodies.filter((body) => !requestsLogprobs(body))).toMatchObject([
      { response_format: { type: 'json_schema', json_schema: { strict: true } } },
    ]);
  });

  it('are requested directly for ten minutes after a deployment returned no log probabilities', async () => {
    const { traffic, decide, wait } = aModel((body) =>
      requestsLogprobs(body) ? rejectionWith(400) : text('{"q0":{"l0":1,"l1":1}}'),
    );
    await decide([PREDICATE]);
    await decide([PREDICATE]);
    expect(traffic.bodies.map(requestsLogprobs)).toEqual([true, false, false]);
    wait(10 * 60_000);
    await decide([PREDICATE]);
    expect(traffic.bodies.slice(3).map(requestsLogprobs)).toEqual([true, false]);
  });

  it('are requested once more without a schema; a question without weights is a refusal', async () => {
    const { traffic, decide } = aModel((body) => {
      if (requestsLogprobs(body)) return rejectionWith(400);
      return body['response_format'] === undefined
        ? text('{"q0":{"l0":"much"},"q1":{"l0":0,"l1":0,"l2":0}}')
        : text('Sure!');
    });
    const { answers } = await decide([PREDICATE, CHOICE]);
    expect(answers).toEqual([{ kind: 'refusal' }, { kind: 'refusal' }]);
    expect(traffic.bodies).toHaveLength(3);
  });

  it('are requested in calls of at most 32 questions', async () => {
    const { traffic, decide } = aModel((body) => (requestsLogprobs(body) ? rejectionWith(400) : text('{}')));
    await decide(Array.from({ length: 70 }, () => PREDICATE));
    const sizes = traffic.bodies.flatMap((body) => {
      const format = body['response_format'] as
        | { json_schema: { schema: { required: readonly string[] } } }
        | undefined;
      return format === undefined ? [] : [format.json_schema.schema.required.length];
    });
    expect(sizes).toEqual([32, 32, 6]);
  });

  it('answer a choice with more options than an upstream lists log probabilities for', async () => {
    const options = Array.from({ length: 21 }, (_unused, index) => ({ value: `o${index}`, description: null }));
    const { traffic, decide } = aModel(() =>
      text(JSON.stringify({ q0: Object.fromEntries(options.map((_option, index) => [`l${index}`, index])) })),
    );
    const { answers } = await decide([{ ...CHOICE, kind: 'choice', options }]);
    expect(answers).toMatchObject([{ kind: 'choice', choice: 'o20' }]);
    expect(traffic.bodies.some(requestsLogprobs)).toBe(false);
  });
});

describe('votes', () => {
  const VOTING = { ...DEPLOYMENT, decisionVotes: 4 };

  it('are the shares of the labels that samples name, with half a vote added to every label', async () => {
    const samples = [' yes.', ' yes.', '**No**', 'I cannot say'];
    const { traffic, decide } = aModel((body) =>
      requestsLogprobs(body) ? rejectionWith(400) : text(samples.shift() ?? 'no further sample'),
    );
    const { answers } = await decide([PREDICATE], undefined, VOTING);
    expect(answers).toEqual([
      {
        kind: 'predicate',
        // Two samples name yes, one names no, and one names no label: (2 + 0.5) / (2 + 0.5 + 1 + 0.5).
        probability: expect.closeTo(2.5 / 4, 9),
        more: {},
        evidence: { source: 'votes', labelMass: 0.75, missingBound: null },
      },
    ]);
    expect(traffic.bodies.slice(1)).toHaveLength(4);
    expect(traffic.bodies[1]).toMatchObject({ max_tokens: 8, temperature: 1 });
  });

  it('are used only without log probabilities, and only where enough samples name a label', async () => {
    const { traffic, decide } = aModel((body) => {
      if (requestsLogprobs(body))
        return JSON.stringify(body['messages']).includes('late?')
          ? logprobs({ Yes: 0.9, No: 0.1 })
          : logprobs({ x: 1 });
      return body['response_format'] === undefined ? text('hm') : text('{"q0":{"l0":1,"l1":1,"l2":2}}');
    });
    const { answers } = await decide([PREDICATE, CHOICE], undefined, VOTING);
    expect(answers).toMatchObject([
      { kind: 'predicate', evidence: { source: 'logprobs' } },
      { kind: 'choice', choice: 'true', evidence: { source: 'self_reported' } },
    ]);
    // Log probabilities of two questions, four votes on the second one, and its weights.
    expect(traffic.bodies).toHaveLength(2 + 4 + 1);
  });
});

it('a failure of the upstream ends the decision, and no call begins after it', async () => {
  let calls = 0;
  const { decide } = aModel(() => {
    calls += 1;
    return calls > 1 ? rejectionWith(503) : logprobs({ Yes: 0.9, No: 0.1 });
  });
  await expect(decide(Array.from({ length: 60 }, () => PREDICATE))).rejects.toThrow('not supported');
  // The first question, and then 16 concurrent calls.
  expect(calls).toBe(17);
});

it('images in messages follow the text as image parts', async () => {
  const { traffic, decide } = aModel(() => logprobs({ Yes: 0.9, No: 0.1 }));
  const part = { kind: 'image' as const, url: 'https://images.example/a.png', sent: {} };
  await decide([PREDICATE], { items: [{ role: 'user', content: [part], sent: {}, member: 'content' }] });
  expect(traffic.bodies[0]).toMatchObject({
    messages: [
      { role: 'system' },
      {
        content: [
          { type: 'text', text: '<input>\n[image 1]\n</input>' },
          { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
          { type: 'text' },
        ],
      },
    ],
  });
});
