import type { Secret } from '../../domain/secret.ts';
import type { SettingValues } from './table.ts';

/** Lens runs and signals of this process. */
export interface LensWorkSettings {
  /** Maximum number of lens runs at the same time; 0 for none. */
  readonly workerSlots: number;
  /** Seconds between checks for due lens runs. */
  readonly pollSeconds: number;
  /** Seconds between checks for traces without signals; 0 for no checks. */
  readonly signalSeconds: number;
  /**
   * Token with which a separate trace service of the operator reads the hashes of the tracing keys (docs/lens.md). Null
   * refuses such reads.
   */
  readonly serviceToken: Secret | null;
}

export const lensWorkOf = (values: SettingValues): LensWorkSettings => ({
  workerSlots: values.lensWorkerSlots,
  pollSeconds: values.lensPollSeconds,
  signalSeconds: values.lensSignalSeconds,
  serviceToken: values.lensServiceToken,
});
