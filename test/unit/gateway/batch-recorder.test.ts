import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/domain/calls/call-record.ts';
import type { Usage } from '../../../src/domain/chat/chat.ts';
import { usdText } from '../../../src/domain/money.ts';
import type { EndedBatch } from '../../../src/domain/upstream-objects/batch-use.ts';
import { createPricer } from '../../../src/gateway/accounting/price.ts';
import { createBatchRecorder } from '../../../src/gateway/calls/batch-recorder.ts';
import { aDeployment, aKey } from '../../support/chat.ts';

const PRICES = { input_cost_per_token_batches: 0.5, output_cost_per_token_batches: 0.5 };
const DEPLOYMENTS = [
  aDeployment({ id: 'd-1', modelGroup: 'large', upstreamModel: 'up-1', priceOverrides: PRICES }),
  aDeployment({ id: 'd-2', modelGroup: 'small', upstreamModel: 'up-1-mini', priceOverrides: PRICES }),
  aDeployment({ id: 'd-3', modelGroup: 'unpriced', upstreamModel: 'up-3' }),
];
const NO_CATALOG = { find: () => null, entries: [] } as never;
const [DEPLOYMENT = aDeployment()] = DEPLOYMENTS;
const KEY = aKey({ userId: 'u', teamId: 't' });
/** Id of the first span of a batch: the start of the trace id. The next span has the next number. */
const SPAN = '0123456789abcdef';
const NEXT_SPAN = '0123456789abcdf0';
const TRACE = `${SPAN}${'5'.repeat(16)}`;

const tokens = (inputTokens: number): Usage => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

const aBatch = (overrides: Partial<EndedBatch> = {}): EndedBatch => ({
  kind: 'batch',
  id: `batch_${TRACE}`,
  owner: { keyHash: KEY.hash, teamId: 't' },
  userId: 'u',
  deployment: DEPLOYMENT,
  uses: [
    { model: 'up-1-mini-2026', usage: tokens(4) },
    { model: 'up-1-2026', usage: tokens(2) },
  ],
  calls: { large: { requests: 1, tokens: 1 }, small: { requests: 1, tokens: 1 } },
  createdAt: new Date(0),
  endedAt: new Date(1_000),
  ...overrides,
});

/** `alias` is an alias of the model `large`. */
const targetOf = (name: string): string => (name === 'alias' ? 'large' : name);

/** Records batches in a new process. Returns their records, and what happened in which order. */
async function recorded(...batches: readonly EndedBatch[]) {
  const records: CallRecord[] = [];
  const events: string[] = [];
  const { recordBatch: record } = createBatchRecorder(
    {
      recorder: {
        record(call) {
          records.push(call);
          events.push(`record ${call.spend.modelGroup}`);
        },
      },
      budgets: {
        readWindows: (_key: unknown, { model }: { model: string }) =>
          Promise.resolve([
            { name: `window of ${model}`, endMs: 0 },
            { name: 'window of all', endMs: 0 },
          ]),
        async readSoftBudgets() {
          events.push('read soft budgets');
        },
        charge: (charged: object, cost: bigint) =>
          events.push(`charge ${JSON.stringify(charged)} ${usdText(cost as never)}`),
        alertSoftBudgets: (key: unknown) => events.push(`alert of the key: ${key === KEY}`),
      } as never,
      price: createPricer(() => NO_CATALOG),
    },
    {
      catalog: () => NO_CATALOG,
      adjusted: (cost) => cost,
      deployments: () => DEPLOYMENTS,
      deploymentsOf: (_key, name) => DEPLOYMENTS.filter(({ modelGroup }) => modelGroup === targetOf(name)),
      targetOf,
      keyOf: () => Promise.resolve(KEY),
    },
  );
  await Promise.all(batches.map(record));
  return { records, events };
}

const spendOf = ({ spend }: CallRecord) => ({
  name: spend.modelGroup,
  model: spend.model,
  deploymentId: spend.deploymentId,
  inputTokens: spend.usage?.inputTokens,
  cost: spend.cost === null ? null : usdText(spend.cost),
  userId: spend.userId,
  windows: spend.windows?.map(({ name, amount = 0n }) => [name, usdText(amount as never)]),
});
const idsOf = ({ spend, span }: CallRecord) => [spend.id, spend.callId, span.traceId, span.spanId, span.parentSpanId];

describe('a batch of several models', () => {
  it('has the model of an alias in its record and windows', async () => {
    const { records } = await recorded(
      aBatch({ uses: [{ model: 'up-1', usage: tokens(2) }], calls: { alias: { requests: 1, tokens: 1 } } }),
    );
    expect(records.map(spendOf)).toMatchObject([
      { name: 'large', deploymentId: 'd-1', windows: [['window of large', '1'], expect.anything()] },
    ]);
  });

  it('has a record for each model, with its own cost in its windows', async () => {
    const { records } = await recorded(aBatch());
    expect(records.map(spendOf)).toEqual([
      {
        name: 'large',
        model: 'up-1',
        deploymentId: 'd-1',
        inputTokens: 2,
        cost: '1',
        userId: 'u',
        windows: [
          ['window of large', '1'],
          ['window of all', '1'],
        ],
      },
      {
        name: 'small',
        model: 'up-1-mini',
        deploymentId: 'd-2',
        inputTokens: 4,
        cost: '2',
        userId: 'u',
        windows: [
          ['window of small', '2'],
          ['window of all', '2'],
        ],
      },
    ]);
  });

  it('has the same ids in every process: in one trace, under the first record, by the place of the model in the file', async () => {
    const id = `batch_${TRACE}`;
    for (const uses of [aBatch().uses, aBatch().uses.toReversed()]) {
      // oxlint-disable-next-line no-await-in-loop -- one process after the other
      const { records } = await recorded(aBatch({ uses }));
      expect(records.map(idsOf)).toEqual([
        [id, id, TRACE, SPAN, null],
        [`${id}-1`, id, TRACE, NEXT_SPAN, SPAN],
      ]);
    }
    const { records } = await recorded(aBatch({ uses: aBatch().uses.slice(0, 1) }));
    expect(records.map(idsOf)).toEqual([[`${id}-1`, id, TRACE, NEXT_SPAN, null]]);
  });

  it('has a record without a cost only for the models without a price', async () => {
    const uses = [...aBatch().uses, { model: 'up-3', usage: tokens(9) }];
    const { records } = await recorded(
      aBatch({ uses, calls: { ...aBatch().calls, unpriced: { requests: 1, tokens: 1 } } }),
    );
    expect(records.map(spendOf)).toMatchObject([
      { name: 'large', cost: '1' },
      { name: 'small', cost: '2' },
      { name: 'unpriced', cost: null, inputTokens: 9, windows: undefined },
    ]);
  });
});

describe('a batch', () => {
  it('is charged to key, team and user after each record; soft budgets are read before and compared at the end', async () => {
    const { events } = await recorded(aBatch());
    const charged = JSON.stringify({
      keyHash: KEY.hash,
      teamId: 't',
      userId: 'u',
      organizationId: null,
      projectId: null,
    });
    expect(events).toEqual([
      'read soft budgets',
      'record large',
      `charge ${charged} 1`,
      'record small',
      `charge ${charged} 2`,
      'alert of the key: true',
    ]);
  });

  it('is recorded once, if it is read concurrently', async () => {
    expect((await recorded(aBatch(), aBatch())).records).toHaveLength(2);
  });

  it('has one record for versions of its only model', async () => {
    const uses = [
      { model: 'up-1-2025', usage: tokens(1) },
      { model: 'up-1-2026', usage: tokens(2) },
    ];
    const { records } = await recorded(aBatch({ uses, calls: { large: { requests: 1, tokens: 1 } } }));
    expect(records.map(spendOf)).toMatchObject([{ name: 'large', inputTokens: 3, cost: '1.5' }]);
  });

  it('has the names of the deployments, if the calls of its file were not counted', async () => {
    const { calls: _calls, ...uncounted } = aBatch({ uses: [{ model: 'up-3', usage: tokens(1) }] });
    const { records, events } = await recorded(uncounted);
    expect(records.map(spendOf)).toMatchObject([{ name: 'unpriced', deploymentId: 'd-3', cost: null }]);
    expect(events).toEqual(['record unpriced']);
  });
});

describe('the record of a response in the background', () => {
  const prices = {
    input_cost_per_token: 0.001,
    input_cost_per_token_above_200k_tokens: 0.002,
    input_cost_per_request: 5,
    output_cost_per_token: 1,
  };
  const deployment = aDeployment({ id: 'd-4', modelGroup: 'long', upstreamModel: 'up-4', priceOverrides: prices });

  it.each([
    ['the price of long prompts and the fee of a request', 200_001, '405.002'],
    ['the usual price and the fee of a request', 2, '5.002'],
  ])('has the cost of a normal call: %s', async (_name, inputTokens, cost) => {
    const uses = [{ model: 'up-4', usage: tokens(inputTokens) }];
    const { records } = await recorded(aBatch({ kind: 'response', id: `resp_${TRACE}`, deployment, uses, calls: {} }));
    expect(records.map(({ spend }) => spend.cost && usdText(spend.cost))).toEqual([cost]);
  });
});
