import type { EntrySearch } from '../resolvers/catalog.ts';
import { CAPABILITIES, CAPABILITY_NAMES, type Capability } from '../src/domain/catalog/capabilities.ts';
import { type EntryDemands, pricePerTokenFrom } from '../src/domain/catalog/narrow-entries.ts';
import type { EntrySort } from '../src/domain/catalog/sort-entries.ts';
import { builder } from './builder.ts';

export const CapabilityType = builder.enumType('CatalogCapability', {
  description: 'A capability that the price map has a key for: `VISION` is `supports_vision`.',
  values: Object.fromEntries(
    CAPABILITY_NAMES.map((name) => [
      name.replace('supports_', '').toUpperCase(),
      { value: name, description: CAPABILITIES[name] },
    ]),
  ),
});

/** Demands as a caller writes them. */
export interface DemandsInput {
  readonly maxInputUsdPerMillionTokens?: string | null | undefined;
  readonly maxOutputUsdPerMillionTokens?: string | null | undefined;
  readonly minContextWindow?: number | null | undefined;
  readonly capabilities?: readonly Capability[] | null | undefined;
  readonly deprecatedBefore?: Date | null | undefined;
  readonly notDeprecatedBefore?: Date | null | undefined;
}

export const DemandsInputType = builder.inputRef<DemandsInput>('CatalogEntryDemands').implement({
  description: 'What entries must offer; everything that is given must hold.',
  fields: (t) => ({
    maxInputUsdPerMillionTokens: t.field({
      type: 'Decimal',
      description:
        'Most USD for a million input tokens of small requests, e.g. `"2.5"`; `"0"` finds those at no price. ' +
        'An entry without this price does not pass.',
    }),
    maxOutputUsdPerMillionTokens: t.field({
      type: 'Decimal',
      description: 'Most USD for a million output tokens, likewise.',
    }),
    minContextWindow: t.int({
      description:
        'Least input tokens of one call: `maxInputTokens`, or `maxTokens` where only that is known. ' +
        'An entry that names neither does not pass.',
    }),
    capabilities: t.field({ type: [CapabilityType], description: 'All of these; what is not said is not there.' }),
    deprecatedBefore: t.field({ type: 'DateTime', description: 'Is retired before this instant.' }),
    notDeprecatedBefore: t.field({
      type: 'DateTime',
      description: 'Is not known to be retired before this instant: now leaves out what is gone.',
    }),
  }),
});

/** The same demands in whatever order they were written. */
function readDemands(input: DemandsInput): EntryDemands {
  return {
    maxInputPrice: pricePerTokenFrom(input.maxInputUsdPerMillionTokens ?? null),
    maxOutputPrice: pricePerTokenFrom(input.maxOutputUsdPerMillionTokens ?? null),
    minContextWindow: input.minContextWindow ?? null,
    capabilities: [...new Set(input.capabilities)].toSorted(),
    deprecatedBefore: input.deprecatedBefore ?? null,
    notDeprecatedBefore: input.notDeprecatedBefore ?? null,
  };
}

const OrderType = builder.enumType('CatalogEntryOrder', {
  description: 'What entries can be put in order by.',
  values: {
    CATALOG: { value: 'catalog', description: "The catalog's own order." },
    ID: { value: 'id', description: 'The id, by code points.' },
    INPUT_PRICE: { value: 'input_price', description: 'What an input token of a small request costs.' },
    OUTPUT_PRICE: { value: 'output_price', description: 'What an output token of a small request costs.' },
    CONTEXT_WINDOW: {
      value: 'context_window',
      description: '`maxInputTokens`, or `maxTokens` where only that is known.',
    },
  } as const,
});

const DirectionType = builder.enumType('SortDirection', {
  description: 'Which end comes first.',
  values: {
    ASCENDING: { value: 'ascending', description: 'The smallest.' },
    DESCENDING: { value: 'descending', description: 'The largest.' },
  } as const,
});

export const SortInputType = builder.inputRef<EntrySort>('CatalogEntrySort').implement({
  description: 'An order. What has no value comes last either way; what is equal stays in catalog order.',
  fields: (t) => ({
    by: t.field({ type: OrderType, required: true, description: 'By what.' }),
    direction: t.field({ type: DirectionType, required: true, defaultValue: 'ascending', description: 'Which way.' }),
  }),
});

/** The argument that pins a page to a state of the catalog. */
export const SNAPSHOT_ARG =
  'Id of the state of the catalog to answer from, as a page before gave it: so that all pages are of one. ' +
  'A state is kept for a while after the next one came; without this the current one answers.';

/** The filters, demands and order of a search, as arguments write them. */
interface SearchArgs {
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
  readonly where?: DemandsInput | null | undefined;
  readonly sort?: EntrySort | null | undefined;
}

/** Throws InvalidInput for a price that is none. */
export function readSearch(args: SearchArgs): EntrySearch {
  const flags = {
    supports_vision: args.supportsVision,
    supports_function_calling: args.supportsFunctionCalling,
    supports_reasoning: args.supportsReasoning,
    supports_audio_input: args.supportsAudioInput,
    supports_audio_output: args.supportsAudioOutput,
    supports_prompt_caching: args.supportsPromptCaching,
    supports_response_schema: args.supportsResponseSchema,
  };
  const filters = {
    provider: args.provider ?? null,
    mode: args.mode ?? null,
    model: args.model ?? null,
    capabilities: Object.fromEntries(Object.entries(flags).filter(([, wanted]) => typeof wanted === 'boolean')),
  };
  return {
    filters,
    ...(args.where ? { demands: readDemands(args.where) } : {}),
    ...(args.sort ? { sort: args.sort } : {}),
  };
}
