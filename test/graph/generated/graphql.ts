/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** A capability that the price map has a key for: `VISION` is `supports_vision`. */
export type CatalogCapability =
  /** Decides itself how long to think. */
  | 'ADAPTIVE_THINKING'
  /** Takes Anthropic's compaction of long conversations. */
  | 'ANTHROPIC_COMPACTION'
  /** Takes Anthropic's form of thinking settings. */
  | 'ANTHROPIC_THINKING_PAYLOAD'
  /** Continues an answer that the caller began. */
  | 'ASSISTANT_PREFILL'
  /** Hears. */
  | 'AUDIO_INPUT'
  /** Speaks. */
  | 'AUDIO_OUTPUT'
  /** Takes images in tool results of Bedrock's Converse. */
  | 'BEDROCK_CONVERSE_TOOL_RESULT_IMAGES'
  /** Holds answers to a schema by Bedrock's own means. */
  | 'BEDROCK_NATIVE_STRUCTURED_OUTPUT'
  /** Reasons inline on Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_INLINE_REASONING'
  /** Takes a response format on Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_RESPONSE_FORMAT'
  /** Calls tools while reasoning on Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_TOOLS_WITH_REASONING'
  /** Answers questions about boxes in an image. */
  | 'BOX_QUESTIONS'
  /** Operates a computer. */
  | 'COMPUTER_USE'
  /** Embeds images. */
  | 'EMBEDDING_IMAGE_INPUT'
  /** Has a fast mode. */
  | 'FAST_MODE'
  /** Can be made to call a tool. */
  | 'FORCED_TOOL_USE'
  /** Calls tools. */
  | 'FUNCTION_CALLING'
  /** Takes images. */
  | 'IMAGE_INPUT'
  /** Takes the size of the image to make. */
  | 'IMAGE_SIZE'
  /** Takes the older form of thinking settings. */
  | 'LEGACY_THINKING'
  /** Takes reasoning effort `low`. */
  | 'LOW_REASONING_EFFORT'
  /** Takes reasoning effort `max`. */
  | 'MAX_REASONING_EFFORT'
  /** Takes system messages within a conversation. */
  | 'MID_CONVERSATION_SYSTEM'
  /** Takes reasoning effort `minimal`. */
  | 'MINIMAL_REASONING_EFFORT'
  /** Takes more than text. */
  | 'MULTIMODAL'
  /** Streams by itself. */
  | 'NATIVE_STREAMING'
  /** Holds answers to a schema by its own means. */
  | 'NATIVE_STRUCTURED_OUTPUT'
  /** Takes reasoning effort `none`. */
  | 'NONE_REASONING_EFFORT'
  /** Edits images as Nova Canvas does. */
  | 'NOVA_CANVAS_IMAGE_EDIT'
  /** Takes an output configuration. */
  | 'OUTPUT_CONFIG'
  /** Calls several tools at once. */
  | 'PARALLEL_FUNCTION_CALLING'
  /** Can be told whether to call tools in parallel. */
  | 'PARALLEL_TOOL_USE_CONFIG'
  /** Reads PDF. */
  | 'PDF_INPUT'
  /** Takes marks of where a cached prompt ends. */
  | 'PROMPT_CACHE_BREAKPOINT'
  /** Caches prompts. */
  | 'PROMPT_CACHING'
  /** Reasons before it answers. */
  | 'REASONING'
  /** Takes look-around in patterns of a schema. */
  | 'REGEX_LOOKAROUND'
  /** Holds answers to a JSON schema. */
  | 'RESPONSE_SCHEMA'
  /** Takes temperature and its like. */
  | 'SAMPLING_PARAMS'
  /** Takes a speed setting. */
  | 'SPEED'
  /** Takes system messages. */
  | 'SYSTEM_MESSAGES'
  /** Keeps the cache when thinking is left out. */
  | 'THINKING_CACHE_PRESERVATION'
  /** Takes a choice of tool. */
  | 'TOOL_CHOICE'
  /** Searches among many tools. */
  | 'TOOL_SEARCH'
  /** Reads the pages behind addresses. */
  | 'URL_CONTEXT'
  /** Watches video. */
  | 'VIDEO_INPUT'
  /** Sees images. */
  | 'VISION'
  /** Searches the web. */
  | 'WEB_SEARCH'
  /** Takes reasoning effort `xhigh`. */
  | 'XHIGH_REASONING_EFFORT';

/** What happened to an entry of the catalog. */
export type CatalogChangeOp =
  /** It came. */
  | 'ADDED'
  /** One of its fields took another value. */
  | 'CHANGED'
  /** It went. */
  | 'REMOVED';

/** What entries must offer; everything that is given must hold. */
export type CatalogEntryDemands = {
  /** All of these; what is not said is not there. */
  capabilities?: Array<CatalogCapability> | null | undefined;
  /** Is retired before this instant. */
  deprecatedBefore?: string | null | undefined;
  /** Most USD for a million input tokens of small requests, e.g. `"2.5"`; `"0"` finds those at no price. An entry without this price does not pass. */
  maxInputUsdPerMillionTokens?: string | null | undefined;
  /** Most USD for a million output tokens, likewise. */
  maxOutputUsdPerMillionTokens?: string | null | undefined;
  /** Least input tokens of one call: `maxInputTokens`, or `maxTokens` where only that is known. An entry that names neither does not pass. */
  minContextWindow?: number | null | undefined;
  /** Is not known to be retired before this instant: now leaves out what is gone. */
  notDeprecatedBefore?: string | null | undefined;
};

/** What entries can be put in order by. */
export type CatalogEntryOrder =
  /** The catalog's own order. */
  | 'CATALOG'
  /** `maxInputTokens`, or `maxTokens` where only that is known. */
  | 'CONTEXT_WINDOW'
  /** The id, by code points. */
  | 'ID'
  /** What an input token of a small request costs. */
  | 'INPUT_PRICE'
  /** What an output token of a small request costs. */
  | 'OUTPUT_PRICE';

/** An order. What has no value comes last either way; what is equal stays in catalog order. */
export type CatalogEntrySort = {
  /** By what. */
  by: CatalogEntryOrder;
  /** Which way. */
  direction?: SortDirection;
};

/** What a field that history keeps is about. */
export type CatalogFieldKind =
  /** When something happens, e.g. its retirement. */
  | 'DATE'
  /** What it can do. */
  | 'FLAG'
  /** How much is possible, e.g. tokens or requests a minute. */
  | 'LIMIT'
  /** What it does. */
  | 'MODE'
  /** What something costs. */
  | 'PRICE'
  /** Who offers it. */
  | 'PROVIDER';

/** How a part of the history came about. */
export type CatalogHistorySource =
  /** It was imported from a file. */
  | 'IMPORTED'
  /** This installation saw it. */
  | 'RECORDED';

/** Where a state of the catalog came from. */
export type CatalogSource =
  /** Shipped with this version. */
  | 'EMBEDDED'
  /** A file of this installation. */
  | 'FILE'
  /** Fetched from the published price map. */
  | 'UPSTREAM';

/** A chat to be answered. */
export type ChatInput = {
  /** Your own id of this call, at most 200 printable characters; ours when absent. */
  callId?: string | number | null | undefined;
  /** Most output tokens. */
  maxTokens?: number | null | undefined;
  /** The chat so far. */
  messages: Array<ChatMessageInput>;
  /** The model group asked. */
  model: string;
  /** Further parameters of chat-completions, as an object; the fields above win. */
  parameters?: unknown;
  /** How long it reasons, in the words of the model. */
  reasoningEffort?: string | null | undefined;
  /** Form of the answer, as chat-completions has it. */
  responseFormat?: unknown;
  /** Asks for the same answer to the same chat. */
  seed?: number | null | undefined;
  /** Texts that end the answer. */
  stop?: Array<string> | null | undefined;
  /** How freely the model chooses its words. */
  temperature?: number | null | undefined;
  /** Which tool it must call, as chat-completions has it. */
  toolChoice?: unknown;
  /** Tools the model may call, as chat-completions has them. */
  tools?: Array<unknown> | null | undefined;
  /** Share of the likeliest words it chooses from. */
  topP?: number | null | undefined;
  /** W3C trace context the call hangs in; a new trace when absent. */
  traceparent?: string | null | undefined;
  /** The end user this is for. */
  user?: string | null | undefined;
};

/** One message of a chat. */
export type ChatMessageInput = {
  /** Its text, or a list of content parts as chat-completions has them. */
  content?: unknown;
  /** Name of the one who says it. */
  name?: string | null | undefined;
  /** Who says it. */
  role: ChatRole;
  /** The call that a tool message answers. */
  toolCallId?: string | number | null | undefined;
  /** The calls an assistant message made, as chat-completions has them. */
  toolCalls?: Array<unknown> | null | undefined;
};

/** Who says a message. */
export type ChatRole =
  /** The model. */
  | 'ASSISTANT'
  /** The rules of the chat, for models that know this word. */
  | 'DEVELOPER'
  /** The rules of the chat. */
  | 'SYSTEM'
  /** A tool that was called. */
  | 'TOOL'
  /** The one who asks. */
  | 'USER';

/** How a purchase is paid. */
export type CheckoutMode =
  /** Paid once. */
  | 'PAYMENT'
  /** Paid again and again. */
  | 'SUBSCRIPTION';

/** Where a purchase stands. */
export type CheckoutState =
  /** The buyer disputes the payment. */
  | 'DISPUTED'
  /** The subscription has ended. */
  | 'ENDED'
  /** The buyer never paid. */
  | 'EXPIRED'
  /** Not paid yet. */
  | 'OPEN'
  /** Paid: the only state that opens anything. */
  | 'PAID'
  /** The money never came. */
  | 'PAYMENT_FAILED'
  /** The buyer is through, the money is on its way. */
  | 'PROCESSING'
  /** All of it was paid back. */
  | 'REFUNDED'
  /** The subscription is paused or unpaid. */
  | 'SUSPENDED';

/** Where a cost is from. */
export type CostSource =
  /** What the catalog said such a call costs. */
  | 'ESTIMATED'
  /** What the gateway charged. */
  | 'GATEWAY';

/** Every meaning a deliberate failure can have; also found as `extensions.code` of top-level errors. */
export type ErrorCode =
  /** Something that already exists stands in the way. */
  | 'CONFLICT'
  /** The key may not do this. */
  | 'FORBIDDEN'
  /** What was sent breaks a rule. */
  | 'INVALID_INPUT'
  /** A budget or rate is used up. */
  | 'LIMIT_EXCEEDED'
  /** It does not exist, or the caller may not know that it does. */
  | 'NOT_FOUND'
  /** A guardrail refused it. */
  | 'REJECTED'
  /** More bytes, items or depth than is accepted. */
  | 'TOO_LARGE'
  /** No key, or one that does not hold. */
  | 'UNAUTHENTICATED'
  /** Not now: a queue is full, a store is away, or the process is stopping. */
  | 'UNAVAILABLE'
  /** Understood, but this installation cannot do it. */
  | 'UNSUPPORTED'
  /** The upstream answered with a failure, or did not answer. */
  | 'UPSTREAM_FAILED';

/** What a line of an estimate is for. */
export type EstimateLineKind =
  /** Input tokens read from a cache. */
  | 'CACHE_READ'
  /** Input tokens written to a cache. */
  | 'CACHE_WRITE'
  /** Input tokens that no cache has to do with. */
  | 'INPUT'
  /** Output tokens without reasoning. */
  | 'OUTPUT'
  /** Reasoning tokens. */
  | 'REASONING'
  /** A fee per request. */
  | 'REQUEST';

/** What about an estimate is not as asked for, or not known. */
export type EstimateNote =
  /** Some of the batch share has no batch price: counted at the usual one. */
  | 'BATCH_PRICE_MISSING'
  /** A request is larger than the last tier that is priced: counted at that tier. */
  | 'BEYOND_PRICED_RANGE'
  /** It caches, but reading has no price of its own: counted as plain input. */
  | 'CACHE_READ_PRICE_MISSING'
  /** It caches, but writing has no price of its own: counted as plain input. */
  | 'CACHE_WRITE_PRICE_MISSING'
  /** The map does not say that it caches: cached tokens are counted as plain input. */
  | 'CACHING_NOT_STATED'
  /** The map does not say how much input it takes: the request may not fit. */
  | 'CONTEXT_WINDOW_UNKNOWN'
  /** It is cheaper at some hours; counted at the usual price. */
  | 'OFF_PEAK_PRICES_IGNORED'
  /** All at zero: free, sold by subscription, or a price that nobody looked up. The map does not say which. */
  | 'PRICED_ZERO';

/** What a new key is to be. */
export type GenerateKeyInput = {
  /** What people call it; unique. */
  alias?: string | null | undefined;
  /** How long it holds: `30s`, `30m`, `30h` or `30d`; for ever when absent. */
  duration?: string | null | undefined;
  /** Your own value for it: `sk-`, 20 characters or more, 8 different ones after `sk-`. A fresh one is made when absent. */
  key?: string | null | undefined;
  /** What it may spend; unlimited when absent. */
  maxBudgetUsd?: string | null | undefined;
  /** An object of your own notes. */
  metadata?: unknown;
  /** Models it may call; all when empty or absent. */
  models?: Array<string> | null | undefined;
  /** What it may act as; `INTERNAL_USER` when absent. */
  role?: Role | null | undefined;
  /** The team it belongs to. */
  teamId?: string | number | null | undefined;
  /** The user it belongs to. */
  userId?: string | number | null | undefined;
};

/** How calls have gone lately: of the last twenty that ended within five minutes, in this process. */
export type HealthState =
  /** A tenth or more failed; or of several, they are not alike. */
  | 'DEGRADED'
  /** Half or more failed. */
  | 'FAILING'
  /** Fewer than a tenth failed. */
  | 'HEALTHY'
  /** There were none. */
  | 'UNKNOWN';

/** Why a price is kept out of the catalog. */
export type QuarantineReason =
  /** It is more than 0.001 USD for one token. */
  | 'ABSURD'
  /** It became free, or ceased to be. */
  | 'CROSSES_ZERO'
  /** It is below zero. */
  | 'NEGATIVE'
  /** It is no number. */
  | 'NOT_A_NUMBER'
  /** It moved ten-fold or more at once. */
  | 'TEN_FOLD';

/** What a key may act as. */
export type Role =
  /** Calls models and reads its own. */
  | 'INTERNAL_USER'
  /** Reads its own. */
  | 'INTERNAL_USER_VIEWER'
  /** Does everything. */
  | 'PROXY_ADMIN'
  /** Reads everything, changes nothing. */
  | 'PROXY_ADMIN_VIEWER';

/** Which end comes first. */
export type SortDirection =
  /** The smallest. */
  | 'ASCENDING'
  /** The largest. */
  | 'DESCENDING';

/** The OpenTelemetry span kind. */
export type SpanKind =
  /** OpenTelemetry's client kind. */
  | 'CLIENT'
  /** OpenTelemetry's consumer kind. */
  | 'CONSUMER'
  /** OpenTelemetry's internal kind. */
  | 'INTERNAL'
  /** OpenTelemetry's producer kind. */
  | 'PRODUCER'
  /** OpenTelemetry's server kind. */
  | 'SERVER'
  /** OpenTelemetry's unspecified kind. */
  | 'UNSPECIFIED';

/** Whose a message is. */
export type SpanMessageRole =
  /** Said by the assistant. */
  | 'ASSISTANT'
  /** Said by the system. */
  | 'SYSTEM'
  /** Said by the tool. */
  | 'TOOL'
  /** Said by the user. */
  | 'USER';

/** How a span, or the root of a trace, ended. */
export type SpanStatus =
  /** Failed. */
  | 'ERROR'
  /** Said to be well. */
  | 'OK'
  /** Nothing was said. */
  | 'UNSET';

/** What a span is, read from its GenAI attributes. */
export type SpanType =
  /** A span of type agent. */
  | 'AGENT'
  /** A span of type chain. */
  | 'CHAIN'
  /** A span of type decision. */
  | 'DECISION'
  /** A span of type embedding. */
  | 'EMBEDDING'
  /** A span of type evaluator. */
  | 'EVALUATOR'
  /** A span of type framework. */
  | 'FRAMEWORK'
  /** A span of type guardrail. */
  | 'GUARDRAIL'
  /** A span of type llm. */
  | 'LLM'
  /** A span of type prompt. */
  | 'PROMPT'
  /** A span of type reranker. */
  | 'RERANKER'
  /** A span of type retriever. */
  | 'RETRIEVER'
  /** A span of type tool. */
  | 'TOOL';

/** What was found of a model call in the books. */
export type SpendMatchKind =
  /** More than one could be it. */
  | 'AMBIGUOUS'
  /** It names an answer that was not looked for everywhere: more than 1,000 calls of its trace do. */
  | 'INCOMPLETE_EVIDENCE'
  /** One row. */
  | 'MATCHED'
  /** Nothing on the span leads to one. */
  | 'NO_CALL_ID'
  /** It names an answer that no row has. */
  | 'NO_SPEND_LOG';

/** How a gateway call ended. */
export type SpendStatus =
  /** Not answered, or not to the end. */
  | 'FAILURE'
  /** Answered. */
  | 'SUCCESS';

/** What traces must be; everything that is given must hold. */
export type TraceFilter = {
  /** One of its agents, exactly. */
  agent?: string | null | undefined;
  /** The key that sent it, by its hash. */
  keyHash?: string | number | null | undefined;
  /** Took so long or longer, in milliseconds. */
  minDurationMs?: number | null | undefined;
  /** So many of its spans failed, or more. */
  minErrors?: number | null | undefined;
  /** Cost so much or more; unpriced ones do not pass. */
  minSpendUsd?: string | null | undefined;
  /** One of the models it called, exactly. */
  model?: string | null | undefined;
  /** The service that sent it, exactly. */
  service?: string | null | undefined;
  /** How its root ended. */
  status?: SpanStatus | null | undefined;
  /** The team whose key sent it; blank is no filter. */
  teamId?: string | number | null | undefined;
  /** Stands in its name, service, input preview, agents or models, in whatever letter case. */
  text?: string | null | undefined;
};

/** By what the greatest traces come first. */
export type TraceOrder =
  /** The longest. */
  | 'DURATION'
  /** Those with the most failed spans. */
  | 'ERRORS'
  /** The most expensive; unpriced ones last. */
  | 'SPEND'
  /** The newest. */
  | 'STARTED';

/** What kind of place a run was asked for in. */
export type TraceSourceType =
  /** Anywhere else. */
  | 'CUSTOM'
  /** Asked for in discord. */
  | 'DISCORD'
  /** Asked for in github. */
  | 'GITHUB'
  /** Asked for in jira. */
  | 'JIRA'
  /** Asked for in linear. */
  | 'LINEAR'
  /** Asked for in slack. */
  | 'SLACK'
  /** Asked for in teams. */
  | 'TEAMS';

/** What is to be done. Shares are decimals from 0 to 1. */
export type WorkloadInput = {
  /** How much of the work may be sent as batches. */
  batchShare?: string;
  /** How much of the input is read from a cache. */
  cacheHitRate?: string;
  /** How much of the input is written to a cache; with `cacheHitRate` at most 1. */
  cacheWriteRate?: string;
  /** Input tokens of one request, cached ones included. */
  inputTokens: number;
  /** As `model` of `catalogEntries`. */
  model?: string | null | undefined;
  /** Only entries with one of these modes, letter case ignored. */
  modes?: Array<string>;
  /** Output tokens of one request, reasoning included. */
  outputTokens: number;
  /** Only entries of this provider, letter case ignored. */
  provider?: string | null | undefined;
  /** How much of the output is reasoning. */
  reasoningShare?: string;
  /** How many requests; at least 1. */
  requests?: number;
  /** What entries must offer. */
  where?: CatalogEntryDemands | null | undefined;
};

export type CatalogEntriesQueryVariables = Exact<{
  provider?: string | null | undefined;
  mode?: string | null | undefined;
  model?: string | null | undefined;
  supportsVision?: boolean | null | undefined;
  where?: CatalogEntryDemands | null | undefined;
  sort?: CatalogEntrySort | null | undefined;
  snapshot?: string | number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CatalogEntriesQuery = { catalogEntries: { totalCount: number, snapshot: { id: string }, nodes: Array<{ id: string, provider: string | null, mode: string | null, maxInputTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null, supportsVision: boolean | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type CatalogEntryQueryVariables = Exact<{
  id: string | number;
}>;


export type CatalogEntryQuery = { catalogEntry: { id: string, provider: string | null, mode: string | null, maxInputTokens: number | null, maxOutputTokens: number | null, maxTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null, cacheReadInputTokenCost: string | null, inputCostPerAudioToken: string | null, outputCostPerReasoningToken: string | null, deprecationDate: string | null, supportsFunctionCalling: boolean | null, supportsParallelFunctionCalling: boolean | null, supportsVision: boolean | null, supportsAudioInput: boolean | null, supportsAudioOutput: boolean | null, supportsPromptCaching: boolean | null, supportsReasoning: boolean | null, supportsResponseSchema: boolean | null, supportsSystemMessages: boolean | null, supportsWebSearch: boolean | null, extraFields: unknown } | null };

export type EstimateWorkloadQueryVariables = Exact<{
  input: WorkloadInput;
  first?: number | null | undefined;
  after?: string | null | undefined;
  snapshot?: string | number | null | undefined;
}>;


export type EstimateWorkloadQuery = { estimateWorkload: { totalCount: number, unpricedCount: number, tooSmallCount: number, snapshot: { id: string }, nodes: Array<{ total: string, perRequest: string, tierAboveTokens: number | null, notes: Array<EstimateNote>, entry: { id: string, provider: string | null }, lines: Array<{ kind: EstimateLineKind, batch: boolean, quantity: string, rate: string, cost: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type PriceHistoryQueryVariables = Exact<{
  entry: string | number;
  from?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type PriceHistoryQuery = { priceHistory: Array<{ field: string, from: string, to: string | null, usd: string | null, value: unknown }> | null };

export type PriceAsOfQueryVariables = Exact<{
  entry: string | number;
  date: string;
  fields?: Array<string> | string | null | undefined;
}>;


export type PriceAsOfQuery = { priceAsOf: { entryId: string, at: string, listed: boolean | null, prices: Array<{ field: string, known: boolean, usd: string | null, value: unknown }> } | null };

export type EntriesWithPastQueryVariables = Exact<{
  date: string;
}>;


export type EntriesWithPastQuery = { catalogEntries: { nodes: Array<{ id: string, priceHistory: Array<{ field: string, usd: string | null }> | null, priceAsOf: { listed: boolean | null, prices: Array<{ known: boolean, usd: string | null }> } | null }> } };

export type CatalogChangesQueryVariables = Exact<{
  entry?: string | number | null | undefined;
  provider?: string | null | undefined;
  field?: string | null | undefined;
  kind?: CatalogFieldKind | null | undefined;
  op?: CatalogChangeOp | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CatalogChangesQuery = { catalogChanges: { nodes: Array<{ at: string, entryId: string, provider: string | null, op: CatalogChangeOp, field: string | null, kind: CatalogFieldKind | null, old: unknown, new: unknown, oldUsd: string | null, newUsd: string | null, snapshotId: string | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, coverage: Array<{ source: CatalogHistorySource, from: string, to: string | null }> | null } };

export type CatalogChangeUpdatesSubscriptionVariables = Exact<{
  entry?: string | number | null | undefined;
  provider?: string | null | undefined;
  field?: string | null | undefined;
  kind?: CatalogFieldKind | null | undefined;
  op?: CatalogChangeOp | null | undefined;
}>;


export type CatalogChangeUpdatesSubscription = { catalogChanges: { at: string, snapshotId: string, missed: number, changes: Array<{ entryId: string, field: string | null, oldUsd: string | null, newUsd: string | null }> } };

export type ModelQueryVariables = Exact<{
  name: string | number;
}>;


export type ModelQuery = { model: { name: string, offerCount: number, providers: Array<string>, modes: Array<string>, capabilitiesOfAll: Array<CatalogCapability>, capabilitiesOfAny: Array<CatalogCapability>, maxContextWindow: number | null, offers: Array<{ id: string }>, cheapestInput: { id: string, inputCostPerToken: string | null } | null, cheapestOutput: { id: string, outputCostPerToken: string | null } | null } | null };

export type ModelsQueryVariables = Exact<{
  search?: string | null | undefined;
  provider?: string | null | undefined;
  mode?: string | null | undefined;
  minOffers?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  snapshot?: string | number | null | undefined;
}>;


export type ModelsQuery = { models: { totalCount: number, snapshot: { id: string }, nodes: Array<{ name: string, offerCount: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ModelOfEntryQueryVariables = Exact<{
  id: string | number;
}>;


export type ModelOfEntryQuery = { catalogEntry: { model: { name: string, offers: Array<{ id: string, provider: string | null }> } | null } | null };

export type QuarantinedPricesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type QuarantinedPricesQuery = { quarantinedPrices: { totalCount: number, nodes: Array<{ id: string, entryId: string, field: string, heldValue: unknown, servedValue: unknown, reason: QuarantineReason, since: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReleaseQuarantinedMutationVariables = Exact<{
  id: string | number;
}>;


export type ReleaseQuarantinedMutation = { releaseQuarantined:
    | { __typename: 'NotFoundError', code: ErrorCode, message: string, kind: string, id: string }
    | { __typename: 'ReleasedPrice', price: { field: string, heldValue: unknown }, entry: { id: string, inputCostPerToken: string | null } | null }
   };

export type CatalogStatusQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogStatusQuery = { catalogStatus: { snapshotId: string, source: CatalogSource, takenAt: string, ageSeconds: number, count: number, quarantined: number, lastCheckedAt: string | null, lastError: string | null } | null };

export type ChatStreamSubscriptionVariables = Exact<{
  input: ChatInput;
}>;


export type ChatStreamSubscription = { chatStream:
    | { __typename: 'ChatFailure', traceId: string, code: string, message: string }
    | { __typename: 'ChatFinish', traceId: string, reason: string }
    | { __typename: 'ChatReasoning', traceId: string }
    | { __typename: 'ChatText', traceId: string, text: string }
    | { __typename: 'ChatToolCall', traceId: string }
    | { __typename: 'ChatUsage', traceId: string, usage: { inputTokens: number, outputTokens: number } }
   };

export type ChatMutationVariables = Exact<{
  input: ChatInput;
}>;


export type ChatMutation = { chat:
    | { __typename: 'ChatCompletion', callId: string, traceId: string, spanId: string, model: string | null, text: string, finishReason: string | null, costUsd: string | null, toolCalls: Array<{ name: string, arguments: string }>, usage: { inputTokens: number, outputTokens: number } | null }
    | { __typename: 'InvalidInputError', code: ErrorCode, message: string, issues: Array<{ path: Array<string>, rule: string }> }
    | { __typename: 'LimitExceededError', code: ErrorCode, message: string }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string, kind: string, id: string }
    | { __typename: 'RejectedError', code: ErrorCode, message: string }
    | { __typename: 'UnsupportedError', code: ErrorCode, message: string }
    | { __typename: 'UpstreamFailedError', code: ErrorCode, message: string }
   };

export type CheckoutsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CheckoutsQuery = { checkouts: { nodes: Array<{ id: string, mode: CheckoutMode, state: CheckoutState, paidAt: string | null, revokedAt: string | null, key: { name: string, holds: boolean } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null } } };

export type CreateCheckoutMutationVariables = Exact<{ [key: string]: never; }>;


export type CreateCheckoutMutation = { createCheckout:
    | { __typename: 'CheckoutSession', url: string }
    | { __typename: 'LimitExceededError', code: ErrorCode, message: string }
    | { __typename: 'UpstreamFailedError', code: ErrorCode, message: string }
   };

export type ReplaceCatalogKeyMutationVariables = Exact<{
  id: string | number;
}>;


export type ReplaceCatalogKeyMutation = { replaceCatalogKey:
    | { __typename: 'ConflictError', code: ErrorCode, message: string }
    | { __typename: 'IssuedCatalogKey', key: string, checkout: { key: { name: string, holds: boolean } | null } }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type RevokeCatalogKeyMutationVariables = Exact<{
  id: string | number;
}>;


export type RevokeCatalogKeyMutation = { revokeCatalogKey:
    | { __typename: 'Checkout', id: string, state: CheckoutState, key: { holds: boolean } | null }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type DeploymentsQueryVariables = Exact<{
  model?: string | null | undefined;
}>;


export type DeploymentsQuery = { deployments: Array<{ id: string, model: string, provider: string, upstreamModel: string, apiBase: string | null, catalogEntry: { id: string } | null, health: { state: HealthState, calls: number, failures: number, inFlight: number, latencyMs: number | null, lastSuccessAt: string | null, lastFailure: { at: string, code: string } | null } }> };

export type RollUpQueryVariables = Exact<{ [key: string]: never; }>;


export type RollUpQuery = { providers: Array<{ name: string, health: { state: HealthState, calls: number, failures: number }, deployments: Array<{ id: string }> }>, callableModels: Array<{ name: string, catalogEntry: { id: string } | null, health: { state: HealthState }, deployments: Array<{ id: string, apiBase: string | null }> }> };

export type TwoReadsQueryVariables = Exact<{ [key: string]: never; }>;


export type TwoReadsQuery = { catalogEntry: { id: string } | null, catalogEntries: { totalCount: number }, again: { id: string } | null };

export type FreeTierUsageQueryVariables = Exact<{ [key: string]: never; }>;


export type FreeTierUsageQuery = { freeTierUsage: { ipHash: string, requestsToday: number, dailyLimit: number, remaining: number } | null };

export type GenerateKeyMutationVariables = Exact<{
  input: GenerateKeyInput;
}>;


export type GenerateKeyMutation = { generateKey:
    | { __typename: 'ConflictError', code: ErrorCode, message: string }
    | { __typename: 'GeneratedKey', key: string, virtualKey: { hash: string, name: string, alias: string | null, role: Role, teamId: string | null, models: Array<string>, maxBudgetUsd: string | null, metadata: unknown, blocked: boolean, expiresAt: string | null } }
    | { __typename: 'InvalidInputError', code: ErrorCode, message: string }
   };

export type SpanPageQueryVariables = Exact<{
  traceId: string | number;
  ref?: string | number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SpanPageQuery = { spans: { nodes: Array<{ spanId: string }>, edges: Array<{ cursor: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type SpanUpdatesSubscriptionVariables = Exact<{
  traceId: string | number;
  after?: string | number | null | undefined;
}>;


export type SpanUpdatesSubscription = { spans: { id: string, spans: Array<{ spanId: string, name: string, spendRow: { costUsd: string | null } | null }> } };

export type SpanQueryVariables = Exact<{
  traceId: string | number;
  spanId: string | number;
  ref?: string | number | null | undefined;
}>;


export type SpanQuery = { span: { name: string, type: SpanType, input: string, output: string, inputTokens: number, outputTokens: number, cacheReadTokens: number | null, cacheWriteTokens: number | null, reasoningTokens: number | null, errorTruncated: boolean, attributes: unknown, resourceAttributes: unknown, inputView:
      | Content_SpanFields_Fragment
      | Content_SpanMessages_Fragment
      | Content_SpanText_Fragment
    , outputView:
      | Content_SpanFields_Fragment
      | Content_SpanMessages_Fragment
      | Content_SpanText_Fragment
    , events: Array<{ name: string, at: string, attributes: unknown }>, links: Array<{ traceId: string, spanId: string, attributes: unknown }>, spendRow: { callType: string, modelGroup: string, model: string, provider: string, status: SpendStatus, costUsd: string | null, errorCode: string | null, errorMessage: string | null, usage: { inputTokens: number, outputTokens: number, cacheReadTokens: number, cacheWriteTokens: number, reasoningTokens: number } | null } | null } | null };

type Content_SpanFields_Fragment = { __typename: 'SpanFields', fields: Array<{ key: string, value: string }> };

type Content_SpanMessages_Fragment = { __typename: 'SpanMessages', messages: Array<{ role: SpanMessageRole, content: string, name: string | null, toolCalls: Array<{ name: string, arguments: string }> }> };

type Content_SpanText_Fragment = { __typename: 'SpanText', text: string };

export type ContentFragment =
  | Content_SpanFields_Fragment
  | Content_SpanMessages_Fragment
  | Content_SpanText_Fragment
;

export type TraceAgentsQueryVariables = Exact<{
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  filter?: TraceFilter | null | undefined;
}>;


export type TraceAgentsQuery = { agents: Array<{ name: string, traces: number, failed: number, lastTraceAt: string }> };

export type TraceEdgesQueryVariables = Exact<{
  first?: number | null | undefined;
}>;


export type TraceEdgesQuery = { traces: { nodes: Array<EdgesFragment> } };

export type OneTraceEdgesQueryVariables = Exact<{
  id: string | number;
  spanId: string | number;
}>;


export type OneTraceEdgesQuery = { trace: EdgesFragment | null, span: SpanEdges_SpanDetail_Fragment | null };

export type EdgesFragment = { traceId: string, keyHash: string, key: { alias: string | null } | null, team: { id: string, traces: { nodes: Array<{ traceId: string }> } } | null, catalogEntries: Array<{ id: string }> | null, spendRows: Array<{ id: string }> | null, agents: Array<{ name: string, spendUsd: string | null, pricedCalls: number, estimatedCalls: number }> | null, spans: Array<SpanEdges_Span_Fragment> | null };

type SpanEdges_Span_Fragment = { spanId: string, catalogEntry: { id: string } | null, spendMatch: { match: SpendMatchKind, costUsd: string | null, costSource: CostSource | null, spendRow: { id: string } | null } | null };

type SpanEdges_SpanDetail_Fragment = { spanId: string, catalogEntry: { id: string } | null, spendMatch: { match: SpendMatchKind, costUsd: string | null, costSource: CostSource | null, spendRow: { id: string } | null } | null };

export type SpanEdgesFragment =
  | SpanEdges_Span_Fragment
  | SpanEdges_SpanDetail_Fragment
;

export type DeleteTraceMutationVariables = Exact<{
  id: string | number;
  ref?: string | number | null | undefined;
}>;


export type DeleteTraceMutation = { deleteTrace:
    | { __typename: 'DeletedTrace', traceId: string, traces: number }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type RedactTraceMutationVariables = Exact<{
  id: string | number;
  ref?: string | number | null | undefined;
}>;


export type RedactTraceMutation = { redactTrace:
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
    | { __typename: 'RedactedTrace', traces: Array<{ traceId: string, traceRef: string, name: string, inputPreview: string, spanCount: number, redactedAt: string | null, spans: Array<{ spanId: string, inputPreview: string, error: string | null }> | null }> }
   };

export type TraceSearchQueryVariables = Exact<{
  filter?: TraceFilter | null | undefined;
  orderBy?: TraceOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  from?: string | null | undefined;
}>;


export type TraceSearchQuery = { traces: { nodes: Array<{ traceId: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TraceSeriesQueryVariables = Exact<{
  from?: string | null | undefined;
  to?: string | null | undefined;
  buckets?: number | null | undefined;
  filter?: TraceFilter | null | undefined;
}>;


export type TraceSeriesQuery = { traceSeries: Array<{ from: string, traces: number, failed: number, spans: number, llmCalls: number, inputTokens: number, outputTokens: number, spendUsd: string | null, latencyP50Ms: number | null, latencyP90Ms: number | null, latencyP99Ms: number | null }> };

export type TraceUpdatesFilteredSubscriptionVariables = Exact<{
  filter?: TraceFilter | null | undefined;
}>;


export type TraceUpdatesFilteredSubscription = { traceUpdates: { trace: { traceId: string, errorCount: number } } };

export type TraceUpdatesSubscriptionVariables = Exact<{
  traceId?: string | number | null | undefined;
}>;


export type TraceUpdatesSubscription = { traceUpdates: { missed: number, trace: { traceId: string, spanCount: number } } };

export type TraceUpdatesAfterSubscriptionVariables = Exact<{
  after: string | number;
}>;


export type TraceUpdatesAfterSubscription = { traceUpdates: { id: string, trace: { traceId: string } } };

export type TraceUpdateIdsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceUpdateIdsSubscription = { traceUpdates: { id: string } };

export type TraceUpdatesWithSpansSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceUpdatesWithSpansSubscription = { traceUpdates: { trace: { traceId: string, spans: Array<{ spanId: string }> | null } } };

export type TraceNamesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceNamesSubscription = { traceUpdates: { missed: number, trace: { name: string } } };

export type TraceUpdatesWithSpendSubscriptionVariables = Exact<{
  traceId?: string | number | null | undefined;
}>;


export type TraceUpdatesWithSpendSubscription = { traceUpdates: { trace: { traceId: string, spans: Array<{ spanId: string, spendRow: { costUsd: string | null } | null }> | null } } };

export type TraceQueryVariables = Exact<{
  id: string | number;
  ref?: string | number | null | undefined;
}>;


export type TraceQuery = { trace: { traceId: string, traceRef: string, name: string, service: string, inputPreview: string, startedAt: string, endedAt: string, durationMs: number, status: SpanStatus, teamId: string, spanCount: number, agentNames: Array<string>, agentInvocations: number, llmCalls: number, toolCalls: number, errorCount: number, inputTokens: number, outputTokens: number, models: Array<string>, spendUsd: string | null, pricedCalls: number, estimateUsd: string | null, estimatedCalls: number, frameworks: Array<string>, source: { type: TraceSourceType, url: string, title: string, user: string | null } | null, spans: Array<SpanFacts_Span_Fragment> | null, agents: Array<{ name: string, parentAgent: string | null, invocations: number, llmCalls: number, toolCalls: number, durationMs: number }> | null } | null };

type SpanFacts_Span_Fragment = { traceId: string, spanId: string, parentSpanId: string | null, name: string, kind: SpanKind, type: SpanType, agent: string, service: string, startedAt: string, startNs: string, durationMs: number, status: SpanStatus, error: string | null, errorTruncated: boolean, model: string | null, provider: string | null, framework: string, inputTokens: number, outputTokens: number, inputPreview: string, requestId: string | null, costUsd: string | null, estimateUsd: string | null };

type SpanFacts_SpanDetail_Fragment = { traceId: string, spanId: string, parentSpanId: string | null, name: string, kind: SpanKind, type: SpanType, agent: string, service: string, startedAt: string, startNs: string, durationMs: number, status: SpanStatus, error: string | null, errorTruncated: boolean, model: string | null, provider: string | null, framework: string, inputTokens: number, outputTokens: number, inputPreview: string, requestId: string | null, costUsd: string | null, estimateUsd: string | null };

export type SpanFactsFragment =
  | SpanFacts_Span_Fragment
  | SpanFacts_SpanDetail_Fragment
;

export type TracesWithSpansQueryVariables = Exact<{ [key: string]: never; }>;


export type TracesWithSpansQuery = { traces: { nodes: Array<{ traceId: string, spans: Array<{ spanId: string, spendRow: { costUsd: string | null } | null }> | null, agents: Array<{ name: string }> | null }> } };

export type TracesQueryVariables = Exact<{
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type TracesQuery = { traces: { nodes: Array<{ traceId: string, traceRef: string, name: string, startedAt: string, durationMs: number, spendUsd: string | null }>, edges: Array<{ cursor: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const ContentFragmentDoc = new TypedDocumentString(`
    fragment Content on SpanContent {
  __typename
  ... on SpanMessages {
    messages {
      role
      content
      name
      toolCalls {
        name
        arguments
      }
    }
  }
  ... on SpanFields {
    fields {
      key
      value
    }
  }
  ... on SpanText {
    text
  }
}
    `, {"fragmentName":"Content"}) as unknown as TypedDocumentString<ContentFragment, unknown>;
export const SpanEdgesFragmentDoc = new TypedDocumentString(`
    fragment SpanEdges on SpanHead {
  spanId
  catalogEntry {
    id
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      id
    }
  }
}
    `, {"fragmentName":"SpanEdges"}) as unknown as TypedDocumentString<SpanEdgesFragment, unknown>;
export const EdgesFragmentDoc = new TypedDocumentString(`
    fragment Edges on Trace {
  traceId
  keyHash
  key {
    alias
  }
  team {
    id
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    id
  }
  spendRows {
    id
  }
  agents {
    name
    spendUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    ...SpanEdges
  }
}
    fragment SpanEdges on SpanHead {
  spanId
  catalogEntry {
    id
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      id
    }
  }
}`, {"fragmentName":"Edges"}) as unknown as TypedDocumentString<EdgesFragment, unknown>;
export const SpanFactsFragmentDoc = new TypedDocumentString(`
    fragment SpanFacts on SpanHead {
  traceId
  spanId
  parentSpanId
  name
  kind
  type
  agent
  service
  startedAt
  startNs
  durationMs
  status
  error
  errorTruncated
  model
  provider
  framework
  inputTokens
  outputTokens
  inputPreview
  requestId
  costUsd
  estimateUsd
}
    `, {"fragmentName":"SpanFacts"}) as unknown as TypedDocumentString<SpanFactsFragment, unknown>;
export const CatalogEntriesDocument = new TypedDocumentString(`
    query CatalogEntries($provider: String, $mode: String, $model: String, $supportsVision: Boolean, $where: CatalogEntryDemands, $sort: CatalogEntrySort, $snapshot: ID, $first: Int, $after: String, $last: Int, $before: String) {
  catalogEntries(
    provider: $provider
    mode: $mode
    model: $model
    supportsVision: $supportsVision
    where: $where
    sort: $sort
    snapshot: $snapshot
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    snapshot {
      id
    }
    nodes {
      id
      provider
      mode
      maxInputTokens
      inputCostPerToken
      outputCostPerToken
      supportsVision
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<CatalogEntriesQuery, CatalogEntriesQueryVariables>;
export const CatalogEntryDocument = new TypedDocumentString(`
    query CatalogEntry($id: ID!) {
  catalogEntry(id: $id) {
    id
    provider
    mode
    maxInputTokens
    maxOutputTokens
    maxTokens
    inputCostPerToken
    outputCostPerToken
    cacheReadInputTokenCost
    inputCostPerAudioToken
    outputCostPerReasoningToken
    deprecationDate
    supportsFunctionCalling
    supportsParallelFunctionCalling
    supportsVision
    supportsAudioInput
    supportsAudioOutput
    supportsPromptCaching
    supportsReasoning
    supportsResponseSchema
    supportsSystemMessages
    supportsWebSearch
    extraFields
  }
}
    `) as unknown as TypedDocumentString<CatalogEntryQuery, CatalogEntryQueryVariables>;
export const EstimateWorkloadDocument = new TypedDocumentString(`
    query EstimateWorkload($input: WorkloadInput!, $first: Int, $after: String, $snapshot: ID) {
  estimateWorkload(
    input: $input
    first: $first
    after: $after
    snapshot: $snapshot
  ) {
    totalCount
    unpricedCount
    tooSmallCount
    snapshot {
      id
    }
    nodes {
      entry {
        id
        provider
      }
      total
      perRequest
      tierAboveTokens
      notes
      lines {
        kind
        batch
        quantity
        rate
        cost
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<EstimateWorkloadQuery, EstimateWorkloadQueryVariables>;
export const PriceHistoryDocument = new TypedDocumentString(`
    query PriceHistory($entry: ID!, $from: DateTime, $to: DateTime) {
  priceHistory(entry: $entry, from: $from, to: $to) {
    field
    from
    to
    usd
    value
  }
}
    `) as unknown as TypedDocumentString<PriceHistoryQuery, PriceHistoryQueryVariables>;
export const PriceAsOfDocument = new TypedDocumentString(`
    query PriceAsOf($entry: ID!, $date: DateTime!, $fields: [String!]) {
  priceAsOf(entry: $entry, date: $date) {
    entryId
    at
    listed
    prices(fields: $fields) {
      field
      known
      usd
      value
    }
  }
}
    `) as unknown as TypedDocumentString<PriceAsOfQuery, PriceAsOfQueryVariables>;
export const EntriesWithPastDocument = new TypedDocumentString(`
    query EntriesWithPast($date: DateTime!) {
  catalogEntries {
    nodes {
      id
      priceHistory {
        field
        usd
      }
      priceAsOf(date: $date) {
        listed
        prices {
          known
          usd
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<EntriesWithPastQuery, EntriesWithPastQueryVariables>;
export const CatalogChangesDocument = new TypedDocumentString(`
    query CatalogChanges($entry: ID, $provider: String, $field: String, $kind: CatalogFieldKind, $op: CatalogChangeOp, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
  catalogChanges(
    entry: $entry
    provider: $provider
    field: $field
    kind: $kind
    op: $op
    from: $from
    to: $to
    first: $first
    after: $after
  ) {
    nodes {
      at
      entryId
      provider
      op
      field
      kind
      old
      new
      oldUsd
      newUsd
      snapshotId
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      endCursor
    }
    coverage {
      source
      from
      to
    }
  }
}
    `) as unknown as TypedDocumentString<CatalogChangesQuery, CatalogChangesQueryVariables>;
export const CatalogChangeUpdatesDocument = new TypedDocumentString(`
    subscription CatalogChangeUpdates($entry: ID, $provider: String, $field: String, $kind: CatalogFieldKind, $op: CatalogChangeOp) {
  catalogChanges(
    entry: $entry
    provider: $provider
    field: $field
    kind: $kind
    op: $op
  ) {
    at
    snapshotId
    missed
    changes {
      entryId
      field
      oldUsd
      newUsd
    }
  }
}
    `) as unknown as TypedDocumentString<CatalogChangeUpdatesSubscription, CatalogChangeUpdatesSubscriptionVariables>;
export const ModelDocument = new TypedDocumentString(`
    query Model($name: ID!) {
  model(name: $name) {
    name
    offerCount
    offers {
      id
    }
    providers
    modes
    capabilitiesOfAll
    capabilitiesOfAny
    maxContextWindow
    cheapestInput {
      id
      inputCostPerToken
    }
    cheapestOutput {
      id
      outputCostPerToken
    }
  }
}
    `) as unknown as TypedDocumentString<ModelQuery, ModelQueryVariables>;
export const ModelsDocument = new TypedDocumentString(`
    query Models($search: String, $provider: String, $mode: String, $minOffers: Int, $first: Int, $after: String, $snapshot: ID) {
  models(
    search: $search
    provider: $provider
    mode: $mode
    minOffers: $minOffers
    first: $first
    after: $after
    snapshot: $snapshot
  ) {
    totalCount
    snapshot {
      id
    }
    nodes {
      name
      offerCount
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<ModelsQuery, ModelsQueryVariables>;
export const ModelOfEntryDocument = new TypedDocumentString(`
    query ModelOfEntry($id: ID!) {
  catalogEntry(id: $id) {
    model {
      name
      offers {
        id
        provider
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ModelOfEntryQuery, ModelOfEntryQueryVariables>;
export const QuarantinedPricesDocument = new TypedDocumentString(`
    query QuarantinedPrices($first: Int, $after: String) {
  quarantinedPrices(first: $first, after: $after) {
    totalCount
    nodes {
      id
      entryId
      field
      heldValue
      servedValue
      reason
      since
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<QuarantinedPricesQuery, QuarantinedPricesQueryVariables>;
export const ReleaseQuarantinedDocument = new TypedDocumentString(`
    mutation ReleaseQuarantined($id: ID!) {
  releaseQuarantined(id: $id) {
    __typename
    ... on ReleasedPrice {
      price {
        field
        heldValue
      }
      entry {
        id
        inputCostPerToken
      }
    }
    ... on NotFoundError {
      code
      message
      kind
      id
    }
  }
}
    `) as unknown as TypedDocumentString<ReleaseQuarantinedMutation, ReleaseQuarantinedMutationVariables>;
export const CatalogStatusDocument = new TypedDocumentString(`
    query CatalogStatus {
  catalogStatus {
    snapshotId
    source
    takenAt
    ageSeconds
    count
    quarantined
    lastCheckedAt
    lastError
  }
}
    `) as unknown as TypedDocumentString<CatalogStatusQuery, CatalogStatusQueryVariables>;
export const ChatStreamDocument = new TypedDocumentString(`
    subscription ChatStream($input: ChatInput!) {
  chatStream(input: $input) {
    __typename
    ... on ChatStep {
      traceId
    }
    ... on ChatText {
      text
    }
    ... on ChatUsage {
      usage {
        inputTokens
        outputTokens
      }
    }
    ... on ChatFinish {
      reason
    }
    ... on ChatFailure {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<ChatStreamSubscription, ChatStreamSubscriptionVariables>;
export const ChatDocument = new TypedDocumentString(`
    mutation Chat($input: ChatInput!) {
  chat(input: $input) {
    __typename
    ... on ChatCompletion {
      callId
      traceId
      spanId
      model
      text
      toolCalls {
        name
        arguments
      }
      finishReason
      usage {
        inputTokens
        outputTokens
      }
      costUsd
    }
    ... on UserError {
      code
      message
    }
    ... on InvalidInputError {
      issues {
        path
        rule
      }
    }
    ... on NotFoundError {
      kind
      id
    }
  }
}
    `) as unknown as TypedDocumentString<ChatMutation, ChatMutationVariables>;
export const CheckoutsDocument = new TypedDocumentString(`
    query Checkouts($first: Int, $after: String) {
  checkouts(first: $first, after: $after) {
    nodes {
      id
      mode
      state
      paidAt
      revokedAt
      key {
        name
        holds
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<CheckoutsQuery, CheckoutsQueryVariables>;
export const CreateCheckoutDocument = new TypedDocumentString(`
    mutation CreateCheckout {
  createCheckout {
    __typename
    ... on CheckoutSession {
      url
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<CreateCheckoutMutation, CreateCheckoutMutationVariables>;
export const ReplaceCatalogKeyDocument = new TypedDocumentString(`
    mutation ReplaceCatalogKey($id: ID!) {
  replaceCatalogKey(checkoutId: $id) {
    __typename
    ... on IssuedCatalogKey {
      key
      checkout {
        key {
          name
          holds
        }
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<ReplaceCatalogKeyMutation, ReplaceCatalogKeyMutationVariables>;
export const RevokeCatalogKeyDocument = new TypedDocumentString(`
    mutation RevokeCatalogKey($id: ID!) {
  revokeCatalogKey(checkoutId: $id) {
    __typename
    ... on Checkout {
      id
      state
      key {
        holds
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<RevokeCatalogKeyMutation, RevokeCatalogKeyMutationVariables>;
export const DeploymentsDocument = new TypedDocumentString(`
    query Deployments($model: String) {
  deployments(model: $model) {
    id
    model
    provider
    upstreamModel
    apiBase
    catalogEntry {
      id
    }
    health {
      state
      calls
      failures
      inFlight
      latencyMs
      lastSuccessAt
      lastFailure {
        at
        code
      }
    }
  }
}
    `) as unknown as TypedDocumentString<DeploymentsQuery, DeploymentsQueryVariables>;
export const RollUpDocument = new TypedDocumentString(`
    query RollUp {
  providers {
    name
    health {
      state
      calls
      failures
    }
    deployments {
      id
    }
  }
  callableModels {
    name
    catalogEntry {
      id
    }
    health {
      state
    }
    deployments {
      id
      apiBase
    }
  }
}
    `) as unknown as TypedDocumentString<RollUpQuery, RollUpQueryVariables>;
export const TwoReadsDocument = new TypedDocumentString(`
    query TwoReads {
  catalogEntry(id: "gpt-4o") {
    id
  }
  catalogEntries(first: 1) {
    totalCount
  }
  again: catalogEntry(id: "gpt-4o") {
    id
  }
}
    `) as unknown as TypedDocumentString<TwoReadsQuery, TwoReadsQueryVariables>;
export const FreeTierUsageDocument = new TypedDocumentString(`
    query FreeTierUsage {
  freeTierUsage {
    ipHash
    requestsToday
    dailyLimit
    remaining
  }
}
    `) as unknown as TypedDocumentString<FreeTierUsageQuery, FreeTierUsageQueryVariables>;
export const GenerateKeyDocument = new TypedDocumentString(`
    mutation GenerateKey($input: GenerateKeyInput!) {
  generateKey(input: $input) {
    __typename
    ... on GeneratedKey {
      key
      virtualKey {
        hash
        name
        alias
        role
        teamId
        models
        maxBudgetUsd
        metadata
        blocked
        expiresAt
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<GenerateKeyMutation, GenerateKeyMutationVariables>;
export const SpanPageDocument = new TypedDocumentString(`
    query SpanPage($traceId: ID!, $ref: ID, $first: Int, $after: String) {
  spans(traceId: $traceId, ref: $ref, first: $first, after: $after) {
    nodes {
      spanId
    }
    edges {
      cursor
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<SpanPageQuery, SpanPageQueryVariables>;
export const SpanUpdatesDocument = new TypedDocumentString(`
    subscription SpanUpdates($traceId: ID!, $after: ID) {
  spans(traceId: $traceId, after: $after) {
    id
    spans {
      spanId
      name
      spendRow {
        costUsd
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SpanUpdatesSubscription, SpanUpdatesSubscriptionVariables>;
export const SpanDocument = new TypedDocumentString(`
    query Span($traceId: ID!, $spanId: ID!, $ref: ID) {
  span(traceId: $traceId, spanId: $spanId, ref: $ref) {
    name
    type
    input
    output
    inputView {
      ...Content
    }
    outputView {
      ...Content
    }
    inputTokens
    outputTokens
    cacheReadTokens
    cacheWriteTokens
    reasoningTokens
    errorTruncated
    attributes
    resourceAttributes
    events {
      name
      at
      attributes
    }
    links {
      traceId
      spanId
      attributes
    }
    spendRow {
      callType
      modelGroup
      model
      provider
      status
      costUsd
      usage {
        inputTokens
        outputTokens
        cacheReadTokens
        cacheWriteTokens
        reasoningTokens
      }
      errorCode
      errorMessage
    }
  }
}
    fragment Content on SpanContent {
  __typename
  ... on SpanMessages {
    messages {
      role
      content
      name
      toolCalls {
        name
        arguments
      }
    }
  }
  ... on SpanFields {
    fields {
      key
      value
    }
  }
  ... on SpanText {
    text
  }
}`) as unknown as TypedDocumentString<SpanQuery, SpanQueryVariables>;
export const TraceAgentsDocument = new TypedDocumentString(`
    query TraceAgents($from: DateTime, $to: DateTime, $first: Int, $filter: TraceFilter) {
  agents(from: $from, to: $to, first: $first, filter: $filter) {
    name
    traces
    failed
    lastTraceAt
  }
}
    `) as unknown as TypedDocumentString<TraceAgentsQuery, TraceAgentsQueryVariables>;
export const TraceEdgesDocument = new TypedDocumentString(`
    query TraceEdges($first: Int) {
  traces(first: $first) {
    nodes {
      ...Edges
    }
  }
}
    fragment Edges on Trace {
  traceId
  keyHash
  key {
    alias
  }
  team {
    id
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    id
  }
  spendRows {
    id
  }
  agents {
    name
    spendUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    ...SpanEdges
  }
}
fragment SpanEdges on SpanHead {
  spanId
  catalogEntry {
    id
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      id
    }
  }
}`) as unknown as TypedDocumentString<TraceEdgesQuery, TraceEdgesQueryVariables>;
export const OneTraceEdgesDocument = new TypedDocumentString(`
    query OneTraceEdges($id: ID!, $spanId: ID!) {
  trace(id: $id) {
    ...Edges
  }
  span(traceId: $id, spanId: $spanId) {
    ...SpanEdges
  }
}
    fragment Edges on Trace {
  traceId
  keyHash
  key {
    alias
  }
  team {
    id
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    id
  }
  spendRows {
    id
  }
  agents {
    name
    spendUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    ...SpanEdges
  }
}
fragment SpanEdges on SpanHead {
  spanId
  catalogEntry {
    id
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      id
    }
  }
}`) as unknown as TypedDocumentString<OneTraceEdgesQuery, OneTraceEdgesQueryVariables>;
export const DeleteTraceDocument = new TypedDocumentString(`
    mutation DeleteTrace($id: ID!, $ref: ID) {
  deleteTrace(id: $id, ref: $ref) {
    __typename
    ... on DeletedTrace {
      traceId
      traces
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<DeleteTraceMutation, DeleteTraceMutationVariables>;
export const RedactTraceDocument = new TypedDocumentString(`
    mutation RedactTrace($id: ID!, $ref: ID) {
  redactTrace(id: $id, ref: $ref) {
    __typename
    ... on RedactedTrace {
      traces {
        traceId
        traceRef
        name
        inputPreview
        spanCount
        redactedAt
        spans {
          spanId
          inputPreview
          error
        }
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<RedactTraceMutation, RedactTraceMutationVariables>;
export const TraceSearchDocument = new TypedDocumentString(`
    query TraceSearch($filter: TraceFilter, $orderBy: TraceOrder, $first: Int, $after: String, $from: DateTime) {
  traces(
    filter: $filter
    orderBy: $orderBy
    first: $first
    after: $after
    from: $from
  ) {
    nodes {
      traceId
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<TraceSearchQuery, TraceSearchQueryVariables>;
export const TraceSeriesDocument = new TypedDocumentString(`
    query TraceSeries($from: DateTime, $to: DateTime, $buckets: Int, $filter: TraceFilter) {
  traceSeries(from: $from, to: $to, buckets: $buckets, filter: $filter) {
    from
    traces
    failed
    spans
    llmCalls
    inputTokens
    outputTokens
    spendUsd
    latencyP50Ms
    latencyP90Ms
    latencyP99Ms
  }
}
    `) as unknown as TypedDocumentString<TraceSeriesQuery, TraceSeriesQueryVariables>;
export const TraceUpdatesFilteredDocument = new TypedDocumentString(`
    subscription TraceUpdatesFiltered($filter: TraceFilter) {
  traceUpdates(filter: $filter) {
    trace {
      traceId
      errorCount
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesFilteredSubscription, TraceUpdatesFilteredSubscriptionVariables>;
export const TraceUpdatesDocument = new TypedDocumentString(`
    subscription TraceUpdates($traceId: ID) {
  traceUpdates(traceId: $traceId) {
    missed
    trace {
      traceId
      spanCount
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesSubscription, TraceUpdatesSubscriptionVariables>;
export const TraceUpdatesAfterDocument = new TypedDocumentString(`
    subscription TraceUpdatesAfter($after: ID!) {
  traceUpdates(after: $after) {
    id
    trace {
      traceId
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesAfterSubscription, TraceUpdatesAfterSubscriptionVariables>;
export const TraceUpdateIdsDocument = new TypedDocumentString(`
    subscription TraceUpdateIds {
  traceUpdates {
    id
  }
}
    `) as unknown as TypedDocumentString<TraceUpdateIdsSubscription, TraceUpdateIdsSubscriptionVariables>;
export const TraceUpdatesWithSpansDocument = new TypedDocumentString(`
    subscription TraceUpdatesWithSpans {
  traceUpdates {
    trace {
      traceId
      spans {
        spanId
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesWithSpansSubscription, TraceUpdatesWithSpansSubscriptionVariables>;
export const TraceNamesDocument = new TypedDocumentString(`
    subscription TraceNames {
  traceUpdates {
    missed
    trace {
      name
    }
  }
}
    `) as unknown as TypedDocumentString<TraceNamesSubscription, TraceNamesSubscriptionVariables>;
export const TraceUpdatesWithSpendDocument = new TypedDocumentString(`
    subscription TraceUpdatesWithSpend($traceId: ID) {
  traceUpdates(traceId: $traceId) {
    trace {
      traceId
      spans {
        spanId
        spendRow {
          costUsd
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesWithSpendSubscription, TraceUpdatesWithSpendSubscriptionVariables>;
export const TraceDocument = new TypedDocumentString(`
    query Trace($id: ID!, $ref: ID) {
  trace(id: $id, ref: $ref) {
    traceId
    traceRef
    name
    service
    inputPreview
    startedAt
    endedAt
    durationMs
    status
    teamId
    spanCount
    agentNames
    agentInvocations
    llmCalls
    toolCalls
    errorCount
    inputTokens
    outputTokens
    models
    spendUsd
    pricedCalls
    estimateUsd
    estimatedCalls
    frameworks
    source {
      type
      url
      title
      user
    }
    spans {
      ...SpanFacts
    }
    agents {
      name
      parentAgent
      invocations
      llmCalls
      toolCalls
      durationMs
    }
  }
}
    fragment SpanFacts on SpanHead {
  traceId
  spanId
  parentSpanId
  name
  kind
  type
  agent
  service
  startedAt
  startNs
  durationMs
  status
  error
  errorTruncated
  model
  provider
  framework
  inputTokens
  outputTokens
  inputPreview
  requestId
  costUsd
  estimateUsd
}`) as unknown as TypedDocumentString<TraceQuery, TraceQueryVariables>;
export const TracesWithSpansDocument = new TypedDocumentString(`
    query TracesWithSpans {
  traces(first: 50) {
    nodes {
      traceId
      spans {
        spanId
        spendRow {
          costUsd
        }
      }
      agents {
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TracesWithSpansQuery, TracesWithSpansQueryVariables>;
export const TracesDocument = new TypedDocumentString(`
    query Traces($from: DateTime, $to: DateTime, $first: Int, $after: String) {
  traces(from: $from, to: $to, first: $first, after: $after) {
    nodes {
      traceId
      traceRef
      name
      startedAt
      durationMs
      spendUsd
    }
    edges {
      cursor
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<TracesQuery, TracesQueryVariables>;