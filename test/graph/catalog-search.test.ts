import { afterEach, describe, expect, it } from 'vitest';
import { CatalogEntriesDocument, type CatalogEntriesQueryVariables } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

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

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

/** Ids of the matching entries, in order. */
async function findIds(variables: CatalogEntriesQueryVariables): Promise<readonly string[]> {
  const { data } = await graph.call(CatalogEntriesDocument, variables, null);
  expect(data.catalogEntries.totalCount).toBeGreaterThanOrEqual(data.catalogEntries.nodes.length);
  return data.catalogEntries.nodes.map(({ entryId }) => entryId);
}

describe('the filter of catalog entries', () => {
  it.each<readonly [CatalogEntriesQueryVariables, readonly string[]]>([
    [{ filter: {} }, ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'claude-5', 'unknown']],
    [{ filter: { maxInputCostUsdPerMillionTokens: '2.5' } }, ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3']],
    [{ filter: { maxOutputCostUsdPerMillionTokens: '0' } }, ['text-embedding-3']],
    [{ filter: { minContextWindow: 128_001 } }, ['claude-5']],
    [{ filter: { capabilities: ['PDF_INPUT', 'VISION'] } }, ['gpt-4o']],
    [{ filter: { capabilities: ['PDF_INPUT'], provider: 'Anthropic' } }, ['claude-5']],
    [{ filter: { deprecatedBefore: '2027-01-01T00:00:00Z' } }, ['claude-5']],
    [{ filter: { notDeprecatedBefore: '2027-01-01T00:00:00Z', mode: 'embedding' } }, ['text-embedding-3']],
    [{ filter: { capabilities: ['VISION'], supportsVision: false } }, []],
  ])('%j finds %j', async (variables, expected) => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await findIds(variables)).toEqual(expected);
  });

  it.each<readonly [CatalogEntriesQueryVariables, string]>([
    [{ filter: { maxInputCostUsdPerMillionTokens: '-1' } }, 'A price ceiling must not be below zero.'],
    [{ filter: { minContextWindow: -1 } }, 'A context window must not be below zero.'],
  ])('%j is refused', async (variables, message) => {
    graph = await openGraph({ entries: ENTRIES });
    const { errors } = await graph.call(CatalogEntriesDocument, variables, null);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });
});

describe('the order of catalog entries', () => {
  it.each<readonly [CatalogEntriesQueryVariables, readonly string[]]>([
    [{ orderBy: { field: 'ID' } }, ['claude-5', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'unknown']],
    [
      { orderBy: { field: 'INPUT_PRICE', direction: 'DESC' } },
      ['claude-5', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3', 'unknown'],
    ],
    [
      { orderBy: { field: 'OUTPUT_PRICE' }, filter: { mode: 'chat' } },
      ['gpt-4o-mini', 'gpt-4o', 'claude-5', 'unknown'],
    ],
    [{ orderBy: { field: 'CONTEXT_WINDOW' }, first: 2 }, ['gpt-4o', 'claude-5']],
    [{ orderBy: { field: 'CATALOG', direction: 'DESC' }, first: 1 }, ['unknown']],
  ])('%j lists %j', async (variables, expected) => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await findIds(variables)).toEqual(expected);
  });

  it('applies to all pages', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const orderBy = { field: 'INPUT_PRICE' } as const;
    const { data } = await graph.call(CatalogEntriesDocument, { orderBy, first: 2 }, null);
    const after = data.catalogEntries.pageInfo.endCursor;
    expect(await findIds({ orderBy, first: 2, after })).toEqual(['gpt-4o', 'claude-5']);
  });
});
