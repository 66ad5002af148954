import { type RunRequest, assertRunRequest } from '../../src/domain/lens/schedule.ts';
import type { LensSettings, Selection } from '../../src/domain/lens/settings.ts';
import { builder, type InputFields } from './builder.ts';

// An execution is one agent run that a lens may review: the trace of one owner.

const CheckInput = builder.inputType('LensCheckInput', {
  description: 'A rule that reviewers judge executions by.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'Id, unique within the lens.' }),
    instruction: t.string({ required: true, description: 'The rule, at least 3 characters.' }),
    enabled: t.boolean({ description: 'Whether it is applied; true when absent.' }),
  }),
});

const AttributeInput = builder.inputType('LensAttributeFilterInput', {
  description: 'An attribute that one span of an execution must have.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Name of a span or resource attribute.' }),
    value: t.string({ required: true, description: 'Its exact value.' }),
  }),
});

const selectionFields = (t: InputFields) => ({
  service: t.string({ description: 'Only executions of this service.' }),
  agentName: t.string({ description: 'Only executions of this agent.' }),
  teamId: t.string({ description: 'Only executions of this team.' }),
  attributes: t.field({
    type: [AttributeInput],
    description: 'Attributes of an execution. One span must have all of them.',
  }),
  executionIds: t.idList({
    description:
      'Ids of the executions to review, as a preview lists them. Window, service, agent, team and attributes are then ignored; the sample limits apply.',
  }),
  samplePercent: t.float({ description: 'Percentage of the executions, above 0 and at most 100; 100 when absent.' }),
  sampleSize: t.int({ description: 'Maximum number of executions, at least 1; no limit when absent.' }),
});

export const SelectionInput = builder.inputType('LensSelectionInput', {
  description: 'Executions that a lens reviews. All conditions must match, unless `executionIds` names the executions.',
  fields: selectionFields,
});

export const SettingsInput = builder.inputType('LensSettingsInput', {
  description: 'Settings of a lens. It needs a context or an enabled check.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the lens, not empty.' }),
    model: t.string({ required: true, description: 'Public name of the model that reviews.' }),
    context: t.string({ description: 'Expected behaviour, for reviewers; none when absent.' }),
    checks: t.field({ type: [CheckInput], description: 'Rules that executions are judged by; none when absent.' }),
    ...selectionFields(t),
    lookbackHours: t.int({ description: 'Length of the window in hours, 1 to 1,000,000; 24 when absent.' }),
    concurrency: t.int({
      description:
        'Maximum number of concurrent model calls of a run, at least 1; 8 when absent. A run makes at most 256 at a time.',
    }),
    enabled: t.boolean({ description: 'Whether runs repeat; true when absent.' }),
    intervalMinutes: t.int({ description: 'Minutes between runs, at least 1; 15 when absent.' }),
    monthlyBudgetUsd: t.float({ description: 'Budget of a calendar month, UTC, in USD, above 0; 100 when absent.' }),
  }),
});

export const selectionFrom = (input: typeof SelectionInput.$inferInput): Selection => ({
  source: 'traces',
  service: input.service ?? '',
  agentName: input.agentName ?? '',
  filters: [...(input.attributes ?? [])],
  sampleSize: input.sampleSize ?? null,
  samplePercent: input.samplePercent ?? 100,
  teamId: input.teamId ?? '',
  executionIds: [...(input.executionIds ?? [])],
});

export const settingsFrom = (input: typeof SettingsInput.$inferInput): LensSettings => ({
  ...selectionFrom(input),
  name: input.name,
  context: input.context ?? '',
  lookbackHours: input.lookbackHours ?? 24,
  checks: (input.checks ?? []).map(({ id, instruction, enabled }) => ({ id, instruction, enabled: enabled ?? true })),
  model: input.model,
  enabled: input.enabled ?? true,
  intervalMinutes: input.intervalMinutes ?? 15,
  concurrency: input.concurrency ?? 8,
  monthlyBudget: input.monthlyBudgetUsd ?? 100,
});

export const LENS_ID = 'The lens: global id or its id on the HTTP routes.';

export const RunInput = builder.inputType('RunLensInput', {
  description: 'The lens to run, and settings of this run that differ from those of the lens.',
  fields: (t) => ({
    id: t.id({ required: true, description: LENS_ID }),
    settings: t.field({ type: SettingsInput, description: 'Settings of this run; those of the lens when absent.' }),
    lookbackHours: t.int({
      description:
        'Length of the window in hours, 1 to 1,000,000. That of the settings when absent. When `settings` is absent, too, the window begins no earlier than the last scan.',
    }),
    from: t.field({
      type: 'DateTime',
      description: 'Start of the window. Needs `to`; `lookbackHours` is then ignored.',
    }),
    to: t.field({ type: 'DateTime', description: 'End of the window. Needs `from`.' }),
    agentName: t.string({ description: 'Only executions of this agent.' }),
  }),
});

/** The requested run. Throws InvalidInput. */
export const runRequestFrom = (input: typeof RunInput.$inferInput): RunRequest =>
  assertRunRequest({
    settings: input.settings ? settingsFrom(input.settings) : null,
    lookbackHours: input.lookbackHours ?? null,
    start: input.from ?? null,
    end: input.to ?? null,
    agentName: input.agentName ?? null,
  });
