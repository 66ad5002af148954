import { expect, it } from 'vitest';
import { modelEntry, toDeployment } from '../../../src/runtime/settings/deployments.ts';

// The last value says which calls use the Responses API upstream: with `only` all calls, with `also` only calls of its
// own dialect. Without a value, the provider decides.
it.each([
  ['openai/x', {}, {}, 'x', undefined],
  ['openai/x', { use_chat_completions_api: true }, { mode: 'responses' }, 'x', 'never'],
  ['openai/x', { use_chat_completions_api: false }, {}, 'x', 'also'],
  ['openai/x', {}, { mode: 'responses' }, 'x', 'only'],
  ['openai/x', {}, { mode: 'chat' }, 'x', undefined],
  ['openai/responses/x/y', {}, {}, 'x/y', 'only'],
  ['openai/chat_completions/x', {}, {}, 'x', 'never'],
])(
  'a deployment selects the OpenAI API of its calls: %s with parameters %j and model_info %j',
  (model, params, info, upstreamModel, responses) => {
    const entry = modelEntry.parse({ model_name: 'm', litellm_params: { model, ...params }, model_info: info });
    expect(toDeployment(entry, { dropParams: false, env: {} })).toMatchObject({ upstreamModel });
    expect(toDeployment(entry, { dropParams: false, env: {} }).responses).toBe(responses);
  },
);
