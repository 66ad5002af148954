import { defineEntity, p } from '@mikro-orm/core';
import type { Signal, TraceSignals } from '../../../domain/lens/signals.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** Questions about new traces. */
export const SignalConfigEntity = defineEntity({
  name: 'SignalConfigEntity',
  tableName: 'lens_signal_config',
  properties: {
    id: p.text().primary(),
    model: p.text(),
    threshold: p.double(),
    signals: p.json().columnType('json').$type<readonly Signal[]>(),
    ...stampColumns(),
  },
});

/** Answers about one trace. */
export const TraceSignalEntity = defineEntity({
  name: 'TraceSignalEntity',
  tableName: 'lens_trace_signal',
  properties: {
    id: p.text().primary(),
    traceId: p.text(),
    traceRef: p.text(),
    configKey: p.text(),
    spanCount: p.integer(),
    status: p.text().$type<TraceSignals['status']>(),
    model: p.text(),
    scores: p.json().columnType('json').$type<TraceSignals['scores']>(),
    traceStartMs: p.bigint('number'),
    askedMs: p.bigint('number'),
    ...stampColumns(),
  },
  indexes: [{ properties: ['traceStartMs'] }],
});
