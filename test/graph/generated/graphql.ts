/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** Kind of inbound call. */
export type ActivityCategory =
  /** A message to an agent. */
  | 'A2A'
  /** A model call, also one that passes through to a provider. */
  | 'LLM'
  /** A call of a tool server. */
  | 'MCP';

/** The trace or span, and its annotation: at least one of label, score and note. */
export type AnnotateTraceInput = {
  /** Kind of the author. */
  annotatorKind?: AnnotatorKind;
  /** Label, at most 256 characters. */
  label?: string | null | undefined;
  /** What is judged, 1 to 120 characters. */
  name: string;
  /** Note, at most 10000 characters. */
  note?: string | null | undefined;
  /** Score, on any scale. */
  score?: number | null | undefined;
  /** Span id, 16 hex digits. The trace as a whole when absent. */
  spanId?: string | number | null | undefined;
  /** Global id of the trace, or its trace id, 32 hex digits. */
  traceId: string | number;
  /** Ref of one trace. Required when several keys sent the trace id. */
  traceRef?: string | number | null | undefined;
};

/** Filter of annotations. All conditions must match; blank text is ignored. */
export type AnnotationFilter = {
  /** Kind of the author. */
  annotatorKind?: AnnotatorKind | null | undefined;
  /** Author: a user by global id or local id, or a key without a user by global id or hash. */
  author?: string | number | null | undefined;
  /** First written at this time or later. */
  from?: string | null | undefined;
  /** Exact label. */
  label?: string | null | undefined;
  /** Maximum score. Annotations without a score do not match. */
  maxScore?: number | null | undefined;
  /** Minimum score. Annotations without a score do not match. */
  minScore?: number | null | undefined;
  /** Exact name. */
  name?: string | null | undefined;
  /** Global id of the span, or its span id, 16 hex digits. */
  spanId?: string | number | null | undefined;
  /** First written before this time. */
  to?: string | null | undefined;
  /** Global id of the trace, or its trace id, 32 hex digits. */
  traceId?: string | number | null | undefined;
};

/** Order of annotations. Equal values are ordered by id. */
export type AnnotationOrder = {
  /** Direction. */
  direction?: OrderDirection;
  /** Property to order by. */
  field?: AnnotationOrderField;
};

/** Properties that annotations are ordered by. */
export type AnnotationOrderField =
  /** When the row was created. */
  | 'CREATED_AT';

/** Kind of the author of an annotation. */
export type AnnotatorKind =
  /** A program. */
  | 'CODE'
  /** A person. */
  | 'HUMAN'
  /** A model. */
  | 'LLM';

/** What happened to a row. */
export type AuditAction =
  /** The row was blocked. */
  | 'BLOCKED'
  /** The row is new. */
  | 'CREATED'
  /** The row was deleted. */
  | 'DELETED'
  /** The secret of a key, or the tokens of a login, were replaced. */
  | 'ROTATED'
  /** The row was unblocked. */
  | 'UNBLOCKED'
  /** The row was changed. */
  | 'UPDATED';

/** Filter of changes. All conditions must match; blank text is ignored. */
export type AuditLogFilter = {
  /** What happened. */
  action?: AuditAction | null | undefined;
  /** Exact `changedBy`, or the global id of a user. */
  changedBy?: string | number | null | undefined;
  /** Key that made the change: global id or hash. */
  changedByKey?: string | number | null | undefined;
  /** Earliest time, inclusive. */
  from?: string | null | undefined;
  /** Kind of the row. */
  noun?: AuditNoun | null | undefined;
  /** The row: global id or local id. */
  objectId?: string | number | null | undefined;
  /** Team of the row: global id or local id. */
  teamId?: string | number | null | undefined;
  /** Latest time, exclusive. */
  to?: string | null | undefined;
};

/** Kinds of rows whose changes are recorded. */
export type AuditNoun =
  /** A2A agents, without their secrets. */
  | 'A2A_AGENT'
  /** Access groups. */
  | 'ACCESS_GROUP'
  /** Budgets that other rows refer to. */
  | 'BUDGET'
  /** Logins of command lines with PKCE. */
  | 'COMMAND_LINE_SESSION'
  /** Credentials of providers. */
  | 'CREDENTIAL'
  /** Customers of client applications. */
  | 'CUSTOMER'
  /** Deployments that were created at run time. */
  | 'DEPLOYMENT'
  /** Guardrails, without their parameters. */
  | 'GUARDRAIL'
  /** Invitations of users. */
  | 'INVITATION'
  /** Virtual keys. */
  | 'KEY'
  /** MCP servers, without their settings. */
  | 'MCP_SERVER'
  /** Toolsets of MCP servers. */
  | 'MCP_TOOLSET'
  /** Fallbacks of models. */
  | 'MODEL_FALLBACK'
  /** Organizations. */
  | 'ORGANIZATION'
  /** Members of organizations. */
  | 'ORGANIZATION_MEMBER'
  /** Paths whose calls are forwarded. */
  | 'PASS_THROUGH_ENDPOINT'
  /** Plugins of the marketplace. */
  | 'PLUGIN'
  /** Versions of policies. */
  | 'POLICY'
  /** Where policies apply. */
  | 'POLICY_ATTACHMENT'
  /** Projects. */
  | 'PROJECT'
  /** Versions of prompts. */
  | 'PROMPT'
  /** Search tools, without their parameters. */
  | 'SEARCH_TOOL'
  /** Sections of the stored settings. */
  | 'SETTINGS'
  /** Tags of calls. */
  | 'TAG'
  /** Teams. */
  | 'TEAM'
  /** Members of teams. */
  | 'TEAM_MEMBER'
  /** Mappings of claim values of signed tokens to keys. */
  | 'TOKEN_MAPPING'
  /** Policies of tools of models. */
  | 'TOOL'
  /** Tools that are blocked for a team or a key. */
  | 'TOOL_OVERRIDE'
  /** Users. */
  | 'USER'
  /** Registered vector stores, without their parameters. */
  | 'VECTOR_STORE'
  /** Names for vector stores. */
  | 'VECTOR_STORE_INDEX';

/** What happened to a budget. */
export type BudgetAlertKind =
  /** The budget refused a call. */
  | 'REFUSED'
  /** The soft budget was crossed. It refuses no call. */
  | 'SOFT_BUDGET';

/** Kind of the owner of a budget. */
export type BudgetScope =
  /** An access group. */
  | 'ACCESS_GROUP'
  /** A deployment. */
  | 'DEPLOYMENT'
  /** A customer. */
  | 'END_USER'
  /** The gateway. */
  | 'GLOBAL'
  /** A key. */
  | 'KEY'
  /** A further budget window of a key. */
  | 'KEY_WINDOW'
  /** A model, for one customer. */
  | 'MODEL_PER_END_USER'
  /** A model, for one key. */
  | 'MODEL_PER_KEY'
  /** A model, for one team. */
  | 'MODEL_PER_TEAM'
  /** A model, for one user. */
  | 'MODEL_PER_USER'
  /** An organization. */
  | 'ORGANIZATION'
  /** A project. */
  | 'PROJECT'
  /** A provider. */
  | 'PROVIDER'
  /** A tag. */
  | 'TAG'
  /** A team. */
  | 'TEAM'
  /** A member of a team. */
  | 'TEAM_MEMBER'
  /** A further budget window of a team. */
  | 'TEAM_WINDOW'
  /** A user. */
  | 'USER';

/** A capability flag of the price map: `VISION` is `supports_vision`. */
export type CatalogCapability =
  /** Adaptive thinking: the model chooses the amount of reasoning. */
  | 'ADAPTIVE_THINKING'
  /** Supports Anthropic's compaction of long conversations. */
  | 'ANTHROPIC_COMPACTION'
  /** Accepts Anthropic's `thinking` parameter. */
  | 'ANTHROPIC_THINKING_PAYLOAD'
  /** Continues a partial assistant message at the end of the input. */
  | 'ASSISTANT_PREFILL'
  /** Accepts audio input. */
  | 'AUDIO_INPUT'
  /** Generates audio. */
  | 'AUDIO_OUTPUT'
  /** Accepts images in tool results of Bedrock's Converse API. */
  | 'BEDROCK_CONVERSE_TOOL_RESULT_IMAGES'
  /** Structured output through Bedrock's native schema support. */
  | 'BEDROCK_NATIVE_STRUCTURED_OUTPUT'
  /** Returns reasoning inline in Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_INLINE_REASONING'
  /** Accepts `response_format` in Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_RESPONSE_FORMAT'
  /** Calls tools with reasoning in Bedrock's chat completions. */
  | 'BEDROCK_RUNTIME_CHAT_COMPLETIONS_TOOLS_WITH_REASONING'
  /** Answers questions about bounding boxes in an image. */
  | 'BOX_QUESTIONS'
  /** Supports computer use tools. */
  | 'COMPUTER_USE'
  /** Creates embeddings of images. */
  | 'EMBEDDING_IMAGE_INPUT'
  /** Has a fast mode. */
  | 'FAST_MODE'
  /** Supports a forced tool call. */
  | 'FORCED_TOOL_USE'
  /** Supports tool calls. */
  | 'FUNCTION_CALLING'
  /** Accepts image input. */
  | 'IMAGE_INPUT'
  /** Accepts the size of a generated image. */
  | 'IMAGE_SIZE'
  /** Accepts the legacy format of thinking settings. */
  | 'LEGACY_THINKING'
  /** Accepts reasoning effort `low`. */
  | 'LOW_REASONING_EFFORT'
  /** Accepts reasoning effort `max`. */
  | 'MAX_REASONING_EFFORT'
  /** Accepts system messages in the middle of a conversation. */
  | 'MID_CONVERSATION_SYSTEM'
  /** Accepts reasoning effort `minimal`. */
  | 'MINIMAL_REASONING_EFFORT'
  /** Accepts input other than text. */
  | 'MULTIMODAL'
  /** Streams natively, without emulation. */
  | 'NATIVE_STREAMING'
  /** Structured output through native schema support. */
  | 'NATIVE_STRUCTURED_OUTPUT'
  /** Accepts reasoning effort `none`. */
  | 'NONE_REASONING_EFFORT'
  /** Edits images in the Nova Canvas format. */
  | 'NOVA_CANVAS_IMAGE_EDIT'
  /** Accepts the `output_config` parameter. */
  | 'OUTPUT_CONFIG'
  /** Supports several tool calls in one response. */
  | 'PARALLEL_FUNCTION_CALLING'
  /** Accepts a setting that enables or disables parallel tool calls. */
  | 'PARALLEL_TOOL_USE_CONFIG'
  /** Accepts PDF input. */
  | 'PDF_INPUT'
  /** Accepts cache breakpoints in the prompt. */
  | 'PROMPT_CACHE_BREAKPOINT'
  /** Supports prompt caching. */
  | 'PROMPT_CACHING'
  /** Supports reasoning. */
  | 'REASONING'
  /** Accepts lookaround in regular expressions of a schema. */
  | 'REGEX_LOOKAROUND'
  /** Structured output by a JSON schema. */
  | 'RESPONSE_SCHEMA'
  /** Accepts sampling parameters such as `temperature`. */
  | 'SAMPLING_PARAMS'
  /** Accepts the `speed` parameter. */
  | 'SPEED'
  /** Accepts system messages. */
  | 'SYSTEM_MESSAGES'
  /** Preserves the prompt cache when earlier thinking is omitted. */
  | 'THINKING_CACHE_PRESERVATION'
  /** Accepts the `tool_choice` parameter. */
  | 'TOOL_CHOICE'
  /** Supports tool search. */
  | 'TOOL_SEARCH'
  /** Reads the content of URLs in the prompt. */
  | 'URL_CONTEXT'
  /** Accepts video input. */
  | 'VIDEO_INPUT'
  /** Supports vision: interprets images in the input. */
  | 'VISION'
  /** Supports web search. */
  | 'WEB_SEARCH'
  /** Accepts reasoning effort `xhigh`. */
  | 'XHIGH_REASONING_EFFORT';

/** Filter of catalog changes. All conditions must match. */
export type CatalogChangeFilter = {
  /** Entry id, or global id of the entry. */
  entryId?: string | number | null | undefined;
  /** Exact key of the field in the price map. */
  field?: string | null | undefined;
  /** Subject of the field. */
  fieldKind?: CatalogFieldKind | null | undefined;
  /** Kind of change. */
  operation?: CatalogChangeOperation | null | undefined;
  /** Exact provider, case-insensitive. */
  provider?: string | null | undefined;
};

/** Kind of change of a catalog entry. */
export type CatalogChangeOperation =
  /** The entry was added. */
  | 'ADDED'
  /** One field of the entry changed. */
  | 'CHANGED'
  /** The entry was removed. */
  | 'REMOVED';

/** Filter of catalog entries. All conditions must match. */
export type CatalogEntryFilter = {
  /** All of these capabilities are stated. */
  capabilities?: Array<CatalogCapability> | null | undefined;
  /** The retirement date is before this instant. */
  deprecatedBefore?: string | null | undefined;
  /** Maximum price in USD of 1,000,000 input tokens in small requests, e.g. `"2.5"`; `"0"` finds entries whose input tokens are free. Entries without this price do not match. */
  maxInputCostUsdPerMillionTokens?: string | null | undefined;
  /** Maximum price in USD of 1,000,000 output tokens in small requests. Entries without this price do not match. */
  maxOutputCostUsdPerMillionTokens?: string | null | undefined;
  /** Minimum of `maxInputTokens`, or of `maxTokens` where that is null. Entries with neither do not match. */
  minContextWindow?: number | null | undefined;
  /** Exact mode, case-insensitive. */
  mode?: string | null | undefined;
  /** Substring of the entry id, case-insensitive. After `re:`, a regular expression that a part of the id must match. */
  model?: string | null | undefined;
  /** The retirement date is unknown or not before this instant. Pass the current time for usable models. */
  notDeprecatedBefore?: string | null | undefined;
  /** Exact provider, case-insensitive. */
  provider?: string | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsAudioInput?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsAudioOutput?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsFunctionCalling?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsPromptCaching?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsReasoning?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsResponseSchema?: boolean | null | undefined;
  /** True matches entries that state the capability; false matches entries that deny it. */
  supportsVision?: boolean | null | undefined;
};

/** Order of catalog entries. Null values come last in both directions; equal values keep the order of the price map. */
export type CatalogEntryOrder = {
  /** Direction. */
  direction?: OrderDirection;
  /** Property to order by. */
  field: CatalogEntryOrderField;
};

/** Properties that catalog entries are ordered by. */
export type CatalogEntryOrderField =
  /** Position in the price map. */
  | 'CATALOG'
  /** `maxInputTokens`, or `maxTokens` where that is null. */
  | 'CONTEXT_WINDOW'
  /** Entry id, by code points. */
  | 'ID'
  /** Price of an input token in small requests. */
  | 'INPUT_PRICE'
  /** Price of an output token in small requests. */
  | 'OUTPUT_PRICE';

/** Subject of a field of the price map. */
export type CatalogFieldKind =
  /** A date, e.g. of retirement. */
  | 'DATE'
  /** A capability. */
  | 'FLAG'
  /** A limit, e.g. tokens or requests per minute. */
  | 'LIMIT'
  /** The mode. */
  | 'MODE'
  /** A price. */
  | 'PRICE'
  /** The provider. */
  | 'PROVIDER';

/** Source of a part of the history. */
export type CatalogHistorySource =
  /** Imported from a file. */
  | 'IMPORTED'
  /** Observed by this installation. */
  | 'RECORDED';

/** Source of a catalog snapshot. */
export type CatalogSource =
  /** Shipped with this version. */
  | 'EMBEDDED'
  /** A file of this installation. */
  | 'FILE'
  /** Fetched from the published price map. */
  | 'UPSTREAM';

/** A chat request. */
export type ChatInput = {
  /** Id that the client gives this call, 1 to 200 visible ASCII characters. Generated when absent or of another form. */
  callId?: string | number | null | undefined;
  /** Maximum output tokens. */
  maxTokens?: number | null | undefined;
  /** Messages, oldest first. */
  messages: Array<ChatMessageInput>;
  /** Public model name. */
  model: string;
  /** Further parameters of chat completions: an object. The other fields of this input override its members. */
  parameters?: unknown;
  /** Reasoning effort. The model defines the values, e.g. `low`. */
  reasoningEffort?: string | null | undefined;
  /** Response format, in the format of chat completions. */
  responseFormat?: unknown;
  /** Seed for reproducible sampling, where the provider supports it. */
  seed?: number | null | undefined;
  /** Stop sequences. */
  stop?: Array<string> | null | undefined;
  /** Sampling temperature. */
  temperature?: number | null | undefined;
  /** Tool choice, in the format of chat completions. */
  toolChoice?: unknown;
  /** Tool definitions, in the format of chat completions. */
  tools?: Array<unknown> | null | undefined;
  /** Nucleus sampling: probability mass of the candidate tokens. */
  topP?: number | null | undefined;
  /** W3C trace context of the parent span. A new trace when absent or invalid. */
  traceparent?: string | null | undefined;
  /** End user id, sent to the provider. */
  user?: string | null | undefined;
};

/** One message of a chat. */
export type ChatMessageInput = {
  /** Text, or a list of content parts in the format of chat completions. */
  content?: unknown;
  /** Name of the participant. */
  name?: string | null | undefined;
  /** Role of the message. */
  role: ChatRole;
  /** Id of the tool call that a tool message answers. */
  toolCallId?: string | number | null | undefined;
  /** Tool calls of an assistant message, in the format of chat completions. */
  toolCalls?: Array<unknown> | null | undefined;
};

/** Role of a message. */
export type ChatRole =
  /** Answer of the model. */
  | 'ASSISTANT'
  /** Developer message, for models that distinguish it from a system message. */
  | 'DEVELOPER'
  /** System message. */
  | 'SYSTEM'
  /** Result of a tool call. */
  | 'TOOL'
  /** User message. */
  | 'USER';

/** Payment mode of a purchase. */
export type CheckoutMode =
  /** One payment. */
  | 'PAYMENT'
  /** Recurring payments. */
  | 'SUBSCRIPTION';

/** State of a purchase. */
export type CheckoutState =
  /** The buyer disputes the payment. */
  | 'DISPUTED'
  /** The subscription has ended. */
  | 'ENDED'
  /** The buyer did not pay in time. */
  | 'EXPIRED'
  /** Not paid yet. */
  | 'OPEN'
  /** Paid. The only state in which the key is valid. */
  | 'PAID'
  /** The payment failed. */
  | 'PAYMENT_FAILED'
  /** The buyer has finished; the payment is pending. */
  | 'PROCESSING'
  /** The payment was refunded in full. */
  | 'REFUNDED'
  /** The subscription is paused or unpaid. */
  | 'SUSPENDED';

/** Source of a cost. */
export type CostSource =
  /** Estimated from catalog prices. */
  | 'ESTIMATED'
  /** Estimated from catalog prices with the full price for all input tokens: the span does not tell which of them were cached. */
  | 'ESTIMATED_UPPER'
  /** Charged by the gateway. */
  | 'GATEWAY';

/** A decision to make. */
export type DecideInput = {
  /** Id that the client gives this call, 1 to 200 visible ASCII characters. Generated when absent or of another form. */
  callId?: string | number | null | undefined;
  /** What the questions are about: a text, or a list of messages in the standard format of decisions. */
  input: unknown;
  /** Public model name. */
  model: string;
  /** Further parameters of a decision: an object. The other fields of this input override its members. */
  parameters?: unknown;
  /** At least one; 128 at most by default. */
  questions: Array<DecisionQuestionInput>;
  /** W3C trace context of the parent span. A new trace when absent or invalid. */
  traceparent?: string | null | undefined;
};

/** One level of a score. */
export type DecisionLevelInput = {
  /** What the level means. */
  description?: string | null | undefined;
  /** Name of the level. */
  label: string;
};

/** One option of a choice. */
export type DecisionOptionInput = {
  /** What the option means. */
  description?: string | null | undefined;
  /** A text or a boolean. Distinct within a question. */
  value: unknown;
};

/** A question about the input. */
export type DecisionQuestionInput = {
  /** Options of a choice, 2 to 255. */
  choices?: Array<DecisionOptionInput> | null | undefined;
  /** The question. */
  instructions: string;
  /** Kind of the question. */
  kind: QuestionKind;
  /** Levels of a score, lowest first, 2 to 10. */
  levels?: Array<DecisionLevelInput> | null | undefined;
  /** Name that the answer repeats. */
  name?: string | null | undefined;
};

/** The annotation to delete. */
export type DeleteAnnotationInput = {
  /** Global id of the annotation. */
  id: string | number;
};

/** The trace to delete. */
export type DeleteTraceInput = {
  /** Global id of the trace, or its trace id, 32 hex digits. */
  id: string | number;
  /** Ref of one trace, for a trace id that several keys sent. All traces of the id when absent. */
  traceRef?: string | number | null | undefined;
};

/** Filter of deployments. All conditions must match. */
export type DeploymentFilter = {
  /** Exact public model name. */
  model?: string | null | undefined;
  /** Exact provider. */
  provider?: string | null | undefined;
};

/** Error codes. Top-level errors have them as `extensions.code`. */
export type ErrorCode =
  /** The request conflicts with the current state. */
  | 'CONFLICT'
  /** The key lacks the right. */
  | 'FORBIDDEN'
  /** The document has a syntax error. */
  | 'GRAPHQL_PARSE_FAILED'
  /** The document does not fit the schema, or a value does not have the type of its variable or argument. */
  | 'GRAPHQL_VALIDATION_FAILED'
  /** An internal error of the server. Search its log for `extensions.requestId`. */
  | 'INTERNAL'
  /** The input is invalid. */
  | 'INVALID_INPUT'
  /** A budget, a rate limit, a limit of concurrent calls or the free tier is used up. */
  | 'LIMIT_EXCEEDED'
  /** The object does not exist, or the caller may not read it. */
  | 'NOT_FOUND'
  /** A guardrail rejected the request. */
  | 'REJECTED'
  /** A size, cost or depth limit is exceeded. */
  | 'TOO_LARGE'
  /** The key is missing or invalid. */
  | 'UNAUTHENTICATED'
  /** The server cannot serve the request, e.g. because a queue is full, a store is down or a setting is missing. */
  | 'UNAVAILABLE'
  /** The request is valid but not supported. */
  | 'UNSUPPORTED'
  /** The provider answered with an error, or did not answer. */
  | 'UPSTREAM_FAILED';

/** What a line of an estimate charges for. */
export type EstimateLineKind =
  /** Input tokens read from a cache. */
  | 'CACHE_READ'
  /** Input tokens written to a cache. */
  | 'CACHE_WRITE'
  /** Input tokens neither read from nor written to a cache. */
  | 'INPUT'
  /** Output tokens without reasoning. */
  | 'OUTPUT'
  /** Reasoning tokens. */
  | 'REASONING'
  /** A fee per request. */
  | 'REQUEST';

/** An assumption or an unknown of an estimate. */
export type EstimateNote =
  /** Part of the batch share has no batch price and is charged at the regular price. */
  | 'BATCH_PRICE_MISSING'
  /** A request exceeds the last priced tier and is charged at that tier. */
  | 'BEYOND_PRICED_RANGE'
  /** No price for cache reads. They are charged as plain input. */
  | 'CACHE_READ_PRICE_MISSING'
  /** No price for cache writes. They are charged as plain input. */
  | 'CACHE_WRITE_PRICE_MISSING'
  /** The price map does not state caching. Cached tokens are charged as plain input. */
  | 'CACHING_NOT_STATED'
  /** `maxInputTokens` is unknown. A request may not fit. */
  | 'CONTEXT_WINDOW_UNKNOWN'
  /** The entry has off-peak prices. The regular price is used. */
  | 'OFF_PEAK_PRICES_IGNORED'
  /** Input and output prices are zero: free, sold by subscription, or unknown. The price map does not distinguish them. */
  | 'PRICED_ZERO';

/** Whether a quote supports a finding or limits it. */
export type EvidenceRole =
  /** Limits the finding. */
  | 'COUNTEREXAMPLE'
  /** Supports the finding. */
  | 'SUPPORT';

/** Filter of findings. All conditions must match. */
export type FindingFilter = {
  /** Kind. */
  kind?: FindingKind | null | undefined;
  /** The lens: global id or its id on the HTTP routes. */
  lensId?: string | number | null | undefined;
  /** Priority. */
  priority?: FindingPriority | null | undefined;
  /** Status. */
  status?: FindingStatus | null | undefined;
};

/** Whether a finding is a failure or behaviour that is worth knowing. */
export type FindingKind =
  /** A failure. */
  | 'ISSUE'
  /** Notable behaviour that is not a failure. */
  | 'PATTERN';

/** Priority of a finding. */
export type FindingPriority =
  /** Harm to users or data. */
  | 'HIGH'
  /** All other findings. */
  | 'LOW'
  /** Failed tasks. */
  | 'MEDIUM';

/** Status of a finding, set by people. A resolved finding that occurs again becomes open. */
export type FindingStatus =
  /** Rejected. A finding stays dismissed when it occurs again. */
  | 'DISMISSED'
  /** Not judged yet, or occurred again. */
  | 'OPEN'
  /** Marked as repaired. */
  | 'RESOLVED';

/** Settings of a new key. */
export type GenerateKeyInput = {
  /** Unique display name. */
  alias?: string | null | undefined;
  /** Lifetime: `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; unlimited when absent. */
  duration?: string | null | undefined;
  /** Secret to use: `sk-` and at least 17 further characters, 8 of them distinct. Generated when absent. */
  key?: string | null | undefined;
  /** Spend limit in USD; unlimited when absent. */
  maxBudgetUsd?: string | null | undefined;
  /** Client data: an object. */
  metadata?: unknown;
  /** Public model names that the key may call; all when empty or absent. */
  models?: Array<string> | null | undefined;
  /** Rights of the key; `INTERNAL_USER` when absent. */
  role?: Role | null | undefined;
  /** Rights, limits and budgets. */
  settings?: KeySettingsInput | null | undefined;
  /** Team of the key: global id or local id. */
  teamId?: string | number | null | undefined;
  /** User of the key: global id or local id. */
  userId?: string | number | null | undefined;
};

/** Health by the last 20 calls of this process. Calls that ended more than five minutes ago are left out. */
export type HealthState =
  /** 10% or more failed, or the states of several deployments differ. */
  | 'DEGRADED'
  /** 50% or more failed. */
  | 'FAILING'
  /** Less than 10% failed. */
  | 'HEALTHY'
  /** No calls. */
  | 'UNKNOWN';

/** Status of a job. */
export type JobStatus =
  /** Cancelled by a person, or interrupted by the end of its process. */
  | 'CANCELLED'
  /** Ended with a result. */
  | 'COMPLETED'
  /** Lost or failed too often. There is no further attempt. */
  | 'DEAD'
  /** Ended with a failure. */
  | 'FAILED'
  /** Waits for a worker. */
  | 'QUEUED'
  /** Claimed by a worker. */
  | 'RUNNING';

/** A budget of a window. */
export type KeyBudgetWindowInput = {
  /** Length of the window, e.g. `1d`, `7d`, `30d` or `5h`. */
  duration: string;
  /** Maximum spend of one window, in USD; not below zero. */
  maxBudgetUsd: string;
};

/** Rights, limits and budgets of a key. Absent fields stay as they are; null removes a value. */
export type KeySettingsInput = {
  /** Public model names by the alias that the key uses: an object of texts. */
  aliases?: unknown;
  /** Paths, groups such as `llm_api_routes`, and prefixes with a trailing `*`; all when empty. */
  allowedRoutes?: Array<string> | null | undefined;
  /** Budget period, e.g. `1d`, `7d` or `30d`. */
  budgetDuration?: string | null | undefined;
  /** Budgets of further windows. */
  budgetLimits?: Array<KeyBudgetWindowInput> | null | undefined;
  /** Parameters that each model call must have, e.g. `user` or `metadata.job`. */
  enforcedParams?: Array<string> | null | undefined;
  /** Purpose of the key. */
  keyType?: KeyType | null | undefined;
  /** Maximum number of concurrent calls; null is unlimited. */
  maxParallelRequests?: number | null | undefined;
  /** Requests per minute by model: an object of whole numbers. */
  modelRpmLimit?: unknown;
  /** Tokens per minute by model: an object of whole numbers. */
  modelTpmLimit?: unknown;
  /** Rights over MCP servers, agents and vector stores: an object with members such as `mcp_servers`, `agents` and `vector_stores`. A member replaces the stored member, and a null member removes it. Null instead of an object removes the whole permission. */
  objectPermission?: unknown;
  /** Further rights: an object. Only the member `get_spend_routes` has an effect. */
  permissions?: unknown;
  /** Requests per minute; null is unlimited. */
  rpmLimit?: number | null | undefined;
  /** Budget in USD that sends an alert and refuses no call; not below zero. */
  softBudgetUsd?: string | null | undefined;
  /** Tags of the key. */
  tags?: Array<string> | null | undefined;
  /** Tokens per minute; null is unlimited. */
  tpmLimit?: number | null | undefined;
};

/** Purpose of a key. Decides which routes a new key may call. */
export type KeyType =
  /** Calls all routes that its role and `allowedRoutes` permit. */
  | 'DEFAULT'
  /** Calls models: `llm_api_routes`. */
  | 'LLM_API'
  /** Manages keys and other objects: `management_routes`. */
  | 'MANAGEMENT'
  /** Reads information: `info_routes`. */
  | 'READ_ONLY';

/** An attribute that one span of an execution must have. */
export type LensAttributeFilterInput = {
  /** Name of a span or resource attribute. */
  key: string;
  /** Its exact value. */
  value: string;
};

/** A rule that reviewers judge executions by. */
export type LensCheckInput = {
  /** Whether it is applied; true when absent. */
  enabled?: boolean | null | undefined;
  /** Id, unique within the lens. */
  id: string;
  /** The rule, at least 3 characters. */
  instruction: string;
};

/** Status of a run. */
export type LensRunStatus =
  /** Cancelled by a person. */
  | 'CANCELLED'
  /** Ended with a result. */
  | 'COMPLETED'
  /** Ended without a result. */
  | 'FAILED'
  /** Waits for a worker. */
  | 'QUEUED'
  /** Claimed by a worker. */
  | 'RUNNING';

/** Settings of a lens. It needs a context or an enabled check. */
export type LensSettingsInput = {
  /** Only executions of this agent. */
  agentName?: string | null | undefined;
  /** Attributes of an execution. One span must have all of them. */
  attributes?: Array<LensAttributeFilterInput> | null | undefined;
  /** Rules that executions are judged by; none when absent. */
  checks?: Array<LensCheckInput> | null | undefined;
  /** Maximum number of concurrent model calls of a run, at least 1; 8 when absent. A run makes at most 256 at a time. */
  concurrency?: number | null | undefined;
  /** Expected behaviour, for reviewers; none when absent. */
  context?: string | null | undefined;
  /** Whether runs repeat; true when absent. */
  enabled?: boolean | null | undefined;
  /** Ids of the executions to review, as a preview lists them. Window, service, agent, team and attributes are then ignored; the sample limits apply. */
  executionIds?: Array<string | number> | null | undefined;
  /** Minutes between runs, at least 1; 15 when absent. */
  intervalMinutes?: number | null | undefined;
  /** Length of the window in hours, 1 to 1,000,000; 24 when absent. */
  lookbackHours?: number | null | undefined;
  /** Public name of the model that reviews. */
  model: string;
  /** Budget of a calendar month, UTC, in USD, above 0; 100 when absent. */
  monthlyBudgetUsd?: number | null | undefined;
  /** Name of the lens, not empty. */
  name: string;
  /** Percentage of the executions, above 0 and at most 100; 100 when absent. */
  samplePercent?: number | null | undefined;
  /** Maximum number of executions, at least 1; no limit when absent. */
  sampleSize?: number | null | undefined;
  /** Only executions of this service. */
  service?: string | null | undefined;
  /** Only executions of this team. */
  teamId?: string | null | undefined;
};

/** Filter of logical models. All conditions must match. */
export type ModelFilter = {
  /** Minimum number of offers. */
  minOffers?: number | null | undefined;
  /** At least one offer has this mode, case-insensitive. */
  mode?: string | null | undefined;
  /** At least one offer is from this provider, case-insensitive. */
  provider?: string | null | undefined;
  /** Substring of the name, case-insensitive. */
  text?: string | null | undefined;
};

/** Direction of an order. */
export type OrderDirection =
  /** Smallest or earliest first. */
  | 'ASC'
  /** Largest or latest first. */
  | 'DESC';

/** Role of a member in its organization. */
export type OrganizationRole =
  /** A member without the rights of an administrator. */
  | 'INTERNAL_USER'
  /** Same rights as `INTERNAL_USER`. */
  | 'INTERNAL_USER_VIEWER'
  /** Manages the teams, their keys, and the members of the organization. */
  | 'ORG_ADMIN';

/** Why a price is quarantined. */
export type QuarantineReason =
  /** The price changed from or to zero. */
  | 'CROSSES_ZERO'
  /** The price is below zero. */
  | 'NEGATIVE'
  /** The value is not a number. */
  | 'NOT_A_NUMBER'
  /** The price changed by a factor of ten or more. */
  | 'TEN_FOLD'
  /** The price is above 0.001 USD per token. */
  | 'TOO_HIGH';

/** Kind of a question. */
export type QuestionKind =
  /** The position of an object in an image. */
  | 'BOX'
  /** One of several options. */
  | 'CHOICE'
  /** Yes or no. */
  | 'PREDICATE'
  /** A position on ordered levels. */
  | 'SCORE';

/** The trace to redact. */
export type RedactTraceInput = {
  /** Global id of the trace, or its trace id, 32 hex digits. */
  id: string | number;
  /** Ref of one trace, for a trace id that several keys sent. All traces of the id when absent. */
  traceRef?: string | number | null | undefined;
};

/** Rights of a key. */
export type Role =
  /** Calls models, reads its own data and creates keys of its user. */
  | 'INTERNAL_USER'
  /** Reads its own data. */
  | 'INTERNAL_USER_VIEWER'
  /** Reads and changes everything. */
  | 'PROXY_ADMIN'
  /** Reads everything, changes nothing. */
  | 'PROXY_ADMIN_VIEWER';

/** A finding and its new status. */
export type SetFindingStatusInput = {
  /** `findingId` of the finding, or of one merged into it. */
  findingId: string | number;
  /** The lens: global id or its id on the HTTP routes. */
  lensId: string | number;
  /** Reason for the status, which later runs read; none when absent. */
  reason?: string | null | undefined;
  /** New status. */
  status: FindingStatus;
};

/** Section of the configuration file. */
export type SettingSection =
  /** `environment_variables`. Their values are hidden. */
  | 'ENVIRONMENT'
  /** `general_settings`. */
  | 'GENERAL'
  /** `litellm_settings`. */
  | 'LITELLM'
  /** `router_settings`. */
  | 'ROUTER';

/** Where the value of a setting comes from. */
export type SettingSource =
  /** The configuration file. Only the file can change a setting that it declares. */
  | 'CONFIG'
  /** A value that was stored at run time. */
  | 'DATABASE'
  /** A built-in value. */
  | 'DEFAULT'
  /** Nothing sets it. */
  | 'UNSET';

/** OpenTelemetry span kind. */
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

/** Role of a message. */
export type SpanMessageRole =
  /** Role assistant. */
  | 'ASSISTANT'
  /** Role system. */
  | 'SYSTEM'
  /** Role tool. */
  | 'TOOL'
  /** Role user. */
  | 'USER';

/** OpenTelemetry status of a span, or of the root span of a trace. */
export type SpanStatus =
  /** Failure. */
  | 'ERROR'
  /** Success. */
  | 'OK'
  /** No status was set. */
  | 'UNSET';

/** Kind of work, derived from GenAI attributes. */
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

/** Length of a time bucket, in UTC. */
export type SpendBucket =
  /** One day. */
  | 'DAY'
  /** One hour. Slower than DAY, because all calls of the period are read. */
  | 'HOUR';

/** Properties that calls are grouped by. */
export type SpendField =
  /** Endpoint, as a path. */
  | 'ENDPOINT'
  /** End user of the client application. */
  | 'END_USER'
  /** Hash of the key. */
  | 'KEY'
  /** Upstream model, as `provider/name`. */
  | 'MODEL'
  /** Public model name. */
  | 'MODEL_GROUP'
  /** Current organization of the team. */
  | 'ORGANIZATION'
  /** Provider. */
  | 'PROVIDER'
  /** `success` or `failure`. */
  | 'STATUS'
  /** Tag. A call with several tags counts in the group of each. */
  | 'TAG'
  /** Team of the key. */
  | 'TEAM'
  /** User of the key. */
  | 'USER';

/** Filter of calls. All conditions must match; a list matches any of its values. */
export type SpendFilter = {
  /** End users. */
  endUsers?: Array<string> | null | undefined;
  /** Earliest start, inclusive. When absent: 30 days ago in `spend`, all earlier calls in `spendRows`. */
  from?: string | null | undefined;
  /** Keys: global ids, hashes or secrets. */
  keys?: Array<string | number> | null | undefined;
  /** Public model names. */
  modelGroups?: Array<string> | null | undefined;
  /** Upstream models, as `provider/name` or `name`. */
  models?: Array<string> | null | undefined;
  /** Organizations of teams: global ids or local ids. */
  organizationIds?: Array<string | number> | null | undefined;
  /** Providers. */
  providers?: Array<string> | null | undefined;
  /** Result of the call. */
  status?: SpendStatus | null | undefined;
  /** Tags. */
  tags?: Array<string> | null | undefined;
  /** Teams: global ids or local ids. */
  teamIds?: Array<string | number> | null | undefined;
  /** Latest start, exclusive; all later calls when absent. */
  to?: string | null | undefined;
  /** Users: global ids or local ids. */
  userIds?: Array<string | number> | null | undefined;
};

/** Result of matching a model call with the spend rows. */
export type SpendMatchKind =
  /** Several rows match. */
  | 'AMBIGUOUS'
  /** Other traces were not searched: more than 1,000 calls of the trace have ids and no row. */
  | 'INCOMPLETE_EVIDENCE'
  /** One row matches. */
  | 'MATCHED'
  /** The span has no response id and no call id. */
  | 'NO_CALL_ID'
  /** No row has the ids of the span. */
  | 'NO_SPEND_LOG';

/** Result of a gateway call. */
export type SpendStatus =
  /** Not answered, or not completely. */
  | 'FAILURE'
  /** Answered completely. */
  | 'SUCCESS';

/** Role of a member in its team. */
export type TeamMemberRole =
  /** Manages the members and keys of the team. */
  | 'ADMIN'
  /** A member without the rights of an administrator. */
  | 'USER';

/** Filter of traces. All conditions must match; blank text is ignored. */
export type TraceFilter = {
  /** Exact name of one of its agents. */
  agent?: string | null | undefined;
  /** The trace or one of its spans must have an annotation that matches all of these conditions. An empty filter matches every trace with an annotation. UNSUPPORTED for `traceUpdates`. */
  annotation?: AnnotationFilter | null | undefined;
  /** Whether it has model calls of a lens run or of signals, which are tagged `litellm-lens`. */
  internal?: boolean | null | undefined;
  /** Hash or global id of the key that sent it. */
  keyHash?: string | number | null | undefined;
  /** Minimum of `costUsd`. Traces without a cost do not match. */
  minCostUsd?: string | null | undefined;
  /** Minimum duration in milliseconds. */
  minDurationMs?: number | null | undefined;
  /** Minimum number of failed spans. */
  minErrors?: number | null | undefined;
  /** Exact name of one of its models. */
  model?: string | null | undefined;
  /** Exact service. */
  service?: string | null | undefined;
  /** Exact session. */
  sessionId?: string | null | undefined;
  /** Status of the root span. */
  status?: SpanStatus | null | undefined;
  /** Exact text of one of its tags. */
  tag?: string | null | undefined;
  /** Team of the key that sent it: global id or local id. */
  teamId?: string | number | null | undefined;
  /** Substring of its name, service, input preview, agents, models, session, user or tags, case-insensitive. */
  text?: string | null | undefined;
  /** Exact user. */
  userId?: string | null | undefined;
};

/** Order of traces. Only the direction DESC is supported: ASC fails with UNSUPPORTED. */
export type TraceOrder = {
  /** Direction. */
  direction?: OrderDirection;
  /** Property to order by. */
  field: TraceOrderField;
};

/** Properties that traces are ordered by. */
export type TraceOrderField =
  /** `costUsd`. Traces without a cost come last. */
  | 'COST'
  /** Duration. */
  | 'DURATION'
  /** Number of failed spans. */
  | 'ERRORS'
  /** Start time. */
  | 'STARTED_AT';

/** Kind of system that started the traced run. */
export type TraceSourceType =
  /** Any other system. */
  | 'CUSTOM'
  /** Started from discord. */
  | 'DISCORD'
  /** Started from github. */
  | 'GITHUB'
  /** Started from jira. */
  | 'JIRA'
  /** Started from linear. */
  | 'LINEAR'
  /** Started from slack. */
  | 'SLACK'
  /** Started from teams. */
  | 'TEAMS';

/** A lens and its new settings. */
export type UpdateLensInput = {
  /** The lens: global id or its id on the HTTP routes. */
  id: string | number;
  /** All settings. */
  settings: LensSettingsInput;
};

/** A setting and its new value. */
export type UpdateSettingInput = {
  /** Name within its section. */
  name: string;
  /** Section of the setting. */
  section: SettingSection;
  /** New value. Null removes the stored value; for a known setting of `litellm_settings` it stores the built-in value. For `pass_through_endpoints`, null also removes all stored endpoints. */
  value?: unknown;
};

/** A workload to estimate. Rates and shares are decimals from 0 to 1. */
export type WorkloadInput = {
  /** Share of the requests that may be sent as batches. */
  batchShare?: string;
  /** Share of the input that is read from a cache. */
  cacheHitRate?: string;
  /** Share of the input that is written to a cache. The sum with `cacheHitRate` is at most 1. */
  cacheWriteRate?: string;
  /** Input tokens of one request, cached ones included. */
  inputTokens: number;
  /** Modes of the entries to rank, case-insensitive. */
  modes?: Array<string>;
  /** Output tokens of one request, reasoning included. */
  outputTokens: number;
  /** Share of the output that is reasoning. */
  reasoningShare?: string;
  /** Number of requests, at least 1. */
  requests?: number;
};

export type ActivitySubscriptionVariables = Exact<{ [key: string]: never; }>;


export type ActivitySubscription = { activity: { at: string, droppedUpdates: number, counts: Array<{ date: string | null, category: ActivityCategory | null, route: string | null, succeeded: number | string, failed: number | string }> } };

export type SumsFragment = { succeeded: number | string, failed: number | string, inputTokens: number | string, outputTokens: number | string, cacheReadTokens: number | string, cacheWriteTokens: number | string, costUsd: string };

export type EndpointActivityQueryVariables = Exact<{
  startDate?: string | null | undefined;
  endDate?: string | null | undefined;
}>;


export type EndpointActivityQuery = { endpointActivity: Array<{ endpoint: string, lastSeenAt: string | null, sums: SumsFragment, series: Array<{ date: string, sums: SumsFragment }> }> | null };

export type GatewayActivityQueryVariables = Exact<{
  startDate?: string | null | undefined;
  endDate?: string | null | undefined;
  categories?: Array<ActivityCategory> | ActivityCategory | null | undefined;
  routes?: Array<string> | string | null | undefined;
}>;


export type GatewayActivityQuery = { gatewayActivity: { startDate: string, endDate: string, succeeded: number | string, failed: number | string, byDate: Array<{ date: string | null, category: ActivityCategory | null, succeeded: number | string, failed: number | string }>, byCategory: Array<{ category: ActivityCategory | null, succeeded: number | string, failed: number | string }>, byRoute: Array<{ date: string | null, category: ActivityCategory | null, route: string | null, succeeded: number | string, failed: number | string }>, series: Array<{ date: string | null, category: ActivityCategory | null, route: string | null, succeeded: number | string, failed: number | string }> } | null };

export type CatalogEntriesQueryVariables = Exact<{
  filter?: CatalogEntryFilter | null | undefined;
  orderBy?: CatalogEntryOrder | null | undefined;
  snapshotId?: string | number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CatalogEntriesQuery = { catalogEntries: { totalCount: number, snapshot: { snapshotId: string }, nodes: Array<{ entryId: string, provider: string | null, mode: string | null, maxInputTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null, supportsVision: boolean | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type CatalogEntryQueryVariables = Exact<{
  id: string | number;
}>;


export type CatalogEntryQuery = { catalogEntry: { entryId: string, provider: string | null, mode: string | null, maxInputTokens: number | null, maxOutputTokens: number | null, maxTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null, cacheReadInputTokenCost: string | null, inputCostPerAudioToken: string | null, outputCostPerReasoningToken: string | null, deprecationDate: string | null, supportsFunctionCalling: boolean | null, supportsParallelFunctionCalling: boolean | null, supportsVision: boolean | null, supportsAudioInput: boolean | null, supportsAudioOutput: boolean | null, supportsPromptCaching: boolean | null, supportsReasoning: boolean | null, supportsResponseSchema: boolean | null, supportsSystemMessages: boolean | null, supportsWebSearch: boolean | null, extraFields: unknown } | null };

export type WorkloadEstimatesQueryVariables = Exact<{
  workload: WorkloadInput;
  filter?: CatalogEntryFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  snapshotId?: string | number | null | undefined;
}>;


export type WorkloadEstimatesQuery = { workloadEstimates: { totalCount: number, unpricedCount: number, tooSmallCount: number, snapshot: { snapshotId: string }, nodes: Array<{ costUsd: string, costPerRequestUsd: string, tierAboveTokens: number | null, notes: Array<EstimateNote>, entry: { entryId: string, provider: string | null }, lines: Array<{ kind: EstimateLineKind, batch: boolean, quantity: string, unitPriceUsd: string, costUsd: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type PriceHistoryQueryVariables = Exact<{
  entryId: string | number;
  from?: string | null | undefined;
  to?: string | null | undefined;
}>;


export type PriceHistoryQuery = { priceHistory: Array<{ field: string, from: string, to: string | null, priceUsd: string | null, value: unknown }> | null };

export type PricesAtQueryVariables = Exact<{
  entryId: string | number;
  at: string;
  fields?: Array<string> | string | null | undefined;
}>;


export type PricesAtQuery = { pricesAt: { entryId: string, at: string, listed: boolean | null, prices: Array<{ field: string, known: boolean, priceUsd: string | null, value: unknown }> } | null };

export type EntriesWithPastQueryVariables = Exact<{
  at: string;
}>;


export type EntriesWithPastQuery = { catalogEntries: { nodes: Array<{ entryId: string, priceHistory: Array<{ field: string, priceUsd: string | null }> | null, pricesAt: { listed: boolean | null, prices: Array<{ known: boolean, priceUsd: string | null }> } | null }> } };

export type CatalogChangesQueryVariables = Exact<{
  filter?: CatalogChangeFilter | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CatalogChangesQuery = { catalogChanges: { nodes: Array<{ at: string, entryId: string, provider: string | null, operation: CatalogChangeOperation, field: string | null, fieldKind: CatalogFieldKind | null, oldValue: unknown, newValue: unknown, oldPriceUsd: string | null, newPriceUsd: string | null, snapshotId: string | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, coverage: Array<{ source: CatalogHistorySource, from: string, to: string | null }> | null } };

export type CatalogChangeUpdatesSubscriptionVariables = Exact<{
  filter?: CatalogChangeFilter | null | undefined;
}>;


export type CatalogChangeUpdatesSubscription = { catalogChangeUpdates: { at: string, snapshotId: string, droppedUpdates: number, changes: Array<{ entryId: string, field: string | null, oldPriceUsd: string | null, newPriceUsd: string | null }> } };

export type ModelQueryVariables = Exact<{
  name: string | number;
}>;


export type ModelQuery = { model: { name: string, offerCount: number, providers: Array<string>, modes: Array<string>, capabilitiesOfAll: Array<CatalogCapability>, capabilitiesOfAny: Array<CatalogCapability>, maxContextWindow: number | null, offers: Array<{ entryId: string }>, cheapestInput: { entryId: string, inputCostPerToken: string | null } | null, cheapestOutput: { entryId: string, outputCostPerToken: string | null } | null } | null };

export type ModelsQueryVariables = Exact<{
  filter?: ModelFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  snapshotId?: string | number | null | undefined;
}>;


export type ModelsQuery = { models: { totalCount: number, snapshot: { snapshotId: string }, nodes: Array<{ name: string, offerCount: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ModelOfEntryQueryVariables = Exact<{
  id: string | number;
}>;


export type ModelOfEntryQuery = { catalogEntry: { model: { name: string, offers: Array<{ entryId: string, provider: string | null }> } | null } | null };

export type QuarantinedPricesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type QuarantinedPricesQuery = { quarantinedPrices: { totalCount: number, nodes: Array<{ quarantineId: string, entryId: string, field: string, quarantinedValue: unknown, servedValue: unknown, reason: QuarantineReason, since: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReleaseQuarantinedPriceMutationVariables = Exact<{
  id: string | number;
}>;


export type ReleaseQuarantinedPriceMutation = { releaseQuarantinedPrice:
    | { __typename: 'NotFoundError', code: ErrorCode, message: string, kind: string, id: string }
    | { __typename: 'ReleasedPrice', price: { field: string, quarantinedValue: unknown }, entry: { entryId: string, inputCostPerToken: string | null } | null }
   };

export type CatalogStatusQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogStatusQuery = { catalogStatus: { snapshotId: string, source: CatalogSource, takenAt: string, ageSeconds: number, entryCount: number, quarantinedPriceCount: number, lastCheckedAt: string | null, lastError: string | null } | null };

export type ChatStreamSubscriptionVariables = Exact<{
  input: ChatInput;
}>;


export type ChatStreamSubscription = { chatStream:
    | { __typename: 'ChatFailure', traceId: string, textSoFar: string, code: string, message: string }
    | { __typename: 'ChatFinish', traceId: string, textSoFar: string, reason: string }
    | { __typename: 'ChatReasoning', traceId: string, textSoFar: string }
    | { __typename: 'ChatText', traceId: string, textSoFar: string, text: string }
    | { __typename: 'ChatToolCall', traceId: string, textSoFar: string }
    | { __typename: 'ChatUsage', traceId: string, textSoFar: string, usage: { inputTokens: number, outputTokens: number } }
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


export type CheckoutsQuery = { checkouts: { nodes: Array<{ checkoutId: string, mode: CheckoutMode, state: CheckoutState, paidAt: string | null, revokedAt: string | null, key: { name: string, valid: boolean } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null } } };

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
    | { __typename: 'IssuedCatalogKey', key: string, checkout: { key: { name: string, valid: boolean } | null } }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type RevokeCatalogKeyMutationVariables = Exact<{
  id: string | number;
}>;


export type RevokeCatalogKeyMutation = { revokeCatalogKey:
    | { __typename: 'Checkout', checkoutId: string, state: CheckoutState, key: { valid: boolean } | null }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type DecideMutationVariables = Exact<{
  input: DecideInput;
}>;


export type DecideMutation = { decide:
    | { __typename: 'Decision', callId: string, model: string | null, costUsd: string | null, usage: { inputTokens: number, outputTokens: number }, answers: Array<
        | { __typename: 'BoxAnswer', name: string | null, top: number, bottom: number, left: number, right: number, boxConfidence: number | null }
        | { __typename: 'ChoiceAnswer', name: string | null, choice: string, confidence: number, distribution: Array<{ value: string, probability: number }> }
        | { __typename: 'PredicateAnswer', name: string | null, probability: number }
        | { __typename: 'RefusedAnswer', name: string | null }
        | { __typename: 'ScoreAnswer', name: string | null, score: number, distribution: Array<{ value: string, probability: number }> }
      > }
    | { __typename: 'InvalidInputError', code: ErrorCode, message: string }
    | { __typename: 'LimitExceededError', code: ErrorCode, message: string }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
    | { __typename: 'RejectedError', code: ErrorCode, message: string }
    | { __typename: 'UnsupportedError', code: ErrorCode, message: string }
    | { __typename: 'UpstreamFailedError', code: ErrorCode, message: string }
   };

export type DeploymentsQueryVariables = Exact<{
  filter?: DeploymentFilter | null | undefined;
}>;


export type DeploymentsQuery = { deployments: Array<{ deploymentId: string, model: string, provider: string, upstreamModel: string, apiBase: string | null, catalogEntry: { entryId: string } | null, health: { state: HealthState, calls: number, failures: number, inFlight: number, latencyMs: number | null, lastSuccessAt: string | null, lastFailure: { at: string, code: string } | null } }> };

export type RollUpQueryVariables = Exact<{ [key: string]: never; }>;


export type RollUpQuery = { providers: Array<{ name: string, health: { state: HealthState, calls: number, failures: number }, deployments: Array<{ deploymentId: string }> }>, callableModels: Array<{ name: string, catalogEntry: { entryId: string } | null, health: { state: HealthState }, deployments: Array<{ deploymentId: string, apiBase: string | null }> }> };

export type TwoReadsQueryVariables = Exact<{ [key: string]: never; }>;


export type TwoReadsQuery = { catalogEntry: { entryId: string } | null, catalogEntries: { totalCount: number }, again: { entryId: string } | null };

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

export type LensFactsFragment = { id: string, lensId: string, name: string, model: string, revision: number, spentUsd: string, latestRun: { status: LensRunStatus, stage: string, error: string | null, costUsd: string, coverage: { selected: number, screened: number } }, findings: Array<{ findingId: string, title: string, status: FindingStatus, reason: string | null }> };

export type CreateLensMutationVariables = Exact<{
  input: LensSettingsInput;
}>;


export type CreateLensMutation = { createLens:
    | { __typename: 'InvalidInputError', message: string, issues: Array<{ path: Array<string> }> }
    | (
      { __typename: 'Lens' }
      & LensFactsFragment
    )
   };

export type UpdateLensMutationVariables = Exact<{
  input: UpdateLensInput;
}>;


export type UpdateLensMutation = { updateLens:
    | { __typename: 'InvalidInputError' }
    | (
      { __typename: 'Lens' }
      & LensFactsFragment
    )
    | { __typename: 'NotFoundError' }
   };

export type RunLensMutationVariables = Exact<{
  id: string | number;
}>;


export type RunLensMutation = { runLens:
    | { __typename: 'InvalidInputError' }
    | (
      { __typename: 'Lens' }
      & LensFactsFragment
    )
    | { __typename: 'NotFoundError', message: string }
   };

export type CancelLensRunMutationVariables = Exact<{
  id: string | number;
}>;


export type CancelLensRunMutation = { cancelLensRun:
    | (
      { __typename: 'Lens' }
      & LensFactsFragment
    )
    | { __typename: 'NotFoundError' }
   };

export type SetFindingStatusMutationVariables = Exact<{
  input: SetFindingStatusInput;
}>;


export type SetFindingStatusMutation = { setFindingStatus:
    | (
      { __typename: 'Lens' }
      & LensFactsFragment
    )
    | { __typename: 'NotFoundError' }
   };

export type LensQueryVariables = Exact<{
  id: string | number;
}>;


export type LensQuery = { lens: LensFactsFragment | null };

export type FindingsQueryVariables = Exact<{
  filter?: FindingFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type FindingsQuery = { findings: { edges: Array<{ cursor: string, node: { title: string, kind: FindingKind, priority: FindingPriority, occurrenceCount: number, lens: { name: string } | null, evidence: Array<{ quote: string, spanId: string, traceId: string | null, role: EvidenceRole, span: { spanId: string, name: string } | null }> } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } }, jobs: Array<{ kind: string, status: JobStatus, attempts: number }> };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node:
    | NodeFacts_A2aAgent_Fragment
    | NodeFacts_Annotation_Fragment
    | NodeFacts_AuditEntry_Fragment
    | NodeFacts_Budget_Fragment
    | NodeFacts_CallableModel_Fragment
    | NodeFacts_CatalogEntry_Fragment
    | NodeFacts_CatalogSnapshot_Fragment
    | NodeFacts_Checkout_Fragment
    | NodeFacts_CodingAgent_Fragment
    | NodeFacts_CommandLineSession_Fragment
    | NodeFacts_Credential_Fragment
    | NodeFacts_Customer_Fragment
    | NodeFacts_DatasetSummary_Fragment
    | NodeFacts_Decision_Fragment
    | NodeFacts_Deployment_Fragment
    | NodeFacts_Finding_Fragment
    | NodeFacts_Guardrail_Fragment
    | NodeFacts_Lens_Fragment
    | NodeFacts_LensRun_Fragment
    | NodeFacts_McpServer_Fragment
    | NodeFacts_McpToolset_Fragment
    | NodeFacts_Memory_Fragment
    | NodeFacts_Model_Fragment
    | NodeFacts_Organization_Fragment
    | NodeFacts_PassThroughEndpoint_Fragment
    | NodeFacts_Plugin_Fragment
    | NodeFacts_Policy_Fragment
    | NodeFacts_PolicyAttachment_Fragment
    | NodeFacts_Project_Fragment
    | NodeFacts_Prompt_Fragment
    | NodeFacts_Provider_Fragment
    | NodeFacts_QuarantinedPrice_Fragment
    | NodeFacts_SearchTool_Fragment
    | NodeFacts_Span_Fragment
    | NodeFacts_SpendRow_Fragment
    | NodeFacts_StoredDeployment_Fragment
    | NodeFacts_Team_Fragment
    | NodeFacts_TokenMapping_Fragment
    | NodeFacts_Tool_Fragment
    | NodeFacts_Trace_Fragment
    | NodeFacts_TracingKey_Fragment
    | NodeFacts_User_Fragment
    | NodeFacts_VectorStore_Fragment
    | NodeFacts_VectorStoreIndex_Fragment
    | NodeFacts_VirtualKey_Fragment
    | NodeFacts_WorkflowRun_Fragment
   | null };

export type NodesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type NodesQuery = { nodes: Array<
    | NodeFacts_A2aAgent_Fragment
    | NodeFacts_Annotation_Fragment
    | NodeFacts_AuditEntry_Fragment
    | NodeFacts_Budget_Fragment
    | NodeFacts_CallableModel_Fragment
    | NodeFacts_CatalogEntry_Fragment
    | NodeFacts_CatalogSnapshot_Fragment
    | NodeFacts_Checkout_Fragment
    | NodeFacts_CodingAgent_Fragment
    | NodeFacts_CommandLineSession_Fragment
    | NodeFacts_Credential_Fragment
    | NodeFacts_Customer_Fragment
    | NodeFacts_DatasetSummary_Fragment
    | NodeFacts_Decision_Fragment
    | NodeFacts_Deployment_Fragment
    | NodeFacts_Finding_Fragment
    | NodeFacts_Guardrail_Fragment
    | NodeFacts_Lens_Fragment
    | NodeFacts_LensRun_Fragment
    | NodeFacts_McpServer_Fragment
    | NodeFacts_McpToolset_Fragment
    | NodeFacts_Memory_Fragment
    | NodeFacts_Model_Fragment
    | NodeFacts_Organization_Fragment
    | NodeFacts_PassThroughEndpoint_Fragment
    | NodeFacts_Plugin_Fragment
    | NodeFacts_Policy_Fragment
    | NodeFacts_PolicyAttachment_Fragment
    | NodeFacts_Project_Fragment
    | NodeFacts_Prompt_Fragment
    | NodeFacts_Provider_Fragment
    | NodeFacts_QuarantinedPrice_Fragment
    | NodeFacts_SearchTool_Fragment
    | NodeFacts_Span_Fragment
    | NodeFacts_SpendRow_Fragment
    | NodeFacts_StoredDeployment_Fragment
    | NodeFacts_Team_Fragment
    | NodeFacts_TokenMapping_Fragment
    | NodeFacts_Tool_Fragment
    | NodeFacts_Trace_Fragment
    | NodeFacts_TracingKey_Fragment
    | NodeFacts_User_Fragment
    | NodeFacts_VectorStore_Fragment
    | NodeFacts_VectorStoreIndex_Fragment
    | NodeFacts_VirtualKey_Fragment
    | NodeFacts_WorkflowRun_Fragment
   | null> };

export type SpanNodesQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type SpanNodesQuery = { nodes: Array<
    | { spanId: string, parent: { spanId: string } | null }
    | Record<PropertyKey, never>
   | null> };

type NodeFacts_A2aAgent_Fragment = { __typename: 'A2aAgent', id: string };

type NodeFacts_Annotation_Fragment = { __typename: 'Annotation', id: string };

type NodeFacts_AuditEntry_Fragment = { __typename: 'AuditEntry', id: string };

type NodeFacts_Budget_Fragment = { __typename: 'Budget', id: string };

type NodeFacts_CallableModel_Fragment = { __typename: 'CallableModel', id: string };

type NodeFacts_CatalogEntry_Fragment = { __typename: 'CatalogEntry', entryId: string, id: string };

type NodeFacts_CatalogSnapshot_Fragment = { __typename: 'CatalogSnapshot', id: string };

type NodeFacts_Checkout_Fragment = { __typename: 'Checkout', id: string };

type NodeFacts_CodingAgent_Fragment = { __typename: 'CodingAgent', id: string };

type NodeFacts_CommandLineSession_Fragment = { __typename: 'CommandLineSession', id: string };

type NodeFacts_Credential_Fragment = { __typename: 'Credential', id: string };

type NodeFacts_Customer_Fragment = { __typename: 'Customer', id: string };

type NodeFacts_DatasetSummary_Fragment = { __typename: 'DatasetSummary', id: string };

type NodeFacts_Decision_Fragment = { __typename: 'Decision', id: string };

type NodeFacts_Deployment_Fragment = { __typename: 'Deployment', id: string };

type NodeFacts_Finding_Fragment = { __typename: 'Finding', id: string };

type NodeFacts_Guardrail_Fragment = { __typename: 'Guardrail', id: string };

type NodeFacts_Lens_Fragment = { __typename: 'Lens', id: string };

type NodeFacts_LensRun_Fragment = { __typename: 'LensRun', id: string };

type NodeFacts_McpServer_Fragment = { __typename: 'McpServer', id: string };

type NodeFacts_McpToolset_Fragment = { __typename: 'McpToolset', id: string };

type NodeFacts_Memory_Fragment = { __typename: 'Memory', id: string };

type NodeFacts_Model_Fragment = { __typename: 'Model', name: string, id: string };

type NodeFacts_Organization_Fragment = { __typename: 'Organization', id: string };

type NodeFacts_PassThroughEndpoint_Fragment = { __typename: 'PassThroughEndpoint', id: string };

type NodeFacts_Plugin_Fragment = { __typename: 'Plugin', id: string };

type NodeFacts_Policy_Fragment = { __typename: 'Policy', id: string };

type NodeFacts_PolicyAttachment_Fragment = { __typename: 'PolicyAttachment', id: string };

type NodeFacts_Project_Fragment = { __typename: 'Project', id: string };

type NodeFacts_Prompt_Fragment = { __typename: 'Prompt', id: string };

type NodeFacts_Provider_Fragment = { __typename: 'Provider', id: string };

type NodeFacts_QuarantinedPrice_Fragment = { __typename: 'QuarantinedPrice', id: string };

type NodeFacts_SearchTool_Fragment = { __typename: 'SearchTool', id: string };

type NodeFacts_Span_Fragment = { __typename: 'Span', spanId: string, name: string, id: string };

type NodeFacts_SpendRow_Fragment = { __typename: 'SpendRow', gatewayCallId: string, id: string };

type NodeFacts_StoredDeployment_Fragment = { __typename: 'StoredDeployment', id: string };

type NodeFacts_Team_Fragment = { __typename: 'Team', teamId: string, id: string };

type NodeFacts_TokenMapping_Fragment = { __typename: 'TokenMapping', id: string };

type NodeFacts_Tool_Fragment = { __typename: 'Tool', id: string };

type NodeFacts_Trace_Fragment = { __typename: 'Trace', traceId: string, spanCount: number, id: string };

type NodeFacts_TracingKey_Fragment = { __typename: 'TracingKey', id: string };

type NodeFacts_User_Fragment = { __typename: 'User', id: string };

type NodeFacts_VectorStore_Fragment = { __typename: 'VectorStore', id: string };

type NodeFacts_VectorStoreIndex_Fragment = { __typename: 'VectorStoreIndex', id: string };

type NodeFacts_VirtualKey_Fragment = { __typename: 'VirtualKey', hash: string, id: string };

type NodeFacts_WorkflowRun_Fragment = { __typename: 'WorkflowRun', id: string };

export type NodeFactsFragment =
  | NodeFacts_A2aAgent_Fragment
  | NodeFacts_Annotation_Fragment
  | NodeFacts_AuditEntry_Fragment
  | NodeFacts_Budget_Fragment
  | NodeFacts_CallableModel_Fragment
  | NodeFacts_CatalogEntry_Fragment
  | NodeFacts_CatalogSnapshot_Fragment
  | NodeFacts_Checkout_Fragment
  | NodeFacts_CodingAgent_Fragment
  | NodeFacts_CommandLineSession_Fragment
  | NodeFacts_Credential_Fragment
  | NodeFacts_Customer_Fragment
  | NodeFacts_DatasetSummary_Fragment
  | NodeFacts_Decision_Fragment
  | NodeFacts_Deployment_Fragment
  | NodeFacts_Finding_Fragment
  | NodeFacts_Guardrail_Fragment
  | NodeFacts_Lens_Fragment
  | NodeFacts_LensRun_Fragment
  | NodeFacts_McpServer_Fragment
  | NodeFacts_McpToolset_Fragment
  | NodeFacts_Memory_Fragment
  | NodeFacts_Model_Fragment
  | NodeFacts_Organization_Fragment
  | NodeFacts_PassThroughEndpoint_Fragment
  | NodeFacts_Plugin_Fragment
  | NodeFacts_Policy_Fragment
  | NodeFacts_PolicyAttachment_Fragment
  | NodeFacts_Project_Fragment
  | NodeFacts_Prompt_Fragment
  | NodeFacts_Provider_Fragment
  | NodeFacts_QuarantinedPrice_Fragment
  | NodeFacts_SearchTool_Fragment
  | NodeFacts_Span_Fragment
  | NodeFacts_SpendRow_Fragment
  | NodeFacts_StoredDeployment_Fragment
  | NodeFacts_Team_Fragment
  | NodeFacts_TokenMapping_Fragment
  | NodeFacts_Tool_Fragment
  | NodeFacts_Trace_Fragment
  | NodeFacts_TracingKey_Fragment
  | NodeFacts_User_Fragment
  | NodeFacts_VectorStore_Fragment
  | NodeFacts_VectorStoreIndex_Fragment
  | NodeFacts_VirtualKey_Fragment
  | NodeFacts_WorkflowRun_Fragment
;

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { role: Role, keyHash: string, userId: string | null, key: { hash: string } | null, team: { teamId: string } | null } | null };

export type SettingFieldsFragment = { section: SettingSection, name: string, source: SettingSource, editable: boolean, declaredValue: unknown, effectiveValue: unknown, ignoredStoredValue: unknown, defaultValue: unknown };

export type SettingsQueryVariables = Exact<{
  sections?: Array<SettingSection> | SettingSection | null | undefined;
  names?: Array<string> | string | null | undefined;
}>;


export type SettingsQuery = { settings: Array<(
    { description: string | null }
    & SettingFieldsFragment
  )> | null };

export type UpdateSettingMutationVariables = Exact<{
  input: UpdateSettingInput;
}>;


export type UpdateSettingMutation = { updateSetting:
    | { __typename: 'InvalidInputError', code: ErrorCode, message: string }
    | (
      { __typename: 'Setting' }
      & SettingFieldsFragment
    )
    | { __typename: 'SettingOwnedByFileError', code: ErrorCode, message: string, keys: Array<string>, storedValueIgnored: boolean, resolution: string, owningSection: string }
   };

export type SettingsChangedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type SettingsChangedSubscription = { settingsChanged: { droppedUpdates: number, changed: Array<{ section: string, name: string }> } };

export type AuditLogQueryVariables = Exact<{
  filter?: AuditLogFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type AuditLogQuery = { auditLog: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, changedBy: string, changedByKey: string | null, action: AuditAction, noun: AuditNoun, objectId: string, teamId: string | null, before: unknown, after: unknown }> } };

export type SpendUpdatesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type SpendUpdatesSubscription = { spendUpdates: { droppedUpdates: number, row: { modelGroup: string, costUsd: string | null, user: { userId: string } | null } } };

export type BudgetAlertsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type BudgetAlertsSubscription = { budgetAlerts: { kind: BudgetAlertKind, scope: BudgetScope, ownerId: string, message: string, keyHash: string | null, droppedUpdates: number } };

export type OwnersOfATeamQueryVariables = Exact<{
  id: string | number;
}>;


export type OwnersOfATeamQuery = { node:
    | { teamId: string, alias: string | null, blocked: boolean | null, models: Array<string> | null, totalSpendUsd: string | null, limits: { maxBudgetUsd: string | null, rpmLimit: number | null } | null, organization: { organizationId: string, alias: string, totalSpendUsd: string | null, budget: { limits: { maxBudgetUsd: string | null } } | null, members: Array<{ role: OrganizationRole, userId: string }> | null, teams: { nodes: Array<{ teamId: string }> } | null } | null, members: Array<{ role: TeamMemberRole, user: { userId: string, email: string | null, teams: Array<{ team: { teamId: string } }> | null } | null }> | null, projects: Array<{ projectId: string, team: { teamId: string } }> | null, keys: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ alias: string | null, totalSpendUsd: string | null, team: { teamId: string } | null, user: { userId: string } | null }> } | null, spendRows: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ costUsd: string | null, tags: Array<string>, endUser: string | null, customer: { customerId: string, totalSpendUsd: string | null } | null, key: { alias: string | null } | null, team: { teamId: string } | null, user: { userId: string } | null, trace: { traceId: string } | null }> } | null }
    | Record<PropertyKey, never>
   | null };

export type OwnerListsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OwnerListsQuery = { teams: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, teamId: string }> }, organizations: { nodes: Array<{ organizationId: string }> }, projects: { nodes: Array<{ projectId: string }> } };

export type AdminListsQueryVariables = Exact<{ [key: string]: never; }>;


export type AdminListsQuery = { users: { totalCount: number, nodes: Array<{ userId: string }> }, customers: { nodes: Array<{ customerId: string }> }, budgets: { nodes: Array<{ budgetId: string }> } };

export type SpendQueryVariables = Exact<{
  groupBy?: Array<SpendField> | SpendField | null | undefined;
  bucket?: SpendBucket | null | undefined;
  filter?: SpendFilter | null | undefined;
}>;


export type SpendQuery = { spend: { isCapped: boolean, groups: Array<{ start: string | null, key: string | null, teamId: string | null, userId: string | null, model: string | null, tag: string | null, endpoint: string | null, endUser: string | null, calls: number | string, failures: number | string, inputTokens: number | string, costUsd: string }> } | null };

export type SpendRowsQueryVariables = Exact<{
  filter?: SpendFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SpendRowsQuery = { spendRows: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ callId: string, costUsd: string | null }> } | null };

export type AnnotatedTracesQueryVariables = Exact<{
  filter?: TraceFilter | null | undefined;
  from?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  orderBy?: TraceOrder | null | undefined;
}>;


export type AnnotatedTracesQuery = { traces: { totalCount: number, nodes: Array<{ name: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AnnotatedSessionsQueryVariables = Exact<{
  filter?: TraceFilter | null | undefined;
  from?: string | null | undefined;
}>;


export type AnnotatedSessionsQuery = { sessions: { totalCount: number, nodes: Array<{ sessionId: string, traces: { nodes: Array<{ name: string | null }> } | null }> }, agents: Array<{ name: string, traceCount: number }>, traceSeries: Array<{ traceCount: number }> };

export type AnnotatedSpansQueryVariables = Exact<{
  filter?: AnnotationFilter | null | undefined;
}>;


export type AnnotatedSpansQuery = { annotations: { totalCount: number, nodes: Array<{ span: { spanId: string, name: string, annotations: Array<{ name: string }> } | null }> } };

export type AnnotateTraceMutationVariables = Exact<{
  input: AnnotateTraceInput;
}>;


export type AnnotateTraceMutation = { annotateTrace:
    | { __typename: 'Annotation', id: string, name: string, annotatorKind: AnnotatorKind, label: string | null, score: number | null, note: string | null, author: string, traceId: string, spanId: string | null }
    | { __typename: 'ConflictError', code: ErrorCode, message: string }
    | { __typename: 'InvalidInputError', code: ErrorCode, message: string }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type DeleteAnnotationMutationVariables = Exact<{
  input: DeleteAnnotationInput;
}>;


export type DeleteAnnotationMutation = { deleteAnnotation:
    | { __typename: 'Annotation', id: string }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type AnnotationsQueryVariables = Exact<{
  filter?: AnnotationFilter | null | undefined;
  orderBy?: AnnotationOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AnnotationsQuery = { annotations: { totalCount: number, nodes: Array<{ name: string, label: string | null, score: number | null, trace: { traceId: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TraceAnnotationsQueryVariables = Exact<{
  id: string | number;
}>;


export type TraceAnnotationsQuery = { trace: { annotations: Array<{ name: string, spanId: string | null, label: string | null, note: string | null }>, spans: { nodes: Array<{ spanId: string, annotations: Array<{ name: string }> }> } | null } | null };

export type AnnotationNodeQueryVariables = Exact<{
  id: string | number;
}>;


export type AnnotationNodeQuery = { node:
    | { __typename: 'A2aAgent' }
    | { __typename: 'Annotation', name: string }
    | { __typename: 'AuditEntry' }
    | { __typename: 'Budget' }
    | { __typename: 'CallableModel' }
    | { __typename: 'CatalogEntry' }
    | { __typename: 'CatalogSnapshot' }
    | { __typename: 'Checkout' }
    | { __typename: 'CodingAgent' }
    | { __typename: 'CommandLineSession' }
    | { __typename: 'Credential' }
    | { __typename: 'Customer' }
    | { __typename: 'DatasetSummary' }
    | { __typename: 'Decision' }
    | { __typename: 'Deployment' }
    | { __typename: 'Finding' }
    | { __typename: 'Guardrail' }
    | { __typename: 'Lens' }
    | { __typename: 'LensRun' }
    | { __typename: 'McpServer' }
    | { __typename: 'McpToolset' }
    | { __typename: 'Memory' }
    | { __typename: 'Model' }
    | { __typename: 'Organization' }
    | { __typename: 'PassThroughEndpoint' }
    | { __typename: 'Plugin' }
    | { __typename: 'Policy' }
    | { __typename: 'PolicyAttachment' }
    | { __typename: 'Project' }
    | { __typename: 'Prompt' }
    | { __typename: 'Provider' }
    | { __typename: 'QuarantinedPrice' }
    | { __typename: 'SearchTool' }
    | { __typename: 'Span' }
    | { __typename: 'SpendRow' }
    | { __typename: 'StoredDeployment' }
    | { __typename: 'Team' }
    | { __typename: 'TokenMapping' }
    | { __typename: 'Tool' }
    | { __typename: 'Trace' }
    | { __typename: 'TracingKey' }
    | { __typename: 'User' }
    | { __typename: 'VectorStore' }
    | { __typename: 'VectorStoreIndex' }
    | { __typename: 'VirtualKey' }
    | { __typename: 'WorkflowRun' }
   | null };

export type SessionsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: TraceFilter | null | undefined;
  tracesFirst?: number | null | undefined;
  tracesAfter?: string | null | undefined;
}>;


export type SessionsQuery = { sessions: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ sessionId: string, userId: string | null, traceCount: number, failedTraceCount: number, llmCalls: number | string, inputTokens: number | string, outputTokens: number | string, costUsd: string | null, estimatedCostUsd: string | null, firstSeenAt: string, lastSeenAt: string, durationMs: number, traces: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ traceId: string, sessionId: string | null, userId: string | null, tags: Array<string> }> } | null }> } };

export type SpanPageQueryVariables = Exact<{
  id: string | number;
  traceRef?: string | number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SpanPageQuery = { trace: { spans: { totalCount: number, nodes: Array<{ spanId: string }>, edges: Array<{ cursor: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null } | null };

export type SpanTreeQueryVariables = Exact<{
  id: string | number;
  first?: number | null | undefined;
  after?: string | null | undefined;
  children?: number | null | undefined;
}>;


export type SpanTreeQuery = { trace: { spans: { nodes: Array<{ id: string, spanId: string, parent: { spanId: string } | null, children: { totalCount: number, nodes: Array<{ spanId: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } }> } | null } | null };

export type SpanUpdatesSubscriptionVariables = Exact<{
  traceId: string | number;
  after?: string | null | undefined;
}>;


export type SpanUpdatesSubscription = { spanUpdates: { cursor: string, spans: Array<{ spanId: string, name: string, spendRow: { costUsd: string | null } | null }> } };

export type SpanQueryVariables = Exact<{
  traceId: string | number;
  spanId: string | number;
  traceRef?: string | number | null | undefined;
}>;


export type SpanQuery = { span: { name: string, type: SpanType, input: string | null, output: string | null, inputTokens: number, outputTokens: number, cacheReadTokens: number | null, cacheWriteTokens: number | null, reasoningTokens: number | null, errorTruncated: boolean, attributes: unknown, resourceAttributes: unknown, inputView:
      | Content_SpanFields_Fragment
      | Content_SpanMessages_Fragment
      | Content_SpanText_Fragment
     | null, outputView:
      | Content_SpanFields_Fragment
      | Content_SpanMessages_Fragment
      | Content_SpanText_Fragment
     | null, events: Array<{ name: string, at: string, attributes: unknown }>, links: Array<{ traceId: string, spanId: string, attributes: unknown }>, spendRow: { callType: string, modelGroup: string, model: string, provider: string, status: SpendStatus, costUsd: string | null, errorCode: string | null, errorMessage: string | null, usage: { inputTokens: number, outputTokens: number, cacheReadTokens: number, cacheWriteTokens: number, reasoningTokens: number } | null } | null } | null };

type Content_SpanFields_Fragment = { __typename: 'SpanFields', fields: Array<{ key: string, value: string }> };

type Content_SpanMessages_Fragment = { __typename: 'SpanMessages', messages: Array<{ role: SpanMessageRole, content: string | null, name: string | null, toolCalls: Array<{ name: string, arguments: string }> }> };

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


export type TraceAgentsQuery = { agents: Array<{ name: string, traceCount: number, failedTraceCount: number, lastTraceAt: string, frameworks: Array<string> }> };

export type TraceCountQueryVariables = Exact<{
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: TraceFilter | null | undefined;
}>;


export type TraceCountQuery = { traces: { totalCount: number, nodes: Array<{ traceId: string }>, pageInfo: { endCursor: string | null } } };

export type TraceEdgesQueryVariables = Exact<{
  first?: number | null | undefined;
}>;


export type TraceEdgesQuery = { traces: { nodes: Array<EdgesFragment> } };

export type OneTraceEdgesQueryVariables = Exact<{
  id: string | number;
  spanId: string | number;
}>;


export type OneTraceEdgesQuery = { trace: EdgesFragment | null, span: SpanEdgesFragment | null };

export type EdgesFragment = { traceId: string, keyHash: string | null, key: { alias: string | null } | null, team: { teamId: string, traces: { nodes: Array<{ traceId: string }> } } | null, catalogEntries: Array<{ entryId: string }> | null, spendRows: Array<{ gatewayCallId: string }> | null, agents: Array<{ name: string, inputTokens: number | string, outputTokens: number | string, costUsd: string | null, pricedCalls: number, estimatedCalls: number }> | null, spans: { nodes: Array<SpanEdgesFragment> } | null };

export type SpanEdgesFragment = { spanId: string, catalogEntry: { entryId: string } | null, spendMatch: { match: SpendMatchKind, costUsd: string | null, costSource: CostSource | null, spendRow: { gatewayCallId: string } | null } | null };

export type DeleteTraceMutationVariables = Exact<{
  input: DeleteTraceInput;
}>;


export type DeleteTraceMutation = { deleteTrace:
    | { __typename: 'DeletedTrace', traceId: string, traceCount: number }
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
   };

export type RedactTraceMutationVariables = Exact<{
  input: RedactTraceInput;
}>;


export type RedactTraceMutation = { redactTrace:
    | { __typename: 'NotFoundError', code: ErrorCode, message: string }
    | { __typename: 'RedactedTrace', traces: Array<{ traceId: string, traceRef: string | null, name: string | null, inputPreview: string | null, spanCount: number, redactedAt: string | null, spans: { nodes: Array<{ spanId: string, inputPreview: string | null, error: string | null }> } | null }> }
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


export type TraceSeriesQuery = { traceSeries: Array<{ from: string, traceCount: number, failedTraceCount: number, spanCount: number | string, llmCalls: number | string, inputTokens: number | string, outputTokens: number | string, costUsd: string | null, latencyP50Ms: number | null, latencyP90Ms: number | null, latencyP99Ms: number | null }> };

export type TraceUpdatesFilteredSubscriptionVariables = Exact<{
  filter?: TraceFilter | null | undefined;
}>;


export type TraceUpdatesFilteredSubscription = { traceUpdates: { trace: { traceId: string, errorCount: number } } };

export type TraceUpdatesSubscriptionVariables = Exact<{
  traceId?: string | number | null | undefined;
}>;


export type TraceUpdatesSubscription = { traceUpdates: { droppedUpdates: number, trace: { traceId: string, spanCount: number } } };

export type TraceUpdatesAfterSubscriptionVariables = Exact<{
  after: string;
}>;


export type TraceUpdatesAfterSubscription = { traceUpdates: { cursor: string, trace: { traceId: string } } };

export type TraceUpdateIdsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceUpdateIdsSubscription = { traceUpdates: { cursor: string } };

export type TraceUpdatesWithSpansSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceUpdatesWithSpansSubscription = { traceUpdates: { trace: { traceId: string, spans: { nodes: Array<{ spanId: string }> } | null } } };

export type TraceNamesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TraceNamesSubscription = { traceUpdates: { droppedUpdates: number, trace: { name: string | null } } };

export type TraceUpdatesWithSpendSubscriptionVariables = Exact<{
  traceId?: string | number | null | undefined;
}>;


export type TraceUpdatesWithSpendSubscription = { traceUpdates: { trace: { traceId: string, spans: { nodes: Array<{ spanId: string, spendRow: { costUsd: string | null } | null }> } | null } } };

export type TraceQueryVariables = Exact<{
  id: string | number;
  traceRef?: string | number | null | undefined;
}>;


export type TraceQuery = { trace: { traceId: string, traceRef: string | null, name: string | null, service: string | null, inputPreview: string | null, startedAt: string, endedAt: string, durationMs: number, status: SpanStatus, teamId: string | null, spanCount: number, agentNames: Array<string>, agentInvocations: number, llmCalls: number, toolCalls: number, errorCount: number, inputTokens: number | string, outputTokens: number | string, models: Array<string>, costUsd: string | null, pricedCalls: number, estimatedCostUsd: string | null, estimatedCalls: number, frameworks: Array<string>, source: { type: TraceSourceType, url: string, title: string | null, user: string | null } | null, spans: { nodes: Array<SpanFactsFragment> } | null, agents: Array<{ name: string, parentAgent: string | null, invocations: number, llmCalls: number, toolCalls: number, durationMs: number }> | null } | null };

export type SpanFactsFragment = { traceId: string, spanId: string, parentSpanId: string | null, name: string, kind: SpanKind, type: SpanType, agent: string | null, service: string | null, startedAt: string, startNs: number | string, durationMs: number, status: SpanStatus, error: string | null, errorTruncated: boolean, model: string | null, provider: string | null, framework: string | null, inputTokens: number, outputTokens: number, inputPreview: string | null, responseId: string | null, costUsd: string | null, estimatedCostUsd: string | null };

export type TracesWithSpansQueryVariables = Exact<{ [key: string]: never; }>;


export type TracesWithSpansQuery = { traces: { nodes: Array<{ traceId: string, spans: { nodes: Array<{ spanId: string, spendRow: { costUsd: string | null } | null }> } | null, agents: Array<{ name: string }> | null }> } };

export type TracesQueryVariables = Exact<{
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type TracesQuery = { traces: { nodes: Array<{ traceId: string, traceRef: string | null, name: string | null, startedAt: string, durationMs: number, costUsd: string | null }>, edges: Array<{ cursor: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

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
export const SumsFragmentDoc = new TypedDocumentString(`
    fragment Sums on SpendSums {
  succeeded
  failed
  inputTokens
  outputTokens
  cacheReadTokens
  cacheWriteTokens
  costUsd
}
    `, {"fragmentName":"Sums"}) as unknown as TypedDocumentString<SumsFragment, unknown>;
export const LensFactsFragmentDoc = new TypedDocumentString(`
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}
    `, {"fragmentName":"LensFacts"}) as unknown as TypedDocumentString<LensFactsFragment, unknown>;
export const NodeFactsFragmentDoc = new TypedDocumentString(`
    fragment NodeFacts on Node {
  __typename
  id
  ... on Trace {
    traceId
    spanCount
  }
  ... on Span {
    spanId
    name
  }
  ... on VirtualKey {
    hash
  }
  ... on SpendRow {
    gatewayCallId
  }
  ... on CatalogEntry {
    entryId
  }
  ... on Model {
    name
  }
  ... on Team {
    teamId
  }
}
    `, {"fragmentName":"NodeFacts"}) as unknown as TypedDocumentString<NodeFactsFragment, unknown>;
export const SettingFieldsFragmentDoc = new TypedDocumentString(`
    fragment SettingFields on Setting {
  section
  name
  source
  editable
  declaredValue
  effectiveValue
  ignoredStoredValue
  defaultValue
}
    `, {"fragmentName":"SettingFields"}) as unknown as TypedDocumentString<SettingFieldsFragment, unknown>;
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
    fragment SpanEdges on Span {
  spanId
  catalogEntry {
    entryId
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      gatewayCallId
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
    teamId
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    entryId
  }
  spendRows {
    gatewayCallId
  }
  agents {
    name
    inputTokens
    outputTokens
    costUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    nodes {
      ...SpanEdges
    }
  }
}
    fragment SpanEdges on Span {
  spanId
  catalogEntry {
    entryId
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      gatewayCallId
    }
  }
}`, {"fragmentName":"Edges"}) as unknown as TypedDocumentString<EdgesFragment, unknown>;
export const SpanFactsFragmentDoc = new TypedDocumentString(`
    fragment SpanFacts on Span {
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
  responseId
  costUsd
  estimatedCostUsd
}
    `, {"fragmentName":"SpanFacts"}) as unknown as TypedDocumentString<SpanFactsFragment, unknown>;
export const ActivityDocument = new TypedDocumentString(`
    subscription Activity {
  activity {
    at
    droppedUpdates
    counts {
      date
      category
      route
      succeeded
      failed
    }
  }
}
    `) as unknown as TypedDocumentString<ActivitySubscription, ActivitySubscriptionVariables>;
export const EndpointActivityDocument = new TypedDocumentString(`
    query EndpointActivity($startDate: String, $endDate: String) {
  endpointActivity(startDate: $startDate, endDate: $endDate) {
    endpoint
    lastSeenAt
    sums {
      ...Sums
    }
    series {
      date
      sums {
        ...Sums
      }
    }
  }
}
    fragment Sums on SpendSums {
  succeeded
  failed
  inputTokens
  outputTokens
  cacheReadTokens
  cacheWriteTokens
  costUsd
}`) as unknown as TypedDocumentString<EndpointActivityQuery, EndpointActivityQueryVariables>;
export const GatewayActivityDocument = new TypedDocumentString(`
    query GatewayActivity($startDate: String, $endDate: String, $categories: [ActivityCategory!], $routes: [String!]) {
  gatewayActivity(
    startDate: $startDate
    endDate: $endDate
    categories: $categories
    routes: $routes
  ) {
    startDate
    endDate
    succeeded
    failed
    byDate {
      date
      category
      succeeded
      failed
    }
    byCategory {
      category
      succeeded
      failed
    }
    byRoute {
      date
      category
      route
      succeeded
      failed
    }
    series {
      date
      category
      route
      succeeded
      failed
    }
  }
}
    `) as unknown as TypedDocumentString<GatewayActivityQuery, GatewayActivityQueryVariables>;
export const CatalogEntriesDocument = new TypedDocumentString(`
    query CatalogEntries($filter: CatalogEntryFilter, $orderBy: CatalogEntryOrder, $snapshotId: ID, $first: Int, $after: String, $last: Int, $before: String) {
  catalogEntries(
    filter: $filter
    orderBy: $orderBy
    snapshotId: $snapshotId
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    snapshot {
      snapshotId
    }
    nodes {
      entryId
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
    entryId
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
export const WorkloadEstimatesDocument = new TypedDocumentString(`
    query WorkloadEstimates($workload: WorkloadInput!, $filter: CatalogEntryFilter, $first: Int, $after: String, $snapshotId: ID) {
  workloadEstimates(
    workload: $workload
    filter: $filter
    first: $first
    after: $after
    snapshotId: $snapshotId
  ) {
    totalCount
    unpricedCount
    tooSmallCount
    snapshot {
      snapshotId
    }
    nodes {
      entry {
        entryId
        provider
      }
      costUsd
      costPerRequestUsd
      tierAboveTokens
      notes
      lines {
        kind
        batch
        quantity
        unitPriceUsd
        costUsd
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<WorkloadEstimatesQuery, WorkloadEstimatesQueryVariables>;
export const PriceHistoryDocument = new TypedDocumentString(`
    query PriceHistory($entryId: ID!, $from: DateTime, $to: DateTime) {
  priceHistory(entryId: $entryId, from: $from, to: $to) {
    field
    from
    to
    priceUsd
    value
  }
}
    `) as unknown as TypedDocumentString<PriceHistoryQuery, PriceHistoryQueryVariables>;
export const PricesAtDocument = new TypedDocumentString(`
    query PricesAt($entryId: ID!, $at: DateTime!, $fields: [String!]) {
  pricesAt(entryId: $entryId, at: $at) {
    entryId
    at
    listed
    prices(fields: $fields) {
      field
      known
      priceUsd
      value
    }
  }
}
    `) as unknown as TypedDocumentString<PricesAtQuery, PricesAtQueryVariables>;
export const EntriesWithPastDocument = new TypedDocumentString(`
    query EntriesWithPast($at: DateTime!) {
  catalogEntries {
    nodes {
      entryId
      priceHistory {
        field
        priceUsd
      }
      pricesAt(at: $at) {
        listed
        prices {
          known
          priceUsd
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<EntriesWithPastQuery, EntriesWithPastQueryVariables>;
export const CatalogChangesDocument = new TypedDocumentString(`
    query CatalogChanges($filter: CatalogChangeFilter, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
  catalogChanges(
    filter: $filter
    from: $from
    to: $to
    first: $first
    after: $after
  ) {
    nodes {
      at
      entryId
      provider
      operation
      field
      fieldKind
      oldValue
      newValue
      oldPriceUsd
      newPriceUsd
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
    subscription CatalogChangeUpdates($filter: CatalogChangeFilter) {
  catalogChangeUpdates(filter: $filter) {
    at
    snapshotId
    droppedUpdates
    changes {
      entryId
      field
      oldPriceUsd
      newPriceUsd
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
      entryId
    }
    providers
    modes
    capabilitiesOfAll
    capabilitiesOfAny
    maxContextWindow
    cheapestInput {
      entryId
      inputCostPerToken
    }
    cheapestOutput {
      entryId
      outputCostPerToken
    }
  }
}
    `) as unknown as TypedDocumentString<ModelQuery, ModelQueryVariables>;
export const ModelsDocument = new TypedDocumentString(`
    query Models($filter: ModelFilter, $first: Int, $after: String, $snapshotId: ID) {
  models(filter: $filter, first: $first, after: $after, snapshotId: $snapshotId) {
    totalCount
    snapshot {
      snapshotId
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
        entryId
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
      quarantineId
      entryId
      field
      quarantinedValue
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
export const ReleaseQuarantinedPriceDocument = new TypedDocumentString(`
    mutation ReleaseQuarantinedPrice($id: ID!) {
  releaseQuarantinedPrice(input: { id: $id }) {
    __typename
    ... on ReleasedPrice {
      price {
        field
        quarantinedValue
      }
      entry {
        entryId
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
    `) as unknown as TypedDocumentString<ReleaseQuarantinedPriceMutation, ReleaseQuarantinedPriceMutationVariables>;
export const CatalogStatusDocument = new TypedDocumentString(`
    query CatalogStatus {
  catalogStatus {
    snapshotId
    source
    takenAt
    ageSeconds
    entryCount
    quarantinedPriceCount
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
      textSoFar
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
      checkoutId
      mode
      state
      paidAt
      revokedAt
      key {
        name
        valid
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
  replaceCatalogKey(input: { checkoutId: $id }) {
    __typename
    ... on IssuedCatalogKey {
      key
      checkout {
        key {
          name
          valid
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
  revokeCatalogKey(input: { checkoutId: $id }) {
    __typename
    ... on Checkout {
      checkoutId
      state
      key {
        valid
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<RevokeCatalogKeyMutation, RevokeCatalogKeyMutationVariables>;
export const DecideDocument = new TypedDocumentString(`
    mutation Decide($input: DecideInput!) {
  decide(input: $input) {
    __typename
    ... on Decision {
      callId
      model
      costUsd
      usage {
        inputTokens
        outputTokens
      }
      answers {
        __typename
        ... on DecisionAnswer {
          name
        }
        ... on PredicateAnswer {
          probability
        }
        ... on ChoiceAnswer {
          choice
          confidence
          distribution {
            value
            probability
          }
        }
        ... on ScoreAnswer {
          score
          distribution {
            value
            probability
          }
        }
        ... on BoxAnswer {
          top
          bottom
          left
          right
          boxConfidence: confidence
        }
      }
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<DecideMutation, DecideMutationVariables>;
export const DeploymentsDocument = new TypedDocumentString(`
    query Deployments($filter: DeploymentFilter) {
  deployments(filter: $filter) {
    deploymentId
    model
    provider
    upstreamModel
    apiBase
    catalogEntry {
      entryId
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
      deploymentId
    }
  }
  callableModels {
    name
    catalogEntry {
      entryId
    }
    health {
      state
    }
    deployments {
      deploymentId
      apiBase
    }
  }
}
    `) as unknown as TypedDocumentString<RollUpQuery, RollUpQueryVariables>;
export const TwoReadsDocument = new TypedDocumentString(`
    query TwoReads {
  catalogEntry(id: "gpt-4o") {
    entryId
  }
  catalogEntries(first: 1) {
    totalCount
  }
  again: catalogEntry(id: "gpt-4o") {
    entryId
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
export const CreateLensDocument = new TypedDocumentString(`
    mutation CreateLens($input: LensSettingsInput!) {
  createLens(input: $input) {
    __typename
    ... on Lens {
      ...LensFacts
    }
    ... on InvalidInputError {
      message
      issues {
        path
      }
    }
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<CreateLensMutation, CreateLensMutationVariables>;
export const UpdateLensDocument = new TypedDocumentString(`
    mutation UpdateLens($input: UpdateLensInput!) {
  updateLens(input: $input) {
    __typename
    ... on Lens {
      ...LensFacts
    }
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<UpdateLensMutation, UpdateLensMutationVariables>;
export const RunLensDocument = new TypedDocumentString(`
    mutation RunLens($id: ID!) {
  runLens(input: { id: $id }) {
    __typename
    ... on Lens {
      ...LensFacts
    }
    ... on NotFoundError {
      message
    }
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<RunLensMutation, RunLensMutationVariables>;
export const CancelLensRunDocument = new TypedDocumentString(`
    mutation CancelLensRun($id: ID!) {
  cancelLensRun(input: { id: $id }) {
    __typename
    ... on Lens {
      ...LensFacts
    }
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<CancelLensRunMutation, CancelLensRunMutationVariables>;
export const SetFindingStatusDocument = new TypedDocumentString(`
    mutation SetFindingStatus($input: SetFindingStatusInput!) {
  setFindingStatus(input: $input) {
    __typename
    ... on Lens {
      ...LensFacts
    }
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<SetFindingStatusMutation, SetFindingStatusMutationVariables>;
export const LensDocument = new TypedDocumentString(`
    query Lens($id: ID!) {
  lens(id: $id) {
    ...LensFacts
  }
}
    fragment LensFacts on Lens {
  id
  lensId
  name
  model
  revision
  spentUsd
  latestRun {
    status
    stage
    error
    costUsd
    coverage {
      selected
      screened
    }
  }
  findings {
    findingId
    title
    status
    reason
  }
}`) as unknown as TypedDocumentString<LensQuery, LensQueryVariables>;
export const FindingsDocument = new TypedDocumentString(`
    query Findings($filter: FindingFilter, $first: Int, $after: String) {
  findings(filter: $filter, first: $first, after: $after) {
    edges {
      cursor
      node {
        title
        kind
        priority
        occurrenceCount
        lens {
          name
        }
        evidence {
          quote
          spanId
          traceId
          role
          span {
            spanId
            name
          }
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  jobs(kind: "lens-run", first: 1) {
    kind
    status
    attempts
  }
}
    `) as unknown as TypedDocumentString<FindingsQuery, FindingsQueryVariables>;
export const NodeDocument = new TypedDocumentString(`
    query Node($id: ID!) {
  node(id: $id) {
    ...NodeFacts
  }
}
    fragment NodeFacts on Node {
  __typename
  id
  ... on Trace {
    traceId
    spanCount
  }
  ... on Span {
    spanId
    name
  }
  ... on VirtualKey {
    hash
  }
  ... on SpendRow {
    gatewayCallId
  }
  ... on CatalogEntry {
    entryId
  }
  ... on Model {
    name
  }
  ... on Team {
    teamId
  }
}`) as unknown as TypedDocumentString<NodeQuery, NodeQueryVariables>;
export const NodesDocument = new TypedDocumentString(`
    query Nodes($ids: [ID!]!) {
  nodes(ids: $ids) {
    ...NodeFacts
  }
}
    fragment NodeFacts on Node {
  __typename
  id
  ... on Trace {
    traceId
    spanCount
  }
  ... on Span {
    spanId
    name
  }
  ... on VirtualKey {
    hash
  }
  ... on SpendRow {
    gatewayCallId
  }
  ... on CatalogEntry {
    entryId
  }
  ... on Model {
    name
  }
  ... on Team {
    teamId
  }
}`) as unknown as TypedDocumentString<NodesQuery, NodesQueryVariables>;
export const SpanNodesDocument = new TypedDocumentString(`
    query SpanNodes($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Span {
      spanId
      parent {
        spanId
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SpanNodesQuery, SpanNodesQueryVariables>;
export const ViewerDocument = new TypedDocumentString(`
    query Viewer {
  viewer {
    role
    keyHash
    key {
      hash
    }
    team {
      teamId
    }
    userId
  }
}
    `) as unknown as TypedDocumentString<ViewerQuery, ViewerQueryVariables>;
export const SettingsDocument = new TypedDocumentString(`
    query Settings($sections: [SettingSection!], $names: [String!]) {
  settings(sections: $sections, names: $names) {
    ...SettingFields
    description
  }
}
    fragment SettingFields on Setting {
  section
  name
  source
  editable
  declaredValue
  effectiveValue
  ignoredStoredValue
  defaultValue
}`) as unknown as TypedDocumentString<SettingsQuery, SettingsQueryVariables>;
export const UpdateSettingDocument = new TypedDocumentString(`
    mutation UpdateSetting($input: UpdateSettingInput!) {
  updateSetting(input: $input) {
    __typename
    ... on Setting {
      ...SettingFields
    }
    ... on UserError {
      code
      message
    }
    ... on SettingOwnedByFileError {
      owningSection: section
      keys
      storedValueIgnored
      resolution
    }
  }
}
    fragment SettingFields on Setting {
  section
  name
  source
  editable
  declaredValue
  effectiveValue
  ignoredStoredValue
  defaultValue
}`) as unknown as TypedDocumentString<UpdateSettingMutation, UpdateSettingMutationVariables>;
export const SettingsChangedDocument = new TypedDocumentString(`
    subscription SettingsChanged {
  settingsChanged {
    changed {
      section
      name
    }
    droppedUpdates
  }
}
    `) as unknown as TypedDocumentString<SettingsChangedSubscription, SettingsChangedSubscriptionVariables>;
export const AuditLogDocument = new TypedDocumentString(`
    query AuditLog($filter: AuditLogFilter, $first: Int, $after: String, $last: Int, $before: String) {
  auditLog(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    pageInfo {
      hasNextPage
      hasPreviousPage
      endCursor
    }
    nodes {
      id
      changedBy
      changedByKey
      action
      noun
      objectId
      teamId
      before
      after
    }
  }
}
    `) as unknown as TypedDocumentString<AuditLogQuery, AuditLogQueryVariables>;
export const SpendUpdatesDocument = new TypedDocumentString(`
    subscription SpendUpdates {
  spendUpdates {
    droppedUpdates
    row {
      modelGroup
      costUsd
      user {
        userId
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SpendUpdatesSubscription, SpendUpdatesSubscriptionVariables>;
export const BudgetAlertsDocument = new TypedDocumentString(`
    subscription BudgetAlerts {
  budgetAlerts {
    kind
    scope
    ownerId
    message
    keyHash
    droppedUpdates
  }
}
    `) as unknown as TypedDocumentString<BudgetAlertsSubscription, BudgetAlertsSubscriptionVariables>;
export const OwnersOfATeamDocument = new TypedDocumentString(`
    query OwnersOfATeam($id: ID!) {
  node(id: $id) {
    ... on Team {
      teamId
      alias
      blocked
      models
      limits {
        maxBudgetUsd
        rpmLimit
      }
      organization {
        organizationId
        alias
        budget {
          limits {
            maxBudgetUsd
          }
        }
        members {
          role
          userId
        }
        teams {
          nodes {
            teamId
          }
        }
        totalSpendUsd
      }
      members {
        role
        user {
          userId
          email
          teams {
            team {
              teamId
            }
          }
        }
      }
      projects {
        projectId
        team {
          teamId
        }
      }
      keys(first: 1) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          alias
          team {
            teamId
          }
          user {
            userId
          }
          totalSpendUsd
        }
      }
      totalSpendUsd
      spendRows(first: 2) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          costUsd
          tags
          endUser
          customer {
            customerId
            totalSpendUsd
          }
          key {
            alias
          }
          team {
            teamId
          }
          user {
            userId
          }
          trace {
            traceId
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<OwnersOfATeamQuery, OwnersOfATeamQueryVariables>;
export const OwnerListsDocument = new TypedDocumentString(`
    query OwnerLists($first: Int, $after: String) {
  teams(first: $first, after: $after) {
    totalCount
    pageInfo {
      hasNextPage
      hasPreviousPage
      endCursor
    }
    nodes {
      id
      teamId
    }
  }
  organizations {
    nodes {
      organizationId
    }
  }
  projects {
    nodes {
      projectId
    }
  }
}
    `) as unknown as TypedDocumentString<OwnerListsQuery, OwnerListsQueryVariables>;
export const AdminListsDocument = new TypedDocumentString(`
    query AdminLists {
  users {
    totalCount
    nodes {
      userId
    }
  }
  customers {
    nodes {
      customerId
    }
  }
  budgets {
    nodes {
      budgetId
    }
  }
}
    `) as unknown as TypedDocumentString<AdminListsQuery, AdminListsQueryVariables>;
export const SpendDocument = new TypedDocumentString(`
    query Spend($groupBy: [SpendField!], $bucket: SpendBucket, $filter: SpendFilter) {
  spend(groupBy: $groupBy, bucket: $bucket, filter: $filter) {
    isCapped
    groups {
      start
      key
      teamId
      userId
      model
      tag
      endpoint
      endUser
      calls
      failures
      inputTokens
      costUsd
    }
  }
}
    `) as unknown as TypedDocumentString<SpendQuery, SpendQueryVariables>;
export const SpendRowsDocument = new TypedDocumentString(`
    query SpendRows($filter: SpendFilter, $first: Int, $after: String) {
  spendRows(filter: $filter, first: $first, after: $after) {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      callId
      costUsd
    }
  }
}
    `) as unknown as TypedDocumentString<SpendRowsQuery, SpendRowsQueryVariables>;
export const AnnotatedTracesDocument = new TypedDocumentString(`
    query AnnotatedTraces($filter: TraceFilter, $from: DateTime, $first: Int, $after: String, $orderBy: TraceOrder) {
  traces(
    filter: $filter
    from: $from
    first: $first
    after: $after
    orderBy: $orderBy
  ) {
    totalCount
    nodes {
      name
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<AnnotatedTracesQuery, AnnotatedTracesQueryVariables>;
export const AnnotatedSessionsDocument = new TypedDocumentString(`
    query AnnotatedSessions($filter: TraceFilter, $from: DateTime) {
  sessions(filter: $filter, from: $from) {
    totalCount
    nodes {
      sessionId
      traces {
        nodes {
          name
        }
      }
    }
  }
  agents(filter: $filter, from: $from) {
    name
    traceCount
  }
  traceSeries(filter: $filter, from: $from, buckets: 1) {
    traceCount
  }
}
    `) as unknown as TypedDocumentString<AnnotatedSessionsQuery, AnnotatedSessionsQueryVariables>;
export const AnnotatedSpansDocument = new TypedDocumentString(`
    query AnnotatedSpans($filter: AnnotationFilter) {
  annotations(filter: $filter) {
    totalCount
    nodes {
      span {
        spanId
        name
        annotations {
          name
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<AnnotatedSpansQuery, AnnotatedSpansQueryVariables>;
export const AnnotateTraceDocument = new TypedDocumentString(`
    mutation AnnotateTrace($input: AnnotateTraceInput!) {
  annotateTrace(input: $input) {
    __typename
    ... on Annotation {
      id
      name
      annotatorKind
      label
      score
      note
      author
      traceId
      spanId
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<AnnotateTraceMutation, AnnotateTraceMutationVariables>;
export const DeleteAnnotationDocument = new TypedDocumentString(`
    mutation DeleteAnnotation($input: DeleteAnnotationInput!) {
  deleteAnnotation(input: $input) {
    __typename
    ... on Annotation {
      id
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<DeleteAnnotationMutation, DeleteAnnotationMutationVariables>;
export const AnnotationsDocument = new TypedDocumentString(`
    query Annotations($filter: AnnotationFilter, $orderBy: AnnotationOrder, $first: Int, $after: String) {
  annotations(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    totalCount
    nodes {
      name
      label
      score
      trace {
        traceId
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<AnnotationsQuery, AnnotationsQueryVariables>;
export const TraceAnnotationsDocument = new TypedDocumentString(`
    query TraceAnnotations($id: ID!) {
  trace(id: $id) {
    annotations {
      name
      spanId
      label
      note
    }
    spans(first: 5) {
      nodes {
        spanId
        annotations {
          name
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TraceAnnotationsQuery, TraceAnnotationsQueryVariables>;
export const AnnotationNodeDocument = new TypedDocumentString(`
    query AnnotationNode($id: ID!) {
  node(id: $id) {
    __typename
    ... on Annotation {
      name
    }
  }
}
    `) as unknown as TypedDocumentString<AnnotationNodeQuery, AnnotationNodeQueryVariables>;
export const SessionsDocument = new TypedDocumentString(`
    query Sessions($first: Int, $after: String, $filter: TraceFilter, $tracesFirst: Int, $tracesAfter: String) {
  sessions(
    from: "2001-01-01T00:00:00Z"
    to: "2100-01-01T00:00:00Z"
    first: $first
    after: $after
    filter: $filter
  ) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      sessionId
      userId
      traceCount
      failedTraceCount
      llmCalls
      inputTokens
      outputTokens
      costUsd
      estimatedCostUsd
      firstSeenAt
      lastSeenAt
      durationMs
      traces(first: $tracesFirst, after: $tracesAfter) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          traceId
          sessionId
          userId
          tags
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SessionsQuery, SessionsQueryVariables>;
export const SpanPageDocument = new TypedDocumentString(`
    query SpanPage($id: ID!, $traceRef: ID, $first: Int, $after: String) {
  trace(id: $id, traceRef: $traceRef) {
    spans(first: $first, after: $after) {
      totalCount
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
}
    `) as unknown as TypedDocumentString<SpanPageQuery, SpanPageQueryVariables>;
export const SpanTreeDocument = new TypedDocumentString(`
    query SpanTree($id: ID!, $first: Int, $after: String, $children: Int) {
  trace(id: $id) {
    spans(first: $first, after: $after) {
      nodes {
        id
        spanId
        parent {
          spanId
        }
        children(first: $children) {
          totalCount
          nodes {
            spanId
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<SpanTreeQuery, SpanTreeQueryVariables>;
export const SpanUpdatesDocument = new TypedDocumentString(`
    subscription SpanUpdates($traceId: ID!, $after: String) {
  spanUpdates(traceId: $traceId, after: $after) {
    cursor
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
    query Span($traceId: ID!, $spanId: ID!, $traceRef: ID) {
  span(traceId: $traceId, spanId: $spanId, traceRef: $traceRef) {
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
    traceCount
    failedTraceCount
    lastTraceAt
    frameworks
  }
}
    `) as unknown as TypedDocumentString<TraceAgentsQuery, TraceAgentsQueryVariables>;
export const TraceCountDocument = new TypedDocumentString(`
    query TraceCount($from: DateTime, $to: DateTime, $first: Int, $after: String, $filter: TraceFilter) {
  traces(from: $from, to: $to, first: $first, after: $after, filter: $filter) {
    totalCount
    nodes {
      traceId
    }
    pageInfo {
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<TraceCountQuery, TraceCountQueryVariables>;
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
    teamId
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    entryId
  }
  spendRows {
    gatewayCallId
  }
  agents {
    name
    inputTokens
    outputTokens
    costUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    nodes {
      ...SpanEdges
    }
  }
}
fragment SpanEdges on Span {
  spanId
  catalogEntry {
    entryId
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      gatewayCallId
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
    teamId
    traces(first: 1, from: "2023-11-14T00:00:00Z", to: "2023-11-15T00:00:00Z") {
      nodes {
        traceId
      }
    }
  }
  catalogEntries {
    entryId
  }
  spendRows {
    gatewayCallId
  }
  agents {
    name
    inputTokens
    outputTokens
    costUsd
    pricedCalls
    estimatedCalls
  }
  spans {
    nodes {
      ...SpanEdges
    }
  }
}
fragment SpanEdges on Span {
  spanId
  catalogEntry {
    entryId
  }
  spendMatch {
    match
    costUsd
    costSource
    spendRow {
      gatewayCallId
    }
  }
}`) as unknown as TypedDocumentString<OneTraceEdgesQuery, OneTraceEdgesQueryVariables>;
export const DeleteTraceDocument = new TypedDocumentString(`
    mutation DeleteTrace($input: DeleteTraceInput!) {
  deleteTrace(input: $input) {
    __typename
    ... on DeletedTrace {
      traceId
      traceCount
    }
    ... on UserError {
      code
      message
    }
  }
}
    `) as unknown as TypedDocumentString<DeleteTraceMutation, DeleteTraceMutationVariables>;
export const RedactTraceDocument = new TypedDocumentString(`
    mutation RedactTrace($input: RedactTraceInput!) {
  redactTrace(input: $input) {
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
          nodes {
            spanId
            inputPreview
            error
          }
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
    traceCount
    failedTraceCount
    spanCount
    llmCalls
    inputTokens
    outputTokens
    costUsd
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
    droppedUpdates
    trace {
      traceId
      spanCount
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesSubscription, TraceUpdatesSubscriptionVariables>;
export const TraceUpdatesAfterDocument = new TypedDocumentString(`
    subscription TraceUpdatesAfter($after: String!) {
  traceUpdates(after: $after) {
    cursor
    trace {
      traceId
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesAfterSubscription, TraceUpdatesAfterSubscriptionVariables>;
export const TraceUpdateIdsDocument = new TypedDocumentString(`
    subscription TraceUpdateIds {
  traceUpdates {
    cursor
  }
}
    `) as unknown as TypedDocumentString<TraceUpdateIdsSubscription, TraceUpdateIdsSubscriptionVariables>;
export const TraceUpdatesWithSpansDocument = new TypedDocumentString(`
    subscription TraceUpdatesWithSpans {
  traceUpdates {
    trace {
      traceId
      spans {
        nodes {
          spanId
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesWithSpansSubscription, TraceUpdatesWithSpansSubscriptionVariables>;
export const TraceNamesDocument = new TypedDocumentString(`
    subscription TraceNames {
  traceUpdates {
    droppedUpdates
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
        nodes {
          spanId
          spendRow {
            costUsd
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TraceUpdatesWithSpendSubscription, TraceUpdatesWithSpendSubscriptionVariables>;
export const TraceDocument = new TypedDocumentString(`
    query Trace($id: ID!, $traceRef: ID) {
  trace(id: $id, traceRef: $traceRef) {
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
    costUsd
    pricedCalls
    estimatedCostUsd
    estimatedCalls
    frameworks
    source {
      type
      url
      title
      user
    }
    spans {
      nodes {
        ...SpanFacts
      }
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
    fragment SpanFacts on Span {
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
  responseId
  costUsd
  estimatedCostUsd
}`) as unknown as TypedDocumentString<TraceQuery, TraceQueryVariables>;
export const TracesWithSpansDocument = new TypedDocumentString(`
    query TracesWithSpans {
  traces(first: 50) {
    nodes {
      traceId
      spans(first: 20) {
        nodes {
          spanId
          spendRow {
            costUsd
          }
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
      costUsd
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