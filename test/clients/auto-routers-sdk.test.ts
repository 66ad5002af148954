import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  CAPABILITY,
  capabilityAnswer,
  FOUR_TIERS,
  routerModel,
  startTierUpstream,
  tierModel,
  type TierUpstream,
} from '../support/tier-upstream.ts';

let upstream: TierUpstream;
let app: TestApp;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startTierUpstream();
  app = await startApp({
    config: {
      model_list: [
        ...Object.values(FOUR_TIERS).map((name) => tierModel(name, upstream.url)),
        tierModel('judge-1', upstream.url),
        routerModel('smart', { tiers: FOUR_TIERS }),
        routerModel('capable', CAPABILITY),
      ],
    },
  });
  const made = await app.call('POST', '/key/generate', { models: ['smart', 'capable'] });
  const { key } = (await made.json()) as { key: string };
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: key, baseURL: app.url, maxRetries: 0 });
  upstream.judge = capabilityAnswer(0.2);
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});

/** A text with two reasoning markers, which select the tier REASONING. */
const REASONING_TEXT = 'Think step by step and analyze the consequences.';

describe.each([
  ['smart', 'hi', 'tier-s'],
  ['smart', REASONING_TEXT, 'tier-r'],
  ['capable', 'hi', 'tier-r'],
])('the router %s for "%s"', (model, content, tier) => {
  const messages = [{ role: 'user' as const, content }];

  it('answers chats of the OpenAI SDK, whole and streamed, and responses', async () => {
    const whole = await openai.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe(`from ${tier}`);
    const stream = await openai.chat.completions.create({ model, messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(`from ${tier}`);
    const response = await openai.responses.create({ model, input: content });
    expect(response.output_text).toBe(`from ${tier}`);
  });

  it('answers messages of the Anthropic SDK, whole and streamed, and counts tokens', async () => {
    const request = { model, max_tokens: 64, messages };
    const whole = await anthropic.messages.create(request);
    expect(whole.content).toMatchObject([{ type: 'text', text: `from ${tier}` }]);
    const final = await anthropic.messages.stream(request).finalText();
    expect(final).toBe(`from ${tier}`);
    const { input_tokens: tokens } = await anthropic.messages.countTokens({ model, messages });
    expect(tokens).toBeGreaterThan(0);
  });
});
