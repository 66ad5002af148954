import { afterEach, describe, expect, it } from 'vitest';
import { CatalogEntriesDocument, CatalogEntryDocument } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

const ENTRIES = [
  anEntry('gpt-4o', {
    max_input_tokens: 128_000,
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    supports_vision: true,
    tiered_pricing: [{ range: [0, 128] }],
  }),
  anEntry('gpt-4o-mini', { input_cost_per_token: 1.5e-7, output_cost_per_token: 0, supports_vision: true }),
  anEntry('text-embedding-3', { mode: 'embedding', supports_vision: false }),
  anEntry('claude-5', { litellm_provider: 'anthropic', input_cost_per_token: '3e-06' }),
];

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

describe('catalogEntry', () => {
  it('has prices as exact text, and undeclared fields unchanged from the price map', async () => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await graph.call(CatalogEntryDocument, { id: 'gpt-4o' }, null)).toMatchInlineSnapshot(`
      {
        "data": {
          "catalogEntry": {
            "cacheReadInputTokenCost": null,
            "deprecationDate": null,
            "entryId": "gpt-4o",
            "extraFields": {
              "tiered_pricing": [
                {
                  "range": [
                    0,
                    128,
                  ],
                },
              ],
            },
            "inputCostPerAudioToken": null,
            "inputCostPerToken": "0.0000025",
            "maxInputTokens": 128000,
            "maxOutputTokens": null,
            "maxTokens": null,
            "mode": "chat",
            "outputCostPerReasoningToken": null,
            "outputCostPerToken": "0.00001",
            "provider": "openai",
            "supportsAudioInput": null,
            "supportsAudioOutput": null,
            "supportsFunctionCalling": null,
            "supportsParallelFunctionCalling": null,
            "supportsPromptCaching": null,
            "supportsReasoning": null,
            "supportsResponseSchema": null,
            "supportsSystemMessages": null,
            "supportsVision": true,
            "supportsWebSearch": null,
          },
        },
      }
    `);
  });

  it('is null for an id that is not in the catalog', async () => {
    graph = await openGraph({ entries: ENTRIES });
    expect(await graph.call(CatalogEntryDocument, { id: 'GPT-4o' }, null)).toEqual({ data: { catalogEntry: null } });
  });
});

describe('catalogEntries', () => {
  it('combines filters, and counts the matches', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const variables = { filter: { provider: 'OpenAI', model: 're:^GPT', supportsVision: true }, first: 1 };
    expect(await graph.call(CatalogEntriesDocument, variables, null)).toMatchInlineSnapshot(`
      {
        "data": {
          "catalogEntries": {
            "nodes": [
              {
                "entryId": "gpt-4o",
                "inputCostPerToken": "0.0000025",
                "maxInputTokens": 128000,
                "mode": "chat",
                "outputCostPerToken": "0.00001",
                "provider": "openai",
                "supportsVision": true,
              },
            ],
            "pageInfo": {
              "endCursor": "MDpncHQtNG8",
              "hasNextPage": true,
              "hasPreviousPage": false,
              "startCursor": "MDpncHQtNG8",
            },
            "snapshot": {
              "snapshotId": "snapshot-1",
            },
            "totalCount": 2,
          },
        },
      }
    `);
  });

  it('pages forward and back by cursors', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const page = async (variables: object) => {
      const { data } = await graph.call(CatalogEntriesDocument, variables, null);
      const { nodes, pageInfo } = data.catalogEntries;
      return { ids: nodes.map(({ entryId }) => entryId), ...pageInfo };
    };
    const first = await page({ first: 2 });
    const second = await page({ first: 2, after: first.endCursor });
    const previous = await page({ last: 1, before: second.startCursor });
    expect(
      [first, second, previous].map(({ ids, hasNextPage, hasPreviousPage }) => [ids, hasNextPage, hasPreviousPage]),
    ).toEqual([
      [['gpt-4o', 'gpt-4o-mini'], true, false],
      [['text-embedding-3', 'claude-5'], false, true],
      [['gpt-4o-mini'], true, true],
    ]);
    expect(await page({ first: 2, after: second.endCursor })).toEqual({
      ids: [],
      hasNextPage: false,
      hasPreviousPage: true,
      startCursor: null,
      endCursor: null,
    });
  });

  it('neither repeats nor skips an entry when the catalog grows between two pages', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const first = await graph.call(CatalogEntriesDocument, { first: 2 }, null);
    graph.replaceCatalog([anEntry('brand-new'), ...ENTRIES]);
    const after = first.data.catalogEntries.pageInfo.endCursor;
    const second = await graph.call(CatalogEntriesDocument, { first: 2, after }, null);
    expect(second.data.catalogEntries.nodes.map(({ entryId }) => entryId)).toEqual(['text-embedding-3', 'claude-5']);
  });

  it.each([
    [{ first: 501 }, '`first` must be between 0 and 500.'],
    [{ last: -1 }, '`last` must be between 0 and 500.'],
    [{ after: 'rubbish' }, 'Invalid cursor.'],
    [{ filter: { model: 're:(' } }, "Invalid regex in 'model' param: missing ), unterminated subpattern at position 0"],
  ])('refuses %j', async (variables, message) => {
    graph = await openGraph({ entries: ENTRIES });
    const { errors } = await graph.call(CatalogEntriesDocument, variables, null);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });

  it('accepts the largest page', async () => {
    graph = await openGraph({ entries: Array.from({ length: 501 }, (_, index) => anEntry(`model-${index}`)) });
    const { data } = await graph.call(CatalogEntriesDocument, { first: 500 }, null);
    expect([data.catalogEntries.nodes.length, data.catalogEntries.totalCount]).toEqual([500, 501]);
  });
});
