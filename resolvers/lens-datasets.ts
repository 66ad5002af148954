import { Conflict } from '../src/domain/errors.ts';
import { assertCases, type CaseDraft, caseSeed } from '../src/domain/lens/dataset-cases.ts';
import { type Dataset, type DatasetCase, revisionId, type ReadDataset } from '../src/domain/lens/dataset.ts';
import { assertTextLengths, DATASET_LIMITS } from '../src/domain/lens/text-limits.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { storable } from '../src/domain/storable.ts';
import { authored } from './operation/authored.ts';
import { lensAdmin, lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { unknownDataset, datasetAt } from './operation/lens-datasets.ts';

/** The cases with their ids. Of duplicate cases, only the first one is returned. */
function withIds({ platform }: Scope<LensPlatform>, drafts: readonly CaseDraft[]): readonly DatasetCase[] {
  const cases = new Map<string, DatasetCase>();
  for (const draft of drafts) {
    const id = platform.keyGenerator.hash(caseSeed(draft));
    if (!cases.has(id)) cases.set(id, { ...draft, id });
  }
  return [...cases.values()];
}

/** Lists the datasets, the last changed first. */
export const listDatasets = operation({
  name: 'listDatasets',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<readonly Dataset[]> {
    const all = await scope.platform.stores.datasets.all(null);
    return all.toSorted((left, right) => right.updatedAt.getTime() - left.updatedAt.getTime());
  },
});

/** Creates an empty dataset, revision 0. Throws InvalidInput for texts beyond their limits. */
export const createDataset = operation({
  name: 'createDataset',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    { name, agentName }: { readonly name: string; readonly agentName: string },
  ): Promise<ReadDataset> {
    assertTextLengths([
      { name: 'name', text: name, min: 1, max: DATASET_LIMITS.name },
      { name: 'agent_name', text: agentName, max: DATASET_LIMITS.agentName },
    ]);
    const dataset: Dataset = {
      ...newStamps(authored(scope)),
      id: scope.platform.ids.uuid(),
      name: storable(name),
      agentName: storable(agentName),
      teamId: '',
      latest: 0,
      caseCount: 0,
    };
    await scope.platform.stores.datasets.add(dataset);
    return { dataset, revision: 0, cases: [] };
  },
});

/** Reads a revision of a dataset. Throws NotFound. */
export const readDataset = operation({
  name: 'readDataset',
  access: lensReader,
  run: (
    scope: Scope<LensPlatform>,
    { id, revision }: { readonly id: string; readonly revision: number | null },
  ): Promise<ReadDataset> => datasetAt(scope, id, revision),
});

const datasetChanged = (): Conflict => new Conflict('Dataset changed, reload');

/** Makes a stored revision the latest one. A later revision stays the latest. */
async function makeLatest(
  scope: Scope<LensPlatform>,
  id: string,
  { number, caseCount }: { readonly number: number; readonly caseCount: number },
): Promise<Dataset> {
  const { now, by } = authored(scope);
  const done = await scope.platform.stores.datasets.change(id, (row) =>
    row.latest >= number ? row : { ...row, latest: number, caseCount, updatedAt: now, updatedBy: by },
  );
  if (done === null) throw unknownDataset(id);
  return done.after;
}

/**
 * Saves the cases as the next revision. Throws NotFound, InvalidInput, and Conflict when `base` is not the latest
 * revision.
 */
export const saveDatasetRevision = operation({
  name: 'saveDatasetRevision',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    { id, base, cases: drafts }: { readonly id: string; readonly base: number; readonly cases: readonly CaseDraft[] },
  ): Promise<ReadDataset> {
    assertCases(drafts);
    const { datasets, datasetRevisions } = scope.platform.stores;
    const dataset = await datasets.find(id);
    if (dataset === null) throw unknownDataset(id);
    if (dataset.latest !== base) throw datasetChanged();
    const number = base + 1;
    const cases = withIds(scope, drafts);
    const row = { ...newStamps(authored(scope)), id: revisionId(id, number), datasetId: id, number, cases };
    try {
      await datasetRevisions.add(row);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      // A concurrent request saves this revision, or a process ended before it made the revision the latest one.
      const other = await datasetRevisions.find(row.id);
      if (other !== null) await makeLatest(scope, id, { number, caseCount: other.cases.length });
      throw datasetChanged();
    }
    return { dataset: await makeLatest(scope, id, { number, caseCount: cases.length }), revision: number, cases };
  },
});
