import { NotFound } from '../../src/domain/errors.ts';
import { revisionId, type ReadDataset } from '../../src/domain/lens/dataset.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

export const unknownDataset = (id: string): NotFound => new NotFound('dataset', id, 'Dataset not found');

/** A dataset and the cases of a revision; the latest for null. Throws NotFound. */
export async function datasetAt(scope: Scope<LensPlatform>, id: string, number: number | null): Promise<ReadDataset> {
  const { datasets, datasetRevisions } = scope.platform.stores;
  const dataset = await datasets.find(id);
  if (dataset === null) throw unknownDataset(id);
  const revision = number ?? dataset.latest;
  // A new dataset is revision 0, which has no row.
  if (revision === 0) return { dataset, revision, cases: [] };
  const found = revision > dataset.latest ? null : await datasetRevisions.find(revisionId(id, revision));
  if (found === null) throw unknownDataset(id);
  return { dataset, revision, cases: found.cases };
}
