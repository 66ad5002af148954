import { findCatalogEntries, findCatalogEntry, findCatalogSnapshot } from '../resolvers/catalog.ts';
import type { SnapshotPin } from '../resolvers/operation/catalog-search.ts';
import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import { type DeclaredFields, declaredFieldOf, extraFieldsOf } from '../src/domain/catalog/declared-fields.ts';
import type { FoundEntries } from '../src/domain/catalog/result-cache.ts';
import { answerBasis, FROM_SOURCE } from './base/answer-basis.ts';
import { builder } from './base/builder.ts';
import { CatalogEntryFilterType, CatalogEntryOrderType, readSearch, SNAPSHOT_ARG } from './base/catalog-search.ts';
import { decimalText } from './base/decimal.ts';
import { localId } from './base/global-id.ts';
import { SEARCH_COST } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { type PageArgs, pageCost, pageOf } from './base/paging.ts';
import { CatalogEntryType } from './base/refs.ts';

/** Names of the declared fields of the price map whose values have this type. */
type NameOf<Value> = {
  [Name in keyof DeclaredFields]: DeclaredFields[Name] extends Value | null ? Name : never;
}[keyof DeclaredFields];

builder.node(CatalogEntryType, {
  description:
    'A model as one provider offers it, with price and capabilities. Fields are null where the price map has no value.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findCatalogEntry(scope, id)),
  fields: (t) => {
    const tokens = (name: NameOf<number>, description: string) =>
      t.int({
        nullable: true,
        description,
        extensions: FROM_SOURCE,
        resolve: (entry) => declaredFieldOf(entry, name),
      });
    const price = (name: NameOf<number>, description: string) =>
      t.field({
        type: 'Decimal',
        nullable: true,
        description,
        extensions: FROM_SOURCE,
        resolve: (entry) => priceOf(entry, name),
      });
    const flag = (name: NameOf<boolean>, description: string) =>
      t.boolean({
        nullable: true,
        description,
        extensions: FROM_SOURCE,
        resolve: (entry) => declaredFieldOf(entry, name),
      });
    return {
      entryId: t.exposeID('id', {
        extensions: FROM_SOURCE,
        description: 'Key in the price map. Case-sensitive, may contain slashes: `openrouter/openai/gpt-4o`.',
      }),
      provider: t.string({
        nullable: true,
        extensions: FROM_SOURCE,
        description: 'Provider, e.g. `openai`.',
        resolve: (entry) => declaredFieldOf(entry, 'provider'),
      }),
      mode: t.string({
        nullable: true,
        extensions: FROM_SOURCE,
        description: 'Kind of model, e.g. `chat` or `embedding`. An open set: the price map adds modes.',
        resolve: (entry) => declaredFieldOf(entry, 'mode'),
      }),
      maxInputTokens: tokens('max_input_tokens', 'Maximum input tokens of one call.'),
      maxOutputTokens: tokens('max_output_tokens', 'Maximum output tokens of one call.'),
      maxTokens: tokens('max_tokens', 'Combined token limit of older entries.'),
      inputCostPerToken: price('input_cost_per_token', 'Price of an input token in USD.'),
      outputCostPerToken: price('output_cost_per_token', 'Price of an output token in USD.'),
      cacheReadInputTokenCost: price(
        'cache_read_input_token_cost',
        'Price in USD of an input token read from a cache.',
      ),
      inputCostPerAudioToken: price('input_cost_per_audio_token', 'Price of an audio input token in USD.'),
      outputCostPerReasoningToken: price('output_cost_per_reasoning_token', 'Price of a reasoning token in USD.'),
      deprecationDate: t.string({
        nullable: true,
        extensions: FROM_SOURCE,
        description: 'Date on which the provider retires the model, `YYYY-MM-DD`.',
        resolve: (entry) => declaredFieldOf(entry, 'deprecation_date'),
      }),
      supportsFunctionCalling: flag('supports_function_calling', 'Whether the model calls tools.'),
      supportsParallelFunctionCalling: flag(
        'supports_parallel_function_calling',
        'Whether the model calls several tools in one answer.',
      ),
      supportsVision: flag('supports_vision', 'Whether the model reads images.'),
      supportsAudioInput: flag('supports_audio_input', 'Whether the model takes audio.'),
      supportsAudioOutput: flag('supports_audio_output', 'Whether the model produces audio.'),
      supportsPromptCaching: flag('supports_prompt_caching', 'Whether the provider caches prompts.'),
      supportsReasoning: flag('supports_reasoning', 'Whether the model reasons before it answers.'),
      supportsResponseSchema: flag('supports_response_schema', 'Whether answers can follow a JSON schema.'),
      supportsSystemMessages: flag('supports_system_messages', 'Whether the model takes system messages.'),
      supportsWebSearch: flag('supports_web_search', 'Whether the model searches the web.'),
      extraFields: t.field({
        type: 'JSON',
        extensions: FROM_SOURCE,
        description: 'All other keys of the price map entry, unchanged. Numbers are floats.',
        resolve: (entry) => Object.fromEntries(extraFieldsOf(entry)),
      }),
    };
  },
});

function priceOf(entry: CatalogEntry, name: NameOf<number>): string | null {
  const price = declaredFieldOf(entry, name);
  return price === null ? null : decimalText(price);
}

export const CatalogSourceType = builder.enumType('CatalogSource', {
  description: 'Source of a catalog snapshot.',
  values: {
    EMBEDDED: { value: 'embedded', description: 'Shipped with this version.' },
    FILE: { value: 'file', description: 'A file of this installation.' },
    UPSTREAM: { value: 'upstream', description: 'Fetched from the published price map.' },
  } as const,
});

export const CatalogSnapshotType = builder.objectRef<CatalogSnapshot>('CatalogSnapshot');

builder.node(CatalogSnapshotType, {
  description: 'One state of the catalog.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findCatalogSnapshot(scope, id)),
  fields: (t) => ({
    snapshotId: t.exposeID('id', {
      extensions: FROM_SOURCE,
      description: 'Content hash: equal data has equal ids. Pass it as `snapshotId`.',
    }),
    takenAt: t.expose('takenAt', {
      type: 'DateTime',
      extensions: FROM_SOURCE,
      description: 'When this data was first fetched or built. A check that finds no change does not update this time.',
    }),
    source: t.expose('source', { type: CatalogSourceType, description: 'Source of the data.' }),
  }),
});

/** The snapshot that a `snapshotId` argument names; null when absent. */
export const pinOf = (snapshotId: string | null | undefined): SnapshotPin | null =>
  typeof snapshotId === 'string' ? { id: localId('CatalogSnapshot', snapshotId), path: ['snapshotId'] } : null;

/**
 * A page of found entries. Cached results are the same object for equal searches, so `found` can be an answer basis.
 */
const entryConnection = (found: FoundEntries, args: PageArgs) => ({
  ...pageOf(found.entries, args, ({ id }) => id),
  snapshot: found.snapshot,
  found,
});

builder.queryFields((t) => ({
  catalogEntry: t.field({
    type: CatalogEntryType,
    nullable: true,
    description: 'One catalog entry. Null when the current snapshot has none with this id.',
    args: { id: t.arg.id({ required: true, description: 'Global id, or the exact key in the price map.' }) },
    resolve: (_root, { id }, { scope }) => findCatalogEntry(scope, localId('CatalogEntry', id)),
  }),
  catalogEntries: t.connection(
    {
      type: CatalogEntryType,
      description: 'Catalog entries. At most 500 a page; 50 without `first` and `last`.',
      complexity: (args) => ({ ...pageCost(args), field: SEARCH_COST }),
      extensions: answerBasis((page: { readonly found: FoundEntries }) => page.found),
      args: {
        filter: t.arg({ type: CatalogEntryFilterType, description: 'All entries when absent.' }),
        orderBy: t.arg({ type: CatalogEntryOrderType, description: 'The order of the price map when absent.' }),
        snapshotId: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      resolve: async (_root, { filter, orderBy, snapshotId, ...pageArgs }, { scope }) =>
        entryConnection(
          await findCatalogEntries(scope, { ...readSearch(filter, orderBy), pin: pinOf(snapshotId) }),
          pageArgs,
        ),
    },
    {
      name: 'CatalogEntryConnection',
      description: 'One page of catalog entries.',
      fields: (connectionFields) => ({
        totalCount: connectionFields.int({
          description: 'Number of entries that match the filter, on all pages.',
          extensions: FROM_SOURCE,
          resolve: ({ totalCount }) => totalCount,
        }),
        snapshot: connectionFields.field({
          type: CatalogSnapshotType,
          description: 'Snapshot that this page shows.',
          extensions: FROM_SOURCE,
          resolve: ({ snapshot }) => snapshot,
        }),
      }),
    },
    { name: 'CatalogEntryEdge', description: 'One catalog entry of a page.' },
  ),
}));
