import { DATASET_LIMITS } from '../src/domain/lens/text-limits.ts';
import { buildDatasetCases, type BuiltCases, type DatasetSource } from '../resolvers/lens-dataset-sources.ts';
import { createDataset, listDatasets, readDataset, saveDatasetRevision } from '../resolvers/lens-datasets.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { caseOfLine, NO_SOURCE } from '../src/domain/lens/dataset-cases.ts';
import type { Dataset, DatasetCase, ReadDataset } from '../src/domain/lens/dataset.ts';
import { nullIfBlank, nullIfEmpty } from '../src/domain/optional-text.ts';
import { exportName, exportText } from '../src/domain/lens/dataset-export.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { nodesOf, readableOrNull } from './base/node-loading.ts';
import { pageCost } from './base/paging.ts';
import { traceAddressOf } from './base/trace-address.ts';

const CaseType = builder.objectRef<DatasetCase>('DatasetCase').implement({
  description: 'One test case.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'SHA-256 hex of messages, reply and tool calls.' }),
    messages: t.field({
      type: 'JSON',
      description: 'Messages: a list of objects with `role`, `content`, `name` and `tool_calls`.',
      resolve: ({ messages }) => snakeCased(messages),
    }),
    reply: t.string({
      nullable: true,
      description: 'Text of the answer. Null without one.',
      resolve: ({ reply }) => nullIfEmpty(reply),
    }),
    toolCalls: t.field({
      type: 'JSON',
      description: 'Tool calls of the answer: a list of objects with `name` and `arguments`.',
      resolve: ({ toolCalls }) => snakeCased(toolCalls),
    }),
    expected: t.string({
      nullable: true,
      description: 'Expected behaviour. Null when not stated.',
      resolve: ({ expected }) => nullIfEmpty(expected),
    }),
    included: t.exposeBoolean('included', { description: 'Whether exports contain it.' }),
    traceId: t.id({
      nullable: true,
      description: 'Trace that it was built from. Null without one.',
      resolve: ({ source }) => nullIfBlank(source.traceId),
    }),
    findingId: t.id({
      nullable: true,
      description: 'Finding that it was built from. Null without one.',
      resolve: ({ source }) => nullIfBlank(source.findingId),
    }),
  }),
});

const SummaryType = builder.objectRef<Dataset>('DatasetSummary');

builder.node(SummaryType, {
  description: 'A named list of test cases.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf(async (id, { scope }) => {
    const found = await readableOrNull(() => readDataset(scope, { id, revision: null }));
    return found === null ? null : found.dataset;
  }),
  fields: (t) => ({
    datasetId: t.exposeID('id', { description: 'Its id on the HTTP routes.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    agentName: t.string({
      nullable: true,
      description: 'Its agent. Null for none.',
      resolve: ({ agentName }) => nullIfEmpty(agentName),
    }),
    latestRevision: t.exposeInt('latest', { description: 'Number of the latest revision, from 0.' }),
    caseCount: t.exposeInt('caseCount', { description: 'Number of cases of the latest revision.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the latest revision was saved; before the first revision, when the dataset was created.',
    }),
  }),
});

const DatasetType = builder.objectRef<ReadDataset>('Dataset').implement({
  description: 'A revision of a dataset.',
  fields: (t) => ({
    summary: t.expose('dataset', { type: SummaryType, description: 'The dataset.' }),
    revision: t.exposeInt('revision', { description: 'Number of this revision.' }),
    fileName: t.string({ description: 'Name of the file of an export.', resolve: exportName }),
    jsonLines: t.string({
      nullable: true,
      description: 'Its included cases as JSON lines, as the HTTP route exports them. Null without an included case.',
      resolve: (found) => nullIfEmpty(exportText(found)),
    }),
    cases: t.field({
      type: [CaseType],
      complexity: { field: 1, multiplier: 10 },
      description: 'Its cases, at most 200.',
      resolve: ({ cases }) => [...cases],
    }),
  }),
});

const BuiltType = builder.objectRef<BuiltCases>('BuiltDatasetCases').implement({
  description: 'Cases that are not saved.',
  fields: (t) => ({
    cases: t.field({
      type: [CaseType],
      complexity: { field: 1, multiplier: 10 },
      description: 'The cases.',
      resolve: ({ cases }) => [...cases],
    }),
    skipped: t.field({
      type: 'JSON',
      description:
        'Sources without a case: objects with `source` and `reason` (`duplicate`, `no_content`, `too_large`, `over_limit`, `invalid`).',
      resolve: ({ skipped }) => snakeCased(skipped),
    }),
  }),
});

const ID = 'The dataset: global id or its id on the HTTP routes.';
const localDataset = (id: string): string => localId('DatasetSummary', id);

builder.queryFields((t) => ({
  datasets: t.field({
    type: [SummaryType],
    complexity: pageCost,
    description: 'All datasets, the last changed first. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listDatasets(scope, undefined))],
  }),
  dataset: t.field({
    type: DatasetType,
    nullable: true,
    description:
      'A revision of a dataset. Fails with NOT_FOUND when it does not exist. For proxy administrators with full or read-only access.',
    args: {
      id: t.arg.id({ required: true, description: ID }),
      revision: t.arg.int({ description: 'Number of the revision; the latest when absent.' }),
    },
    resolve: (_root, { id, revision }, { scope }) =>
      readDataset(scope, { id: localDataset(id), revision: revision ?? null }),
  }),
}));

const CreateInput = builder.inputType('CreateDatasetInput', {
  description: 'A new dataset.',
  fields: (t) => ({
    name: t.string({ required: true, description: `Its name, 1 to ${DATASET_LIMITS.name} characters.` }),
    agentName: t.string({
      description: `Its agent, at most ${DATASET_LIMITS.agentName} characters; none when absent.`,
    }),
  }),
});

const CaseInput = builder.inputType('DatasetCaseInput', {
  description: 'A test case.',
  fields: (t) => ({
    content: t.field({
      type: 'JSON',
      required: true,
      description: 'Object with `messages`, and optionally `reply`, `tool_calls`, `expected` and `agent_version`.',
    }),
    included: t.boolean({ description: 'Whether exports contain it; true when absent.' }),
    traceId: t.id({ description: 'Trace that it was built from: global id or trace id.' }),
    findingId: t.id({ description: 'Finding that it was built from.' }),
  }),
});

const SaveInput = builder.inputType('SaveDatasetInput', {
  description: 'The next revision of a dataset.',
  fields: (t) => ({
    id: t.id({ required: true, description: ID }),
    baseRevision: t.int({
      required: true,
      description: 'Revision that the new cases are based on. ConflictError when it is not the latest revision.',
    }),
    cases: t.field({ type: [CaseInput], required: true, description: 'All cases, at most 200.' }),
  }),
});

const FindingSourceInput = builder.inputType('FindingSourceInput', {
  description: 'Findings of a lens: a case for each quoted span.',
  fields: (t) => ({
    lensId: t.id({ required: true, description: 'The lens: global id or its id on the HTTP routes.' }),
    findingIds: t.idList({ required: true, description: 'Ids of the findings.' }),
  }),
});

const SourceInput = builder.inputType('DatasetSourceInput', {
  description: 'What cases are built from. Exactly one field is set.',
  isOneOf: true,
  fields: (t) => ({
    traceId: t.id({
      description: 'Global id of a trace, or its trace id. The case is its latest conversation with a model.',
    }),
    text: t.string({ description: 'A user message, or JSON lines with `messages`.' }),
    findings: t.field({
      type: FindingSourceInput,
      description: 'Findings.',
    }),
  }),
});

const BuildInput = builder.inputType('BuildDatasetInput', {
  description: 'What to build cases from.',
  fields: (t) => ({
    sources: t.field({ type: [SourceInput], required: true, description: `Sources, 1 to ${DATASET_LIMITS.sources}.` }),
    datasetId: t.id({ description: 'Dataset whose cases are not built again: they are skipped as duplicates.' }),
  }),
});

function sourceOf({ traceId, text, findings }: typeof SourceInput.$inferInput): DatasetSource {
  if (typeof traceId === 'string') {
    const address = traceAddressOf(traceId, null);
    return { kind: 'trace', traceId: address.traceId, traceRef: address.traceRef ?? '', spanId: '' };
  }
  if (findings) return { kind: 'finding', lensId: localId('Lens', findings.lensId), findingIds: findings.findingIds };
  return { kind: 'text', text: text ?? '' };
}

/** The case of an input. Throws InvalidInput for content of another form. */
function draftOf({ content, included, traceId, findingId }: typeof CaseInput.$inferInput) {
  const draft = caseOfLine(JSON.stringify(content));
  if (draft === null) throw new InvalidInput('A case needs `messages` with `role` and `content`.');
  const source = {
    ...NO_SOURCE,
    traceId: traceId === null || traceId === undefined ? '' : traceAddressOf(traceId, null).traceId,
    findingId: findingId ?? '',
  };
  return { ...draft, included: included ?? true, source };
}

builder.mutationFields((t) => ({
  createDataset: t.field({
    type: DatasetType,
    description: 'Creates an empty dataset. For proxy administrators.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The dataset.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'CreateDatasetResult', description: 'The dataset, or why it was not created.' },
    },
    resolve: (_root, { input: { name, agentName } }, { scope }) =>
      createDataset(scope, { name, agentName: agentName ?? '' }),
  }),
  buildDatasetCases: t.field({
    type: BuiltType,
    description:
      'Builds cases without saving them. Expensive: reads the spans of each source. For proxy administrators.',
    args: { input: t.arg({ type: BuildInput, required: true, description: 'The sources.' }) },
    errors: {
      types: [NotFound, InvalidInput],
      union: { name: 'BuildDatasetCasesResult', description: 'The cases, or why there are none.' },
    },
    resolve: (_root, { input }, { scope }) =>
      buildDatasetCases(scope, {
        sources: input.sources.map(sourceOf),
        datasetId: typeof input.datasetId === 'string' ? localDataset(input.datasetId) : null,
      }),
  }),
  saveDataset: t.field({
    type: DatasetType,
    description: 'Saves the next revision of a dataset. For proxy administrators.',
    args: { input: t.arg({ type: SaveInput, required: true, description: 'The revision.' }) },
    errors: {
      types: [NotFound, InvalidInput, Conflict],
      union: { name: 'SaveDatasetResult', description: 'The revision, or why it was not saved.' },
    },
    resolve: (_root, { input: { id, baseRevision: base, cases } }, { scope }) =>
      saveDatasetRevision(scope, { id: localDataset(id), base, cases: cases.map(draftOf) }),
  }),
}));
