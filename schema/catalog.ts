import { findCatalogEntries, findCatalogEntry, type FoundEntries } from '../resolvers/catalog.ts';
import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import { type DeclaredFields, declaredFieldsOf, extraFieldsOf } from '../src/domain/catalog/declared-fields.ts';
import { builder } from './builder.ts';
import { DemandsInputType, readSearch, SNAPSHOT_ARG, SortInputType } from './catalog-search.ts';
import { decimalText } from './decimal.ts';
import { SEARCH_COST } from './limits.ts';
import { type PageArgs, pageCost, pageOf } from './paging.ts';
import { CatalogEntryType } from './refs.ts';

const read = new WeakMap<CatalogEntry, DeclaredFields>();

/** Read once per entry: entries never change, and a page asks for ten fields of five hundred. */
function fieldsOf(entry: CatalogEntry): DeclaredFields {
  const known = read.get(entry);
  if (known) return known;
  const fields = declaredFieldsOf(entry);
  read.set(entry, fields);
  return fields;
}

type NameOf<Value> = {
  [Name in keyof DeclaredFields]: DeclaredFields[Name] extends Value | null ? Name : never;
}[keyof DeclaredFields];

CatalogEntryType.implement({
  description: 'A published model with its price and capabilities. Null where the price map says nothing.',
  fields: (t) => {
    const tokens = (name: NameOf<number>, description: string) =>
      t.int({ nullable: true, description, resolve: (entry) => fieldsOf(entry)[name] });
    const price = (name: NameOf<number>, description: string) =>
      t.field({ type: 'Decimal', nullable: true, description, resolve: (entry) => priceOf(entry, name) });
    const flag = (name: NameOf<boolean>, description: string) =>
      t.boolean({ nullable: true, description, resolve: (entry) => fieldsOf(entry)[name] });
    return {
      id: t.exposeID('id', { description: 'Canonical identifier; case-sensitive, may contain slashes.' }),
      provider: t.string({
        nullable: true,
        description: 'Who offers it, e.g. `openai`.',
        resolve: (entry) => fieldsOf(entry).provider,
      }),
      mode: t.string({
        nullable: true,
        description: 'What it does, e.g. `chat`, `embedding`.',
        resolve: (entry) => fieldsOf(entry).mode,
      }),
      maxInputTokens: tokens('max_input_tokens', 'Most input tokens of one call.'),
      maxOutputTokens: tokens('max_output_tokens', 'Most output tokens of one call.'),
      maxTokens: tokens('max_tokens', 'The older, combined limit.'),
      inputCostPerToken: price('input_cost_per_token', 'USD per input token.'),
      outputCostPerToken: price('output_cost_per_token', 'USD per output token.'),
      cacheReadInputTokenCost: price('cache_read_input_token_cost', 'USD per input token read from a cache.'),
      inputCostPerAudioToken: price('input_cost_per_audio_token', 'USD per audio input token.'),
      outputCostPerReasoningToken: price('output_cost_per_reasoning_token', 'USD per reasoning token.'),
      deprecationDate: t.string({
        nullable: true,
        description: 'When the provider retires it, `YYYY-MM-DD`.',
        resolve: (entry) => fieldsOf(entry).deprecation_date,
      }),
      supportsFunctionCalling: flag('supports_function_calling', 'Whether it calls tools.'),
      supportsParallelFunctionCalling: flag('supports_parallel_function_calling', 'Whether it calls several at once.'),
      supportsVision: flag('supports_vision', 'Whether it reads images.'),
      supportsAudioInput: flag('supports_audio_input', 'Whether it hears.'),
      supportsAudioOutput: flag('supports_audio_output', 'Whether it speaks.'),
      supportsPromptCaching: flag('supports_prompt_caching', 'Whether prompts are cached.'),
      supportsReasoning: flag('supports_reasoning', 'Whether it reasons before it answers.'),
      supportsResponseSchema: flag('supports_response_schema', 'Whether answers can be held to a JSON schema.'),
      supportsSystemMessages: flag('supports_system_messages', 'Whether it takes system messages.'),
      supportsWebSearch: flag('supports_web_search', 'Whether it searches the web.'),
      extraFields: t.field({
        type: 'JSON',
        description: 'Every further key of the price map, as it is there; numbers are floats.',
        resolve: (entry) => Object.fromEntries(extraFieldsOf(entry)),
      }),
    };
  },
});

function priceOf(entry: CatalogEntry, name: NameOf<number>): string | null {
  const price = fieldsOf(entry)[name];
  return price === null ? null : decimalText(price);
}

export const CatalogSourceType = builder.enumType('CatalogSource', {
  description: 'Where a state of the catalog came from.',
  values: {
    EMBEDDED: { value: 'embedded', description: 'Shipped with this version.' },
    FILE: { value: 'file', description: 'A file of this installation.' },
    UPSTREAM: { value: 'upstream', description: 'Fetched from the published price map.' },
  } as const,
});

export const CatalogSnapshotType = builder.objectRef<CatalogSnapshot>('CatalogSnapshot').implement({
  description: 'One state of the catalog.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names this state: equal data has equal ids.' }),
    takenAt: t.expose('takenAt', {
      type: 'DateTime',
      description:
        'When this data was first fetched, or made. A look at the source that finds no news does not renew it.',
    }),
    source: t.expose('source', { type: CatalogSourceType, description: 'Where it came from.' }),
  }),
});

const entryConnection = ({ entries, snapshot }: FoundEntries, args: PageArgs) => ({
  ...pageOf(entries, args, ({ id }) => id),
  totalCount: entries.length,
  snapshot,
});

builder.queryFields((t) => ({
  catalogEntry: t.field({
    type: CatalogEntryType,
    nullable: true,
    description: 'One model of the catalog. Null when there is none with exactly this id.',
    args: { id: t.arg.id({ required: true, description: 'Canonical identifier.' }) },
    resolve: (_root, { id }, { scope }) => findCatalogEntry(scope, id),
  }),
  catalogEntries: t.connection(
    {
      type: CatalogEntryType,
      description: 'The models of the catalog; every filter given must hold. At most 500 a page.',
      complexity: (page) => ({ ...pageCost(page), field: SEARCH_COST }),
      args: {
        provider: t.arg.string({ description: 'Equal, letter case ignored.' }),
        mode: t.arg.string({ description: 'Equal, letter case ignored.' }),
        model: t.arg.string({
          description: 'Part of the id, letter case ignored; after `re:` a regular expression to search the id for.',
        }),
        supportsVision: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsFunctionCalling: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsReasoning: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsAudioInput: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsAudioOutput: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsPromptCaching: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        supportsResponseSchema: t.arg.boolean({ description: 'Says so, or says it does not.' }),
        where: t.arg({ type: DemandsInputType, description: 'What entries must offer besides.' }),
        sort: t.arg({ type: SortInputType, description: "Without it they come in the catalog's own order." }),
        snapshot: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      resolve: async (_root, args, { scope }) =>
        entryConnection(await findCatalogEntries(scope, { ...readSearch(args), pin: args.snapshot ?? null }), args),
    },
    {
      name: 'CatalogEntryConnection',
      description: 'One page of the catalog.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many entries pass the filters.',
          resolve: ({ totalCount }) => totalCount,
        }),
        snapshot: connection.field({
          type: CatalogSnapshotType,
          description: 'The state of the catalog this page is from.',
          resolve: ({ snapshot }) => snapshot,
        }),
      }),
    },
    { name: 'CatalogEntryEdge', description: 'One model of a page.' },
  ),
}));
