import { expect, it } from 'vitest';
import { conversationOf } from '../../../src/domain/auto-routers/conversation.ts';
import { CHAT_COMPLETIONS } from '../../../src/domain/inference/endpoint.ts';

const PARTS = 100_000;
/** In ms. Quadratic time, which copies all earlier texts for each part, takes more than 10 s. */
const DEADLINE_MS = 5_000;

it('a turn with very many parts is read in linear time', { timeout: DEADLINE_MS }, () => {
  const content = Array.from({ length: PARTS }, () => ({ type: 'text', text: 'a' }));
  const { userTexts } = conversationOf(CHAT_COMPLETIONS, { messages: [{ role: 'user', content }] });
  expect(userTexts.map((text) => text.length)).toEqual([2 * PARTS - 1]);
});
