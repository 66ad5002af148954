import type { Secret } from '../../domain/secret.ts';
import type { SettingValues } from './table.ts';

/** Lens runs and signals of this process. */
export interface LensWorkSettings {
  readonly workerSlots: number;
  readonly pollSeconds: number;
  readonly signalSeconds: number;
  /** Token of a trace service of the operator; null without one. */
  readonly serviceToken: Secret | null;
}

export const lensWorkOf = (values: SettingValues): LensWorkSettings => ({
  workerSlots: values.lensWorkerSlots,
  pollSeconds: values.lensPollSeconds,
  signalSeconds: values.lensSignalSeconds,
  serviceToken: values.lensServiceToken,
});
