import type { EntrySearch } from '../../src/domain/catalog/result-cache.ts';
import { CAPABILITIES, CAPABILITY_NAMES, type Capability } from '../../src/domain/catalog/capabilities.ts';
import { pricePerTokenFrom } from '../../src/domain/catalog/narrow-entries.ts';
import type { EntryOrder, EntrySort } from '../../src/domain/catalog/sort-entries.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { builder } from './builder.ts';
import { directionField } from './order.ts';

export const CapabilityType = builder.enumType('CatalogCapability', {
  description: 'A capability flag of the price map: `VISION` is `supports_vision`.',
  values: Object.fromEntries(
    CAPABILITY_NAMES.map((name) => [
      name.replace('supports_', '').toUpperCase(),
      { value: name, description: CAPABILITIES[name] },
    ]),
  ),
});

/** Filter of catalog entries as a client writes it. */
export interface EntryFilterInput {
  readonly provider?: string | null | undefined;
  readonly mode?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly supportsVision?: boolean | null | undefined;
  readonly supportsFunctionCalling?: boolean | null | undefined;
  readonly supportsReasoning?: boolean | null | undefined;
  readonly supportsAudioInput?: boolean | null | undefined;
  readonly supportsAudioOutput?: boolean | null | undefined;
  readonly supportsPromptCaching?: boolean | null | undefined;
  readonly supportsResponseSchema?: boolean | null | undefined;
  readonly capabilities?: readonly Capability[] | null | undefined;
  readonly maxInputCostUsdPerMillionTokens?: string | null | undefined;
  readonly maxOutputCostUsdPerMillionTokens?: string | null | undefined;
  readonly minContextWindow?: number | null | undefined;
  readonly deprecatedBefore?: Date | null | undefined;
  readonly notDeprecatedBefore?: Date | null | undefined;
}

const FLAG = 'True matches entries that state the capability; false matches entries that deny it.';

export const CatalogEntryFilterType = builder.inputRef<EntryFilterInput>('CatalogEntryFilter').implement({
  description: 'Filter of catalog entries. All conditions must match.',
  fields: (t) => ({
    provider: t.string({ description: 'Exact provider, case-insensitive.' }),
    mode: t.string({ description: 'Exact mode, case-insensitive.' }),
    model: t.string({
      description:
        'Substring of the entry id, case-insensitive. After `re:`, a regular expression that a part of the id must match.',
    }),
    supportsVision: t.boolean({ description: FLAG }),
    supportsFunctionCalling: t.boolean({ description: FLAG }),
    supportsReasoning: t.boolean({ description: FLAG }),
    supportsAudioInput: t.boolean({ description: FLAG }),
    supportsAudioOutput: t.boolean({ description: FLAG }),
    supportsPromptCaching: t.boolean({ description: FLAG }),
    supportsResponseSchema: t.boolean({ description: FLAG }),
    capabilities: t.field({ type: [CapabilityType], description: 'All of these capabilities are stated.' }),
    maxInputCostUsdPerMillionTokens: t.field({
      type: 'Decimal',
      description:
        'Maximum price in USD of 1,000,000 input tokens in small requests, e.g. `"2.5"`; `"0"` finds entries whose input tokens are free. ' +
        'Entries without this price do not match.',
    }),
    maxOutputCostUsdPerMillionTokens: t.field({
      type: 'Decimal',
      description:
        'Maximum price in USD of 1,000,000 output tokens in small requests. Entries without this price do not match.',
    }),
    minContextWindow: t.int({
      description:
        'Minimum of `maxInputTokens`, or of `maxTokens` where that is null. Entries with neither do not match.',
    }),
    deprecatedBefore: t.field({ type: 'DateTime', description: 'The retirement date is before this instant.' }),
    notDeprecatedBefore: t.field({
      type: 'DateTime',
      description:
        'The retirement date is unknown or not before this instant. Pass the current time for usable models.',
    }),
  }),
});

const OrderFieldType = builder.enumType('CatalogEntryOrderField', {
  description: 'Properties that catalog entries are ordered by.',
  values: {
    CATALOG: { value: 'catalog', description: 'Position in the price map.' },
    ID: { value: 'id', description: 'Entry id, by code points.' },
    INPUT_PRICE: { value: 'input_price', description: 'Price of an input token in small requests.' },
    OUTPUT_PRICE: { value: 'output_price', description: 'Price of an output token in small requests.' },
    CONTEXT_WINDOW: { value: 'context_window', description: '`maxInputTokens`, or `maxTokens` where that is null.' },
  } as const,
});

/** Order of catalog entries as a client writes it. */
interface EntryOrderInput {
  readonly field: EntryOrder;
  readonly direction: EntrySort['direction'];
}

export const CatalogEntryOrderType = builder.inputRef<EntryOrderInput>('CatalogEntryOrder').implement({
  description:
    'Order of catalog entries. Null values come last in both directions; equal values keep the order of the price map.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldType, required: true, description: 'Property to order by.' }),
    direction: directionField(t, 'ascending'),
  }),
});

/** Description of the argument that pins a page to one state of the catalog. */
export const SNAPSHOT_ARG =
  'Id of the catalog snapshot to read, from an earlier page, so that all pages show one state. The current snapshot ' +
  'when absent. A replaced snapshot expires after some time; then its id fails with INVALID_INPUT.';

/**
 * The catalog search with a filter and an order. The `capabilities` of its `filters` are flags by name. The
 * `capabilities` of its `conditions` are the names that must all be stated.
 */
export function readSearch(filter: EntryFilterInput | null | undefined, order?: EntryOrderInput | null): EntrySearch {
  const sort = order ? { sort: { by: order.field, direction: order.direction } } : {};
  const flags = {
    supports_vision: filter?.supportsVision,
    supports_function_calling: filter?.supportsFunctionCalling,
    supports_reasoning: filter?.supportsReasoning,
    supports_audio_input: filter?.supportsAudioInput,
    supports_audio_output: filter?.supportsAudioOutput,
    supports_prompt_caching: filter?.supportsPromptCaching,
    supports_response_schema: filter?.supportsResponseSchema,
  };
  const filters = {
    provider: nullIfBlank(filter?.provider),
    mode: nullIfBlank(filter?.mode),
    model: nullIfBlank(filter?.model),
    capabilities: Object.fromEntries(Object.entries(flags).filter(([, wanted]) => typeof wanted === 'boolean')),
  };
  return { filters, ...(filter && hasConditions(filter) ? { conditions: readConditions(filter) } : {}), ...sort };
}

/** Whether a filter sets one of the `conditions` of a search, which are those that its `filters` cannot express. */
const hasConditions = (filter: EntryFilterInput): boolean =>
  (filter.maxInputCostUsdPerMillionTokens ??
    filter.maxOutputCostUsdPerMillionTokens ??
    filter.minContextWindow ??
    filter.capabilities ??
    filter.deprecatedBefore ??
    filter.notDeprecatedBefore ??
    null) !== null;

/**
 * Conditions on prices, context window, capabilities and dates. Capabilities are sorted, so that equal filters share a
 * cached result.
 */
const readConditions = (filter: EntryFilterInput): NonNullable<EntrySearch['conditions']> => ({
  maxInputPrice: pricePerTokenFrom(filter.maxInputCostUsdPerMillionTokens ?? null),
  maxOutputPrice: pricePerTokenFrom(filter.maxOutputCostUsdPerMillionTokens ?? null),
  minContextWindow: filter.minContextWindow ?? null,
  capabilities: [...new Set(filter.capabilities)].toSorted(),
  deprecatedBefore: filter.deprecatedBefore ?? null,
  notDeprecatedBefore: filter.notDeprecatedBefore ?? null,
});
