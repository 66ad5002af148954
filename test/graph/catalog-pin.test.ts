import { afterEach, describe, expect, it } from 'vitest';
import { CatalogEntriesDocument, WorkloadEstimatesDocument, ModelsDocument } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

const priced = (id: string, price: number) =>
  anEntry(id, { input_cost_per_token: price, output_cost_per_token: price });
const BEFORE = [priced('gpt-4o', 3e-6), priced('azure/gpt-4o', 2e-6), priced('claude-5', 1e-6)];
const AFTER = [priced('brand-new', 1e-9), priced('claude-5', 4e-6)];

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

describe('a reader that pins a snapshot of the catalog', () => {
  it('reads sorted pages of the snapshot while a newer snapshot is current', async () => {
    graph = await openGraph({ entries: BEFORE });
    const orderBy = { field: 'INPUT_PRICE' } as const;
    const first = await graph.call(CatalogEntriesDocument, { orderBy, first: 2 }, null);
    const { snapshot, pageInfo } = first.data.catalogEntries;
    graph.replaceCatalog(AFTER);
    const secondPageVariables = { orderBy, first: 2, after: pageInfo.endCursor, snapshotId: snapshot.snapshotId };
    const second = await graph.call(CatalogEntriesDocument, secondPageVariables, null);
    expect(second.data.catalogEntries).toMatchObject({
      totalCount: 3,
      snapshot: { snapshotId: 'snapshot-1' },
      nodes: [{ entryId: 'gpt-4o', inputCostPerToken: '0.000003' }],
    });
    const now = await graph.call(CatalogEntriesDocument, { orderBy }, null);
    expect(now.data.catalogEntries).toMatchObject({ totalCount: 2, snapshot: { snapshotId: 'snapshot-2' } });
  });

  it('finds the models of the snapshot, and estimates with its prices', async () => {
    graph = await openGraph({ entries: BEFORE });
    graph.replaceCatalog(AFTER);
    const models = await graph.call(ModelsDocument, { snapshotId: 'snapshot-1' }, null);
    expect(models.data.models).toMatchObject({
      snapshot: { snapshotId: 'snapshot-1' },
      nodes: [
        { name: 'gpt-4o', offerCount: 2 },
        { name: 'claude-5', offerCount: 1 },
      ],
    });
    const workload = { inputTokens: 1_000_000, outputTokens: 0 };
    const totals = async (snapshotId: string | null) => {
      const { data } = await graph.call(WorkloadEstimatesDocument, { workload, snapshotId }, null);
      return data.workloadEstimates.nodes.map(({ entry, costUsd }) => `${entry.entryId} ${costUsd}`);
    };
    expect(await totals('snapshot-1')).toEqual(['claude-5 1', 'azure/gpt-4o 2', 'gpt-4o 3']);
    expect(await totals(null)).toEqual(['brand-new 0.001', 'claude-5 4']);
  });

  it('gets an error that names the argument when the snapshot is not stored', async () => {
    graph = await openGraph({ entries: BEFORE });
    const snapshotId = 'long-gone';
    const workload = { inputTokens: 1, outputTokens: 0 };
    const message = 'This catalog snapshot is no longer stored. Repeat the request without `snapshotId`.';
    const issues = [{ path: ['snapshotId'], rule: 'snapshot_not_kept', message }];
    for (const { errors } of [
      await graph.call(CatalogEntriesDocument, { snapshotId }, null),
      await graph.call(ModelsDocument, { snapshotId }, null),
      await graph.call(WorkloadEstimatesDocument, { workload, snapshotId }, null),
    ])
      expect(errors?.map((error) => [error.message, error.extensions])).toEqual([
        [message, { code: 'INVALID_INPUT', issues }],
      ]);
  });
});
