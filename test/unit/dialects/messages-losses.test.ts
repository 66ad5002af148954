import { expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { COHERE_OUT } from '../../../src/wire/cohere-chat/native.ts';
import { MESSAGES_IN } from '../../../src/wire/messages/native.ts';
import { OLLAMA_OUT } from '../../../src/wire/ollama-chat/native.ts';
import { RESPONSES_OUT } from '../../../src/wire/responses/native.ts';

const TOOL = { name: 'look', input_schema: { type: 'object' }, strict: true, cache_control: { type: 'ephemeral' } };
const BODY = {
  model: 'm',
  max_tokens: 1,
  tools: [{ ...TOOL, name: 'other', strict: false, cache_control: undefined }, TOOL],
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'blind', is_error: true }] },
  ],
};

it.each([
  ['chat completions', chatCompletionsOut({ maxTokensMember: 'max_tokens' }), []],
  ['Cohere', COHERE_OUT, []],
  ['Ollama', OLLAMA_OUT, ['tools[1].strict']],
  ['responses', RESPONSES_OUT, []],
])('the marks of tools and results that %s does not have are reported as hints', (_name, out, others) => {
  const losses = new Losses();
  out.writeRequest(MESSAGES_IN.readRequest(BODY, losses), losses);
  const hints = ['messages[2].is_error', 'tools[1].cache_control', ...others];
  expect(new Set(losses.all())).toEqual(new Set(hints.map((member) => ({ member, weight: 'hint' }))));
});
