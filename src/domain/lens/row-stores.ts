import type { DatasetRevisionStore, DatasetStore } from './dataset.ts';
import type { SignalConfigStore, TraceSignalStore } from './signals.ts';
import type { TracingKeyStore } from './tracing-key.ts';

/** Stores of tracing keys, datasets and signals. */
export interface LensRowStores {
  readonly tracingKeys: TracingKeyStore;
  readonly datasets: DatasetStore;
  readonly datasetRevisions: DatasetRevisionStore;
  readonly signalConfigs: SignalConfigStore;
  readonly traceSignals: TraceSignalStore;
}
