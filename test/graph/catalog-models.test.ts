import { afterEach, describe, expect, it } from 'vitest';
import { ModelDocument, ModelOfEntryDocument, ModelsDocument, type ModelsQueryVariables } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

const ENTRIES = [
  anEntry('gpt-4o', {
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    max_input_tokens: 128_000,
    supports_vision: true,
  }),
  anEntry('azure/eu/gpt-4o', {
    litellm_provider: 'azure',
    input_cost_per_token: 2.75e-6,
    output_cost_per_token: 9e-6,
    supports_vision: true,
    supports_pdf_input: true,
  }),
  anEntry('gpt-4o-2024-08-06', {}),
  anEntry('text-embedding-3', { mode: 'embedding' }),
];

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

describe('model', () => {
  it.each(['gpt-4o', 'azure/eu/gpt-4o'])('found by the name %s has the offers of all providers', async (name) => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await graph.call(ModelDocument, { name }, null)).toEqual({
      data: {
        model: {
          name: 'gpt-4o',
          offerCount: 2,
          offers: [{ entryId: 'gpt-4o' }, { entryId: 'azure/eu/gpt-4o' }],
          providers: ['openai', 'azure'],
          modes: ['chat'],
          capabilitiesOfAll: ['VISION'],
          capabilitiesOfAny: ['PDF_INPUT', 'VISION'],
          maxContextWindow: 128_000,
          cheapestInput: { entryId: 'gpt-4o', inputCostPerToken: '0.0000025' },
          cheapestOutput: { entryId: 'azure/eu/gpt-4o', outputCostPerToken: '0.000009' },
        },
      },
    });
  });

  it('is null for a model without an offer', async () => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await graph.call(ModelDocument, { name: 'gpt-9' }, null)).toEqual({ data: { model: null } });
  });

  it('is found from an entry, with the offers of the current catalog', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const id = 'azure/eu/gpt-4o';
    const offersNow = async () => {
      const { data } = await graph.call(ModelOfEntryDocument, { id }, null);
      return data.catalogEntry?.model?.offers.map((offer) => offer.entryId);
    };
    expect(await offersNow()).toEqual(['gpt-4o', 'azure/eu/gpt-4o']);
    graph.replaceCatalog([...ENTRIES, anEntry('azure/us/gpt-4o', { litellm_provider: 'azure' })]);
    expect(await offersNow()).toEqual(['gpt-4o', 'azure/eu/gpt-4o', 'azure/us/gpt-4o']);
  });
});

describe('models', () => {
  it.each<readonly [ModelsQueryVariables, readonly string[]]>([
    [{}, ['gpt-4o', 'gpt-4o-2024-08-06', 'text-embedding-3']],
    [{ filter: { text: '4O-2024' } }, ['gpt-4o-2024-08-06']],
    [{ filter: { provider: 'azure' } }, ['gpt-4o']],
    [{ filter: { mode: 'EMBEDDING' } }, ['text-embedding-3']],
    [{ filter: { minOffers: 2 } }, ['gpt-4o']],
    [{ filter: { minOffers: 3 } }, []],
  ])('%j finds %j', async (variables, names) => {
    graph = await openGraph({ entries: ENTRIES });
    const { data } = await graph.call(ModelsDocument, variables, null);
    expect([data.models.nodes.map(({ name }) => name), data.models.totalCount]).toEqual([names, names.length]);
  });

  it('are paged; a page has at most 500', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const first = await graph.call(ModelsDocument, { first: 2 }, null);
    const after = first.data.models.pageInfo.endCursor;
    const second = await graph.call(ModelsDocument, { first: 2, after }, null);
    expect(first.data.models.pageInfo.hasNextPage).toBe(true);
    expect(second.data.models.nodes).toEqual([{ name: 'text-embedding-3', offerCount: 1 }]);
    expect((await graph.call(ModelsDocument, { first: 501 }, null)).errors?.[0]?.message).toBe(
      '`first` must be between 0 and 500.',
    );
  });
});
