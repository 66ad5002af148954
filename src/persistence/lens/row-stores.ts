import type { LensRowStores } from '../../domain/lens/row-stores.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import {
  DatasetEntity,
  DatasetRevisionEntity,
  SignalConfigEntity,
  TraceSignalEntity,
  TracingKeyEntity,
} from './entities.ts';

const conflictText = (): string => 'The id is taken.';

export const createLensRowStores = (database: Database): LensRowStores => ({
  tracingKeys: createRowStore(database, {
    entity: TracingKeyEntity,
    noun: 'tracing key',
    where: ({ tokenHash }) => matching({ tokenHash }),
    conflictText,
  }),
  datasets: createRowStore(database, { entity: DatasetEntity, noun: 'dataset', conflictText }),
  datasetRevisions: createRowStore(database, {
    entity: DatasetRevisionEntity,
    noun: 'revision',
    conflictText: () => 'Dataset changed, reload',
  }),
  signalConfigs: createRowStore(database, { entity: SignalConfigEntity, noun: 'signal configuration', conflictText }),
  traceSignals: createRowStore(database, {
    entity: TraceSignalEntity,
    noun: 'signals of a trace',
    where: ({ ids, traceBeforeMs }) => [
      ...matching({ id: ids }),
      ...(traceBeforeMs === null ? [] : [{ traceStartMs: { $lt: traceBeforeMs } }]),
    ],
    conflictText,
  }),
});
