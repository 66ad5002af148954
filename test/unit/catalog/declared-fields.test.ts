import { describe, expect, it } from 'vitest';
import { declaredFieldsOf, extraFieldsOf, rowFault } from '../../../src/domain/catalog/declared-fields.ts';

const NOTHING = {
  provider: null,
  mode: null,
  max_input_tokens: null,
  max_output_tokens: null,
  max_tokens: null,
  input_cost_per_token: null,
  output_cost_per_token: null,
  cache_read_input_token_cost: null,
  input_cost_per_audio_token: null,
  output_cost_per_reasoning_token: null,
  deprecation_date: null,
  supports_function_calling: null,
  supports_parallel_function_calling: null,
  supports_vision: null,
  supports_audio_input: null,
  supports_audio_output: null,
  supports_prompt_caching: null,
  supports_reasoning: null,
  supports_response_schema: null,
  supports_system_messages: null,
  supports_web_search: null,
};

describe('the declared fields of an entry', () => {
  it('are null where the row has no value, and have the order in which an answer lists them', () => {
    const fields = declaredFieldsOf({ row: {} });
    expect([fields, Object.keys(fields)]).toEqual([NOTHING, Object.keys(NOTHING)]);
  });
  it('have the provider under the name `provider`, and values that are converted as the reference does', () => {
    const row = {
      litellm_provider: 'xai',
      max_tokens: 2_000_000.0,
      max_input_tokens: '8192.0',
      input_cost_per_token: '1e-6',
      output_cost_per_token: 0,
      supports_vision: 'yes',
      supports_reasoning: 1,
    };
    expect(declaredFieldsOf({ row })).toEqual({
      ...NOTHING,
      provider: 'xai',
      max_tokens: 2_000_000,
      max_input_tokens: 8192,
      input_cost_per_token: 0.000001,
      output_cost_per_token: 0,
      supports_vision: true,
      supports_reasoning: true,
    });
  });
  it('are not among the extra fields; extra fields have the order of the row', () => {
    // `id` and `provider` are names of the response, so members of the row with these names are left out, too.
    const row = { zoom: 1, litellm_provider: 'x', mode: 'chat', id: 'mine', provider: 'mine', alpha: [2] };
    expect(extraFieldsOf({ row })).toEqual([
      ['zoom', 1],
      ['alpha', [2]],
    ]);
  });
});

describe('a value of the wrong type', () => {
  it.each([
    [{ max_tokens: '1e6' }, 'max_tokens is not of type integer'],
    [{ max_tokens: 1.5 }, 'max_tokens is not of type integer'],
    [{ max_tokens: true }, 'max_tokens is not of type integer'],
    [{ input_cost_per_token: 'free' }, 'input_cost_per_token is not of type price'],
    [{ input_cost_per_token: [1] }, 'input_cost_per_token is not of type price'],
    [{ supports_vision: 'maybe' }, 'supports_vision is not of type flag'],
    [{ deprecation_date: 20270101 }, 'deprecation_date is not of type text'],
    [{ litellm_provider: 1 }, 'litellm_provider is not of type text'],
  ])('%j is a fault and is read as null', (row, fault) => {
    expect([rowFault('m', row), declaredFieldsOf({ row })]).toEqual([`entry 'm': ${fault}`, NOTHING]);
  });
  it('is neither a number as text, nor null, nor the value of an undeclared field', () => {
    expect(rowFault('m', { max_tokens: '8192', input_cost_per_token: null, extra: {} })).toBeNull();
  });
});
