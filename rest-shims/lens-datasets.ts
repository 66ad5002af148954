import type { JsonObject } from '../src/domain/json-object.ts';
import { buildDatasetCases, type DatasetSource } from '../resolvers/lens-dataset-sources.ts';
import { createDataset, listDatasets, readDataset, saveDatasetRevision } from '../resolvers/lens-datasets.ts';
import { camelCased, snakeCased } from '../src/domain/key-case.ts';
import { type CaseDraft, NO_SOURCE } from '../src/domain/lens/dataset-cases.ts';
import { DATASET_LIMITS } from '../src/domain/lens/text-limits.ts';
import type { Dataset, ReadDataset } from '../src/domain/lens/dataset.ts';
import type { Issue } from '../src/domain/errors.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { exportName, exportText, includedCases } from '../src/domain/lens/dataset-export.ts';
import {
  bodyOf,
  choiceOf,
  flag,
  listOf,
  modelOf,
  optional,
  orNull,
  queryOf,
  type Reader,
  required,
  textOf,
  wholeOf,
} from './helpers/http/strict-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const CHANGING = { ...LENS_CHANGE, bodyLimit: 8 * 1024 * 1024 } as const;

const anyText = textOf();
const nonEmptyText = textOf({ min: 1 });

const toolCalls = optional(listOf(modelOf({ name: required(anyText), arguments: optional(anyText, '') })), []);
/** Source of a case, as it is stored with the case. */
const caseSource = modelOf({
  trace_id: optional(anyText, ''),
  trace_ref: optional(anyText, ''),
  span_id: optional(anyText, ''),
  finding_id: optional(anyText, ''),
  lens_id: optional(anyText, ''),
});
const caseModel = modelOf({
  id: optional(anyText, ''),
  messages: required(
    listOf(
      modelOf({
        role: required(nonEmptyText),
        content: optional(anyText, ''),
        name: optional(anyText, ''),
        tool_calls: toolCalls,
      }),
      { min: 1 },
    ),
  ),
  reply: optional(anyText, ''),
  tool_calls: toolCalls,
  expected: optional(anyText, ''),
  included: optional(flag, true),
  source: optional(orNull(caseSource), null),
  agent_version: optional(anyText, ''),
});

const readCreate = bodyOf(
  modelOf({
    name: required(textOf({ min: 1, max: DATASET_LIMITS.name })),
    agent_name: optional(textOf({ max: DATASET_LIMITS.agentName }), ''),
  }),
);
const readSave = bodyOf(modelOf({ base_revision: required(wholeOf({ min: 0 })), cases: required(listOf(caseModel)) }));

// Members have the names of the domain in snake case, and the readers check their types: the casts below are safe.
const caseDraft = ({ id: _id, source, ...caseMembers }: JsonObject): CaseDraft => ({
  ...(camelCased(caseMembers) as CaseDraft),
  source: { ...NO_SOURCE, ...(camelCased(source ?? {}) as object) },
});

/** Readers of the sources that cases are built from, by kind. */
const SOURCES = {
  trace: modelOf({
    kind: required(choiceOf('trace')),
    trace_id: required(nonEmptyText),
    trace_ref: optional(anyText, ''),
    span_id: optional(anyText, ''),
  }),
  finding: modelOf({
    kind: required(choiceOf('finding')),
    lens_id: required(nonEmptyText),
    finding_ids: required(listOf(nonEmptyText, { min: 1 })),
  }),
  text: modelOf({ kind: required(choiceOf('text')), text: required(anyText) }),
} as const;

/** Reads a source by the reader of its kind. */
const readSource: Reader<DatasetSource> = (input, path, issues: Issue[]) => {
  const kind = (input as { readonly kind?: unknown } | null)?.kind;
  const read = kind === 'trace' || kind === 'finding' || kind === 'text' ? SOURCES[kind] : null;
  if (read !== null) return camelCased(read(input, path, issues) ?? null) as DatasetSource;
  const message = "Input should be 'trace', 'finding' or 'text'";
  issues.push({ path: [...path, 'kind'], rule: 'literal_error', message });
  return undefined;
};

const readBuild = bodyOf(
  modelOf({
    sources: required(listOf(readSource, { min: 1, max: DATASET_LIMITS.sources })),
    dataset_id: optional(orNull(anyText), null),
  }),
);

/** Default of the revision in a query: stands for the latest revision. */
const LATEST = -1;
const readRevision = queryOf(modelOf({ revision: optional(wholeOf({ min: 0 }), LATEST) }));

/** A revision that no dataset has. */
const UNKNOWN_REVISION = -1;
/** Revision in a path, of at most nine digits to fit in a 32-bit integer. Malformed text gives `UNKNOWN_REVISION`. */
const parseRevision = (text: string | undefined): number =>
  /^\d{1,9}$/.test(text ?? '') ? Number(text) : UNKNOWN_REVISION;

const parseDatasetRevision = ({
  params,
  search,
}: {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly search: string;
}) => {
  const { revision } = readRevision(search);
  return { id: params['dataset'] ?? '', revision: revision === LATEST ? null : revision };
};

const summaryJson = ({ id, name, agentName, latest, caseCount, updatedAt }: Dataset) => ({
  id,
  name,
  agent_name: agentName,
  revision: latest,
  case_count: caseCount,
  updated_at: updatedAt.toISOString(),
});

const datasetJson = ({ dataset, revision, cases }: ReadDataset) => ({
  id: dataset.id,
  name: dataset.name,
  agent_name: dataset.agentName,
  team_id: dataset.teamId,
  created_at: dataset.createdAt.toISOString(),
  revision,
  created_by: dataset.createdBy,
  cases: snakeCased(cases),
});

/** Datasets of test cases from traces, findings and texts. */
export const lensDatasetRoutes: readonly RouteRow[] = [
  route({
    ...LENS_READ,
    name: 'lens.datasets',
    paths: ['/lens/datasets'],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: listDatasets,
    render: (datasets) => json(datasets.map(summaryJson)),
  }),
  route({
    ...CHANGING,
    name: 'lens.createDataset',
    bodySchema: readCreate.schema,
    paths: ['/lens/datasets'],
    statuses: [200, 401, 403, 422],
    parse({ body }) {
      const { name, agent_name: agentName } = readCreate(body);
      return { name, agentName };
    },
    run: createDataset,
    render: (dataset) => json(datasetJson(dataset)),
  }),
  route({
    ...CHANGING,
    name: 'lens.buildDataset',
    bodySchema: readBuild.schema,
    paths: ['/lens/datasets/build'],
    statuses: [200, 401, 403, 404, 422],
    parse({ body }) {
      const { sources, dataset_id: datasetId } = readBuild(body);
      return { sources, datasetId: nullIfEmpty(datasetId) };
    },
    run: buildDatasetCases,
    render: (result) => json(snakeCased(result)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.dataset',
    querySchema: readRevision.schema,
    paths: ['/lens/datasets/:dataset'],
    statuses: [200, 401, 403, 404, 422],
    parse: parseDatasetRevision,
    run: readDataset,
    render: (dataset) => json(datasetJson(dataset)),
  }),
  route({
    ...CHANGING,
    name: 'lens.saveDataset',
    bodySchema: readSave.schema,
    paths: ['/lens/datasets/:dataset/revisions'],
    statuses: [200, 401, 403, 404, 409, 422],
    parse({ params, body }) {
      const { base_revision: base, cases } = readSave(body);
      return { id: params['dataset'] ?? '', base, cases: cases.map(caseDraft) };
    },
    run: saveDatasetRevision,
    render: (dataset) => json(datasetJson(dataset)),
  }),
  route({
    ...LENS_READ,
    name: 'lens.exportDataset',
    querySchema: readRevision.schema,
    paths: ['/lens/datasets/:dataset/export'],
    statuses: [200, 401, 403, 404, 422],
    parse: parseDatasetRevision,
    run: readDataset,
    render: (found) => ({
      headers: {
        'content-disposition': `attachment; filename="${exportName(found)}"`,
      },
      body: {
        kind: 'bytes',
        bytes: new TextEncoder().encode(exportText(found)),
        contentType: 'application/x-ndjson',
      },
    }),
  }),
  route({
    ...LENS_READ,
    name: 'lens.datasetCases',
    paths: ['/lens/datasets/:dataset/revisions/:revision/cases'],
    statuses: [200, 401, 403, 404],
    parse: ({ params }) => ({ id: params['dataset'] ?? '', revision: parseRevision(params['revision']) }),
    run: readDataset,
    render: (found) => json({ dataset_id: found.dataset.id, revision: found.revision, cases: includedCases(found) }),
  }),
];
