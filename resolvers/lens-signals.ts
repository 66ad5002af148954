import { InvalidInput } from '../src/domain/errors.ts';
import {
  flagsOf,
  SIGNAL_CONFIG_ID,
  type SignalConfig,
  type SignalFlag,
  signalRowId,
  type StoredSignalConfig,
  type TraceSignals,
  assertSignalConfig,
} from '../src/domain/lens/signals.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { storable } from '../src/domain/storable.ts';
import { isConfigured } from './operation/lens-models.ts';
import { authored } from './operation/authored.ts';
import { lensAdmin, lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import { changeOrAdd } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { signalConfig, configKeyOf } from './operation/lens-signals.ts';

/** Reads the signals that traces are classified by. */
export const readSignalConfig = operation({
  name: 'readSignalConfig',
  access: lensReader,
  run: (scope: Scope<LensPlatform>, _input: undefined): Promise<SignalConfig> => signalConfig(scope),
});

/**
 * Replaces the configuration. Without a model or a signal, no trace is classified. Throws InvalidInput, also for a
 * model that is not configured.
 */
export const setSignalConfig = operation({
  name: 'setSignalConfig',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, config: SignalConfig): Promise<SignalConfig> {
    assertSignalConfig(config);
    if (config.model !== '' && !isConfigured(scope, config.model))
      throw new InvalidInput('Choose a System 1 model (evaluation mode) configured on this proxy');
    const { signalConfigs } = scope.platform.stores;
    const authorship = authored(scope);
    const values: SignalConfig = {
      model: config.model,
      threshold: config.threshold,
      signals: config.signals.map((one) => ({ ...one, name: storable(one.name), question: storable(one.question) })),
    };
    const change = (row: StoredSignalConfig): StoredSignalConfig => ({
      ...row,
      ...values,
      updatedAt: authorship.now,
      updatedBy: authorship.by,
    });
    await changeOrAdd(signalConfigs, { id: SIGNAL_CONFIG_ID, ...values, ...newStamps(authorship) }, change);
    return values;
  },
});

/** The signals of one trace. */
export interface SignalsOfTrace {
  readonly traceId: string;
  readonly traceRef: string;
  /** `unclassified` when no row for the current questions exists. */
  readonly status: 'unclassified' | TraceSignals['status'];
  readonly flags: readonly SignalFlag[];
  readonly model: string;
  /** Null unless the status is `classified`. */
  readonly classifiedAt: Date | null;
}

function signalsOfTrace(
  trace: { readonly traceId: string; readonly traceRef: string },
  row: TraceSignals | undefined,
  config: SignalConfig,
): SignalsOfTrace {
  const { traceId, traceRef } = trace;
  if (row === undefined) return { traceId, traceRef, status: 'unclassified', flags: [], model: '', classifiedAt: null };
  const isDone = row.status === 'classified';
  return {
    traceId,
    traceRef,
    status: row.status,
    flags: isDone ? flagsOf(row, config) : [],
    model: row.model,
    classifiedAt: isDone ? new Date(row.askedMs) : null,
  };
}

/** The signals of traces by the current configuration, in the order of the traces. */
export const readTraceSignals = operation({
  name: 'readTraceSignals',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    traces: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<readonly SignalsOfTrace[]> {
    const config = await signalConfig(scope);
    const configKey = configKeyOf(scope, config);
    const ids = [...new Set(traces.map(signalRowId))];
    const rows = await scope.platform.stores.traceSignals.all({ ids, traceBeforeMs: null });
    const current = new Map(rows.flatMap((row) => (row.configKey === configKey ? [[row.id, row] as const] : [])));
    return traces.map((trace) => signalsOfTrace(trace, current.get(signalRowId(trace)), config));
  },
});
