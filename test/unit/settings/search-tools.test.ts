import { describe, expect, it } from 'vitest';
import { faultsFrom } from '../../support/read-settings.ts';

/** Entries with the fault of each. */
const FAULTY: readonly (readonly [string, string])[] = [
  ['{ litellm_params: { search_provider: tavily } }', 'search_tools.0.search_tool_name: '],
  ['{ search_tool_name: a }', 'search_tools.0.litellm_params: '],
  ['{ search_tool_name: a, litellm_params: {} }', 'search_tools.0.litellm_params.search_provider: '],
  [
    '{ search_tool_name: a, litellm_params: { search_provider: tavily, api_base: "ftp://h" } }',
    'search_tools.0.litellm_params.api_base: must be an http:// or https:// address',
  ],
  [
    '{ search_tool_name: a, litellm_params: { search_provider: tavily, timeout: 0 } }',
    'search_tools.0.litellm_params.timeout: ',
  ],
  [
    '{ search_tool_name: a, litellm_params: { search_provider: tavily, input_cost_per_query: "much" } }',
    'search_tools.0.litellm_params.input_cost_per_query: must be a price in USD',
  ],
  [
    '{ search_tool_name: a, litellm_params: { search_provider: tavily, api_key: os.environ/UNSET } }',
    'search_tools.0.litellm_params.api_key: ',
  ],
];

describe('search_tools of the file', () => {
  it.each(FAULTY)('have one fault for the entry %s', (entry, fault) => {
    const faults = faultsFrom({ yaml: `search_tools:\n  - ${entry}\n` });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`config.yaml:2: ${fault}`);
  });
});
