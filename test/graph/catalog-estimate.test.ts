import { afterEach, describe, expect, it } from 'vitest';
import { EstimateWorkloadDocument, type EstimateWorkloadQueryVariables } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-house.ts';

const ENTRIES = [
  anEntry('gpt-4o', {
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    cache_read_input_token_cost: 1.25e-6,
    input_cost_per_token_batches: 1.25e-6,
    output_cost_per_token_batches: 5e-6,
    max_input_tokens: 128_000,
    supports_prompt_caching: true,
    supports_vision: true,
  }),
  anEntry('claude-5', {
    litellm_provider: 'anthropic',
    input_cost_per_token: 1e-6,
    output_cost_per_token: 5e-6,
    max_input_tokens: 1_000_000,
  }),
  anEntry('also-claude-5', {
    litellm_provider: 'other',
    input_cost_per_token: 1e-6,
    output_cost_per_token: 5e-6,
    max_input_tokens: 1_000_000,
  }),
  anEntry('small', { input_cost_per_token: 1e-9, output_cost_per_token: 1e-9, max_input_tokens: 100 }),
  anEntry('unknown', {}),
  anEntry('embedding', { mode: 'embedding', input_cost_per_token: 1e-9, output_cost_per_token: 0 }),
];

let house: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => house.close());

const work = { requests: 1000, inputTokens: 10_000, outputTokens: 500 };

describe('estimateWorkload', () => {
  it('ranks by cost, shows what a total is made of, and counts what is left out', async () => {
    house = await openGraph({ entries: ENTRIES });
    const input = { ...work, cacheHitRate: '0.4', batchShare: '0.5', where: { capabilities: ['VISION' as const] } };
    expect(await house.call(EstimateWorkloadDocument, { input }, null)).toMatchInlineSnapshot(`
      {
        "data": {
          "estimateWorkload": {
            "nodes": [
              {
                "entry": {
                  "id": "gpt-4o",
                  "provider": "openai",
                },
                "lines": [
                  {
                    "batch": false,
                    "cost": "7.5",
                    "kind": "INPUT",
                    "quantity": "3000000",
                    "rate": "0.0000025",
                  },
                  {
                    "batch": false,
                    "cost": "2.5",
                    "kind": "CACHE_READ",
                    "quantity": "2000000",
                    "rate": "0.00000125",
                  },
                  {
                    "batch": false,
                    "cost": "2.5",
                    "kind": "OUTPUT",
                    "quantity": "250000",
                    "rate": "0.00001",
                  },
                  {
                    "batch": true,
                    "cost": "3.75",
                    "kind": "INPUT",
                    "quantity": "3000000",
                    "rate": "0.00000125",
                  },
                  {
                    "batch": true,
                    "cost": "2.5",
                    "kind": "CACHE_READ",
                    "quantity": "2000000",
                    "rate": "0.00000125",
                  },
                  {
                    "batch": true,
                    "cost": "1.25",
                    "kind": "OUTPUT",
                    "quantity": "250000",
                    "rate": "0.000005",
                  },
                ],
                "notes": [
                  "BATCH_PRICE_MISSING",
                ],
                "perRequest": "0.02",
                "tierAboveTokens": null,
                "total": "20",
              },
            ],
            "pageInfo": {
              "endCursor": "MDpncHQtNG8",
              "hasNextPage": false,
            },
            "snapshot": {
              "id": "snapshot-1",
            },
            "tooSmallCount": 0,
            "totalCount": 1,
            "unpricedCount": 0,
          },
        },
      }
    `);
  });

  it('puts the cheapest first and counts what is left out', async () => {
    house = await openGraph({ entries: ENTRIES });
    const { data } = await house.call(EstimateWorkloadDocument, { input: work, first: 2 }, null);
    const { nodes, totalCount, unpricedCount, tooSmallCount, pageInfo } = data.estimateWorkload;
    expect([nodes.map(({ entry, total }) => [entry.id, total]), totalCount, unpricedCount, tooSmallCount]).toEqual([
      [
        ['claude-5', '12.5'],
        ['also-claude-5', '12.5'],
      ],
      3,
      1,
      1,
    ]);
    const next = await house.call(EstimateWorkloadDocument, { input: work, after: pageInfo.endCursor }, null);
    expect(next.data.estimateWorkload.nodes.map(({ entry, total }) => [entry.id, total])).toEqual([['gpt-4o', '30']]);
  });

  it.each<readonly [EstimateWorkloadQueryVariables['input'], readonly string[]]>([
    [{ ...work, provider: 'Anthropic' }, ['claude-5']],
    [{ ...work, model: 're:^gpt' }, ['gpt-4o']],
    [{ ...work, modes: ['embedding'] }, ['embedding']],
    [{ ...work, modes: [] }, []],
    [{ ...work, where: { maxInputUsdPerMillionTokens: '1' } }, ['claude-5', 'also-claude-5']],
    [{ ...work, where: { minContextWindow: 1_000_001 } }, []],
    [{ inputTokens: 0, outputTokens: 0, provider: 'openai' }, ['gpt-4o', 'small']],
  ])('%j is done by %j', async (input, ids) => {
    house = await openGraph({ entries: ENTRIES });
    const { data } = await house.call(EstimateWorkloadDocument, { input }, null);
    expect(data.estimateWorkload.nodes.map(({ entry }) => entry.id)).toEqual(ids);
  });

  it.each<readonly [EstimateWorkloadQueryVariables, string]>([
    [{ input: { ...work, requests: 0 } }, '`requests` must be at least 1.'],
    [{ input: { ...work, inputTokens: -1 } }, '`inputTokens` must not be below zero.'],
    [{ input: { ...work, cacheHitRate: '1.1' } }, '`cacheHitRate` must be between 0 and 1.'],
    [{ input: { ...work, batchShare: '-0.1' } }, '`batchShare` must be between 0 and 1.'],
    [{ input: { ...work, reasoningShare: '0.0000000001' } }, '`reasoningShare` must have at most 9 decimals.'],
    [
      { input: { ...work, cacheHitRate: '0.6', cacheWriteRate: '0.6' } },
      '`cacheWriteRate` and `cacheHitRate` must not be more than 1 together.',
    ],
    [{ input: { ...work, where: { minContextWindow: -1 } } }, 'A context window must not be below zero.'],
  ])('refuses %j', async (variables, message) => {
    house = await openGraph({ entries: ENTRIES });
    const { errors } = await house.call(EstimateWorkloadDocument, variables, null);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });

  it('costs as much as the page it may fill', async () => {
    house = await openGraph({ entries: ENTRIES });
    const { errors } = await house.call(EstimateWorkloadDocument, { input: work, first: 500 }, null);
    expect(errors?.map((error) => error.extensions?.['code'])).toEqual(['TOO_LARGE']);
  });

  it('weighs as a ranking of the whole catalog, however small the page', async () => {
    house = await openGraph({ entries: ENTRIES });
    const many = async (count: number) => {
      const fields = Array.from(
        { length: count },
        (_, index) =>
          `e${index}: estimateWorkload(input: { inputTokens: ${index}, outputTokens: 1 }, first: 0) { totalCount }`,
      );
      const answer = await house.post(JSON.stringify({ query: `{ ${fields.join(' ')} }` }));
      const { errors } = (await answer.json()) as { errors?: readonly { readonly message: string }[] };
      return errors?.[0]?.message ?? 'fine';
    };
    expect([await many(29), await many(31)]).toEqual([
      'fine',
      'The operation may cause 31000 fields; the limit is 30000. Ask for smaller pages.',
    ]);
  });
});
