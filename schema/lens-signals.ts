import { readSignalConfig, readTraceSignals, setSignalConfig, type SignalsOfTrace } from '../resolvers/lens-signals.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { Signal, SignalConfig, SignalFlag } from '../src/domain/lens/signals.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { described } from './base/descriptions.ts';
import { CONTENT_COST } from './base/limits.ts';
import { partsOf, TraceType } from './base/refs.ts';

const SignalType = builder.objectRef<Signal>('LensSignal').implement({
  description: 'A yes/no question about every new trace.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, in lower snake case.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    question: t.exposeString('question', { description: 'The question.' }),
  }),
});

const ConfigType = builder.objectRef<SignalConfig>('LensSignalSettings').implement({
  description: 'Questions about new traces. Without a model or a signal, no trace is classified.',
  fields: (t) => ({
    model: t.string({
      nullable: true,
      description: 'Model that answers. Null for none.',
      resolve: ({ model }) => nullIfEmpty(model),
    }),
    threshold: t.exposeFloat('threshold', {
      description: 'Minimum probability of yes that sets a flag, 0.05 to 0.95.',
    }),
    signals: t.field({
      type: [SignalType],
      description: 'The questions.',
      resolve: ({ signals }) => [...signals],
    }),
  }),
});

const StatusType = builder.enumType('TraceSignalStatus', {
  description: 'Whether the signals of a trace are known.',
  values: described<SignalsOfTrace['status']>({
    unclassified: 'Not classified with the current questions.',
    pending: 'Being classified.',
    classified: 'Answered.',
    failed: 'The model did not answer. The trace is classified again later.',
  }),
});

const FlagType = builder.objectRef<SignalFlag>('TraceSignalFlag').implement({
  description: 'A signal whose probability reached the threshold.',
  fields: (t) => ({
    signalId: t.exposeID('signalId', { description: 'Id of the signal.' }),
    name: t.exposeString('name', { description: 'Name of the signal.' }),
    score: t.exposeFloat('score', { description: 'Probability of yes, 0 to 1.' }),
  }),
});

const TraceSignalsType = builder.objectRef<SignalsOfTrace>('TraceSignals').implement({
  description: 'The signals of the trace of one key.',
  fields: (t) => ({
    traceRef: t.exposeID('traceRef', { description: 'Ref of the trace.' }),
    status: t.expose('status', { type: StatusType, description: 'Whether the signals are known.' }),
    flags: t.field({
      type: [FlagType],
      description: 'Signals at or above the threshold, the highest first.',
      resolve: ({ flags }) => [...flags],
    }),
    classifiedAt: t.expose('classifiedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the questions were answered. Null before that.',
    }),
  }),
});

builder.objectField(TraceType, 'signals', (t) =>
  t.field({
    type: [TraceSignalsType],
    nullable: true,
    complexity: CONTENT_COST,
    description:
      'Signals of the trace, for each key that sent it. Null when they could not be read. For proxy administrators with full or read-only access.',
    resolve: async (trace, _args, { scope }) => [...(await readTraceSignals(scope, partsOf(trace)))],
  }),
);

builder.queryField('signalSettings', (t) =>
  t.field({
    type: ConfigType,
    nullable: true,
    description: 'Questions about new traces. For proxy administrators with full or read-only access.',
    resolve: (_root, _args, { scope }) => readSignalConfig(scope, undefined),
  }),
);

const SignalInput = builder.inputType('LensSignalInput', {
  description: 'A yes/no question about every new trace.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Its id, in lower snake case.' }),
    name: t.string({ required: true, description: 'Its name.' }),
    question: t.string({ required: true, description: 'The question.' }),
  }),
});

const SetInput = builder.inputType('SetSignalSettingsInput', {
  description: 'All settings of signals.',
  fields: (t) => ({
    model: t.string({ description: 'Model that answers; none when absent.' }),
    threshold: t.float({
      required: true,
      defaultValue: 0.5,
      description: 'Minimum probability of yes that sets a flag, 0.05 to 0.95.',
    }),
    signals: t.field({ type: [SignalInput], required: true, description: 'The questions, at most 20.' }),
  }),
});

builder.mutationField('setSignalSettings', (t) =>
  t.field({
    type: ConfigType,
    description: 'Replaces the settings of signals. For proxy administrators.',
    args: { input: t.arg({ type: SetInput, required: true, description: 'The settings.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'SetSignalSettingsResult', description: 'The settings, or why they were not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      setSignalConfig(scope, { ...input, model: input.model ?? '', signals: [...input.signals] }),
  }),
);
