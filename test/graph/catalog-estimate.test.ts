import { afterEach, describe, expect, it } from 'vitest';
import { WorkloadEstimatesDocument, type WorkloadEstimatesQueryVariables } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

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

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

const workload = { requests: 1000, inputTokens: 10_000, outputTokens: 500 };

describe('workloadEstimates', () => {
  it('shows the parts of the total cost of an entry', async () => {
    graph = await openGraph({ entries: ENTRIES });
    // Of 10 million input tokens, 40 % are read from the cache. Half of all tokens of each kind are in batches.
    const variables = {
      workload: { ...workload, cacheHitRate: '0.4', batchShare: '0.5' },
      filter: { capabilities: ['VISION' as const] },
    };
    expect(await graph.call(WorkloadEstimatesDocument, variables, null)).toMatchInlineSnapshot(`
      {
        "data": {
          "workloadEstimates": {
            "nodes": [
              {
                "costPerRequestUsd": "0.02",
                "costUsd": "20",
                "entry": {
                  "entryId": "gpt-4o",
                  "provider": "openai",
                },
                "lines": [
                  {
                    "batch": false,
                    "costUsd": "7.5",
                    "kind": "INPUT",
                    "quantity": "3000000",
                    "unitPriceUsd": "0.0000025",
                  },
                  {
                    "batch": false,
                    "costUsd": "2.5",
                    "kind": "CACHE_READ",
                    "quantity": "2000000",
                    "unitPriceUsd": "0.00000125",
                  },
                  {
                    "batch": false,
                    "costUsd": "2.5",
                    "kind": "OUTPUT",
                    "quantity": "250000",
                    "unitPriceUsd": "0.00001",
                  },
                  {
                    "batch": true,
                    "costUsd": "3.75",
                    "kind": "INPUT",
                    "quantity": "3000000",
                    "unitPriceUsd": "0.00000125",
                  },
                  {
                    "batch": true,
                    "costUsd": "2.5",
                    "kind": "CACHE_READ",
                    "quantity": "2000000",
                    "unitPriceUsd": "0.00000125",
                  },
                  {
                    "batch": true,
                    "costUsd": "1.25",
                    "kind": "OUTPUT",
                    "quantity": "250000",
                    "unitPriceUsd": "0.000005",
                  },
                ],
                "notes": [
                  "BATCH_PRICE_MISSING",
                ],
                "tierAboveTokens": null,
              },
            ],
            "pageInfo": {
              "endCursor": "MDpncHQtNG8",
              "hasNextPage": false,
            },
            "snapshot": {
              "snapshotId": "snapshot-1",
            },
            "tooSmallCount": 0,
            "totalCount": 1,
            "unpricedCount": 0,
          },
        },
      }
    `);
  });

  it('lists the cheapest entry first, and counts the entries that are left out', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const { data } = await graph.call(WorkloadEstimatesDocument, { workload, first: 2 }, null);
    const { nodes, totalCount, unpricedCount, tooSmallCount, pageInfo } = data.workloadEstimates;
    // `unknown` has no price, and the context of `small` is too small. Entries of other modes are in no count.
    expect([
      nodes.map(({ entry, costUsd }) => [entry.entryId, costUsd]),
      totalCount,
      unpricedCount,
      tooSmallCount,
    ]).toEqual([
      [
        ['claude-5', '12.5'],
        ['also-claude-5', '12.5'],
      ],
      3,
      1,
      1,
    ]);
    const next = await graph.call(WorkloadEstimatesDocument, { workload, after: pageInfo.endCursor }, null);
    expect(next.data.workloadEstimates.nodes.map(({ entry, costUsd }) => [entry.entryId, costUsd])).toEqual([
      ['gpt-4o', '30'],
    ]);
  });

  it.each<readonly [WorkloadEstimatesQueryVariables, readonly string[]]>([
    [{ workload, filter: { provider: 'Anthropic' } }, ['claude-5']],
    [{ workload, filter: { model: 're:^gpt' } }, ['gpt-4o']],
    [{ workload: { ...workload, modes: ['embedding'] } }, ['embedding']],
    [{ workload: { ...workload, modes: [] } }, []],
    [{ workload, filter: { maxInputCostUsdPerMillionTokens: '1' } }, ['claude-5', 'also-claude-5']],
    [{ workload, filter: { minContextWindow: 1_000_001 } }, []],
    [{ workload: { inputTokens: 0, outputTokens: 0 }, filter: { provider: 'openai' } }, ['gpt-4o', 'small']],
  ])('%j ranks %j', async (variables, ids) => {
    graph = await openGraph({ entries: ENTRIES });
    const { data } = await graph.call(WorkloadEstimatesDocument, variables, null);
    expect(data.workloadEstimates.nodes.map(({ entry }) => entry.entryId)).toEqual(ids);
  });

  it.each<readonly [WorkloadEstimatesQueryVariables, string]>([
    [{ workload: { ...workload, requests: 0 } }, '`requests` must be at least 1.'],
    [{ workload: { ...workload, inputTokens: -1 } }, '`inputTokens` must not be below zero.'],
    [{ workload: { ...workload, cacheHitRate: '1.1' } }, '`cacheHitRate` must be between 0 and 1.'],
    [{ workload: { ...workload, batchShare: '-0.1' } }, '`batchShare` must be between 0 and 1.'],
    [{ workload: { ...workload, reasoningShare: '0.0000000001' } }, '`reasoningShare` must have at most 9 decimals.'],
    [
      { workload: { ...workload, cacheHitRate: '0.6', cacheWriteRate: '0.6' } },
      '`cacheWriteRate` and `cacheHitRate` must not be more than 1 together.',
    ],
    [{ workload, filter: { minContextWindow: -1 } }, 'A context window must not be below zero.'],
  ])('refuses %j', async (variables, message) => {
    graph = await openGraph({ entries: ENTRIES });
    const { errors } = await graph.call(WorkloadEstimatesDocument, variables, null);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });

  it('is refused for a page of too many fields', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const { errors } = await graph.call(WorkloadEstimatesDocument, { workload, first: 500 }, null);
    expect(errors?.map((error) => error.extensions?.['code'])).toEqual(['TOO_LARGE']);
  });

  it('counts as 1,000 fields toward the limit, also for an empty page', async () => {
    graph = await openGraph({ entries: ENTRIES });
    const messageFor = async (count: number) => {
      const fields = Array.from(
        { length: count },
        (_, index) =>
          `e${index}: workloadEstimates(workload: { inputTokens: ${index}, outputTokens: 1 }, first: 0) { totalCount }`,
      );
      const answer = await graph.post(JSON.stringify({ query: `{ ${fields.join(' ')} }` }));
      const { errors } = (await answer.json()) as { errors?: readonly { readonly message: string }[] };
      return errors?.[0]?.message ?? 'no error';
    };
    expect([await messageFor(29), await messageFor(31)]).toEqual([
      'no error',
      'The operation may cause 31000 fields; the limit is 30000. Ask for smaller pages.',
    ]);
  });
});
