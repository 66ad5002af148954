import { afterEach, describe, expect, it } from 'vitest';
import { CatalogEntriesDocument, type CatalogEntriesQueryVariables } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-house.ts';

const ENTRIES = [
  anEntry('gpt-4o', {
    max_input_tokens: 128_000,
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    supports_vision: true,
    supports_pdf_input: true,
  }),
  anEntry('gpt-4o-mini', { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, supports_vision: true }),
  anEntry('text-embedding-3', { mode: 'embedding', input_cost_per_token: 2e-8, output_cost_per_token: 0 }),
  anEntry('claude-5', {
    litellm_provider: 'anthropic',
    input_cost_per_token: '3e-06',
    output_cost_per_token: 1.5e-5,
    max_input_tokens: 1_000_000,
    deprecation_date: '2026-12-01',
    supports_pdf_input: true,
  }),
  anEntry('unknown', {}),
];

let house: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => house.close());

/** The ids that are found, in their order. */
async function found(variables: CatalogEntriesQueryVariables): Promise<readonly string[]> {
  const { data } = await house.call(CatalogEntriesDocument, variables, null);
  expect(data.catalogEntries.totalCount).toBeGreaterThanOrEqual(data.catalogEntries.nodes.length);
  return data.catalogEntries.nodes.map(({ id }) => id);
}

describe('what entries must offer', () => {
  it.each<readonly [CatalogEntriesQueryVariables, readonly string[]]>([
    [{ where: {} }, ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'claude-5', 'unknown']],
    [{ where: { maxInputUsdPerMillionTokens: '2.5' } }, ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3']],
    [{ where: { maxOutputUsdPerMillionTokens: '0' } }, ['text-embedding-3']],
    [{ where: { minContextWindow: 128_001 } }, ['claude-5']],
    [{ where: { capabilities: ['PDF_INPUT', 'VISION'] } }, ['gpt-4o']],
    [{ where: { capabilities: ['PDF_INPUT'] }, provider: 'Anthropic' }, ['claude-5']],
    [{ where: { deprecatedBefore: '2027-01-01T00:00:00Z' } }, ['claude-5']],
    [{ where: { notDeprecatedBefore: '2027-01-01T00:00:00Z' }, mode: 'embedding' }, ['text-embedding-3']],
    [{ where: { capabilities: ['VISION'] }, supportsVision: false }, []],
  ])('%j finds %j', async (variables, expected) => {
    house = await openGraph({ entries: ENTRIES });
    expect(await found(variables)).toEqual(expected);
  });

  it.each<readonly [CatalogEntriesQueryVariables, string]>([
    [{ where: { maxInputUsdPerMillionTokens: '-1' } }, 'A price ceiling must not be below zero.'],
    [{ where: { minContextWindow: -1 } }, 'A context window must not be below zero.'],
  ])('%j is refused', async (variables, message) => {
    house = await openGraph({ entries: ENTRIES });
    const { errors } = await house.call(CatalogEntriesDocument, variables, null);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });
});

describe('the order of entries', () => {
  it.each<readonly [CatalogEntriesQueryVariables, readonly string[]]>([
    [{ sort: { by: 'ID' } }, ['claude-5', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'unknown']],
    [
      { sort: { by: 'INPUT_PRICE', direction: 'DESCENDING' } },
      ['claude-5', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'unknown'],
    ],
    [{ sort: { by: 'OUTPUT_PRICE' }, mode: 'chat' }, ['gpt-4o-mini', 'gpt-4o', 'claude-5', 'unknown']],
    [{ sort: { by: 'CONTEXT_WINDOW' }, first: 2 }, ['gpt-4o', 'claude-5']],
    [{ sort: { by: 'CATALOG', direction: 'DESCENDING' }, first: 1 }, ['unknown']],
  ])('%j is %j', async (variables, expected) => {
    house = await openGraph({ entries: ENTRIES });
    expect(await found(variables)).toEqual(expected);
  });

  it('holds over pages', async () => {
    house = await openGraph({ entries: ENTRIES });
    const sort = { by: 'INPUT_PRICE' } as const;
    const { data } = await house.call(CatalogEntriesDocument, { sort, first: 2 }, null);
    const after = data.catalogEntries.pageInfo.endCursor;
    expect(await found({ sort, first: 2, after })).toEqual(['gpt-4o', 'claude-5']);
  });
});
