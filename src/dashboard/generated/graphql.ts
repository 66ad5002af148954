/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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

/** Kind of the author of an annotation. */
export type AnnotatorKind =
  /** A program. */
  | 'CODE'
  /** A person. */
  | 'HUMAN'
  /** A model. */
  | 'LLM';

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

/** Result of a gateway call. */
export type SpendStatus =
  /** Not answered, or not completely. */
  | 'FAILURE'
  /** Answered completely. */
  | 'SUCCESS';

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

/** Filter of virtual keys. All conditions must match; blank text is ignored. */
export type VirtualKeyFilter = {
  /** Exact alias. */
  alias?: string | null | undefined;
  /** Whether the key is blocked. */
  blocked?: boolean | null | undefined;
  /** Team: global id or local id. */
  teamId?: string | number | null | undefined;
  /** User: global id or local id. */
  userId?: string | number | null | undefined;
};

export type DecisionsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type DecisionsQuery = { decisions: { nodes: Array<{ id: string, callId: string, createdAt: string | null, modelGroup: string, costUsd: string | null, traceId: string, answers: Array<
        | { kind: 'BoxAnswer' }
        | { name: string | null, choice: string, confidence: number, calibrated: boolean, kind: 'ChoiceAnswer' }
        | { name: string | null, probability: number, calibrated: boolean, kind: 'PredicateAnswer' }
        | { kind: 'RefusedAnswer' }
        | { name: string | null, score: number, confidence: number, calibrated: boolean, kind: 'ScoreAnswer' }
      > }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type KeyLineFragment = { id: string, hash: string, name: string, alias: string | null, blocked: boolean, role: Role, models: Array<string>, spendUsd: string | null, maxBudgetUsd: string | null, budgetDuration: string | null, expiresAt: string | null, team: { teamId: string, alias: string | null } | null };

export type KeysQueryVariables = Exact<{
  filter?: VirtualKeyFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type KeysQuery = { virtualKeys: { nodes: Array<KeyLineFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type GenerateKeyMutationVariables = Exact<{
  input: GenerateKeyInput;
}>;


export type GenerateKeyMutation = { generateKey:
    | { message: string, kind: 'ConflictError' }
    | { key: string, kind: 'GeneratedKey' }
    | { message: string, kind: 'InvalidInputError' }
   };

export type BlockKeyMutationVariables = Exact<{
  key: string | number;
}>;


export type BlockKeyMutation = { blockKey:
    | { message: string, kind: 'InvalidInputError' }
    | { message: string, kind: 'NotFoundError' }
    | { kind: 'VirtualKey' }
   };

export type UnblockKeyMutationVariables = Exact<{
  key: string | number;
}>;


export type UnblockKeyMutation = { unblockKey:
    | { message: string, kind: 'InvalidInputError' }
    | { message: string, kind: 'NotFoundError' }
    | { kind: 'VirtualKey' }
   };

export type DeleteKeyMutationVariables = Exact<{
  key: string | number;
}>;


export type DeleteKeyMutation = { deleteKeys:
    | { kind: 'DeletedKeys' }
    | { message: string, kind: 'InvalidInputError' }
    | { message: string, kind: 'NotFoundError' }
   };

export type LensesQueryVariables = Exact<{ [key: string]: never; }>;


export type LensesQuery = { lenses: Array<{ id: string, lensId: string, name: string, model: string, spentUsd: string, nextRunAt: string, latestRun: { status: LensRunStatus, stage: string, reviewed: number, costUsd: string, error: string | null } }> };

export type FindingsQueryVariables = Exact<{
  filter?: FindingFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type FindingsQuery = { findings: { nodes: Array<{ id: string, findingId: string, title: string, description: string, priority: FindingPriority, status: FindingStatus, occurrenceCount: number, lastSeen: string, suggestion: string | null, lens: { lensId: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type FindingEvidenceQueryVariables = Exact<{
  id: string | number;
}>;


export type FindingEvidenceQuery = { node:
    | { evidence: Array<{ quote: string, role: EvidenceRole, spanId: string, traceId: string | null, trace: { name: string | null, traceRef: string | null } | null }> }
    | Record<PropertyKey, never>
   | null };

export type CallableModelsQueryVariables = Exact<{ [key: string]: never; }>;


export type CallableModelsQuery = { callableModels: Array<{ id: string, name: string, health: { state: HealthState, calls: number, failures: number, latencyMs: number | null }, deployments: Array<{ id: string, provider: string, upstreamModel: string, fault: string | null, warning: string | null }>, catalogEntry: { entryId: string, mode: string | null, maxInputTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null } | null }> };

export type CatalogEntriesQueryVariables = Exact<{
  filter?: CatalogEntryFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type CatalogEntriesQuery = { catalogEntries: { totalCount: number, nodes: Array<{ id: string, entryId: string, provider: string | null, mode: string | null, maxInputTokens: number | null, inputCostPerToken: string | null, outputCostPerToken: string | null, deprecationDate: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OverviewQueryVariables = Exact<{
  from: string;
}>;


export type OverviewQuery = { days: { groups: Array<{ start: string | null, calls: number | string, failures: number | string, costUsd: string, inputTokens: number | string, outputTokens: number | string }> } | null, models: { groups: Array<{ modelGroup: string | null, calls: number | string, failures: number | string, costUsd: string }> } | null, endpoints: { groups: Array<{ endpoint: string | null, calls: number | string, failures: number | string }> } | null };

export type GatewayQueryVariables = Exact<{
  startDate: string;
}>;


export type GatewayQuery = { gatewayActivity: { byRoute: Array<{ route: string | null, succeeded: number | string, failed: number | string }> } | null };

export type CallFragment = { id: string, startedAt: string, endedAt: string, modelGroup: string, provider: string, status: SpendStatus, costUsd: string | null, errorMessage: string | null, traceId: string };

export type RecentCallsQueryVariables = Exact<{ [key: string]: never; }>;


export type RecentCallsQuery = { spendRows: { nodes: Array<CallFragment> } | null };

export type LiveCallsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type LiveCallsSubscription = { spendUpdates: { droppedUpdates: number, row: CallFragment } };

export type TeamsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type TeamsQuery = { teams: { nodes: Array<{ id: string, teamId: string, alias: string | null, blocked: boolean | null, models: Array<string> | null, spendUsd: string | null, limits: { maxBudgetUsd: string | null, budgetDuration: string | null, budgetResetAt: string | null, rpmLimit: number | null, tpmLimit: number | null } | null, members: Array<{ userId: string }> | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type TraceLineFragment = { id: string, traceId: string, traceRef: string | null, name: string | null, status: SpanStatus, startedAt: string, durationMs: number, spanCount: number, errorCount: number, inputTokens: number | string, outputTokens: number | string, costUsd: string | null, models: Array<string>, inputPreview: string | null };

export type TracesQueryVariables = Exact<{
  filter?: TraceFilter | null | undefined;
  from?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type TracesQuery = { traces: { nodes: Array<TraceLineFragment>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type LiveTracesSubscriptionVariables = Exact<{
  filter?: TraceFilter | null | undefined;
}>;


export type LiveTracesSubscription = { traceUpdates: { droppedUpdates: number, trace: TraceLineFragment } };

export type TraceSpansQueryVariables = Exact<{
  traceId: string | number;
  traceRef?: string | number | null | undefined;
  after?: string | null | undefined;
}>;


export type TraceSpansQuery = { trace: (
    { spans: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ spanId: string, parentSpanId: string | null, name: string, type: SpanType, status: SpanStatus, startNs: number | string, durationMs: number, model: string | null, costUsd: string | null, inputTokens: number, outputTokens: number }> } | null }
    & TraceLineFragment
  ) | null };

export type SpanDetailQueryVariables = Exact<{
  traceId: string | number;
  spanId: string | number;
  traceRef?: string | number | null | undefined;
}>;


export type SpanDetailQuery = { span: { spanId: string, name: string, type: SpanType, status: SpanStatus, error: string | null, startedAt: string, durationMs: number, model: string | null, provider: string | null, input: string | null, output: string | null, attributes: unknown } | null };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { role: Role, userId: string | null, keyHash: string, team: { teamId: string, alias: string | null } | null } | null };

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
export const KeyLineFragmentDoc = new TypedDocumentString(`
    fragment KeyLine on VirtualKey {
  id
  hash
  name
  alias
  blocked
  role
  models
  spendUsd
  maxBudgetUsd
  budgetDuration
  expiresAt
  team {
    teamId
    alias
  }
}
    `, {"fragmentName":"KeyLine"}) as unknown as TypedDocumentString<KeyLineFragment, unknown>;
export const CallFragmentDoc = new TypedDocumentString(`
    fragment Call on SpendRow {
  id
  startedAt
  endedAt
  modelGroup
  provider
  status
  costUsd
  errorMessage
  traceId
}
    `, {"fragmentName":"Call"}) as unknown as TypedDocumentString<CallFragment, unknown>;
export const TraceLineFragmentDoc = new TypedDocumentString(`
    fragment TraceLine on Trace {
  id
  traceId
  traceRef
  name
  status
  startedAt
  durationMs
  spanCount
  errorCount
  inputTokens
  outputTokens
  costUsd
  models
  inputPreview
}
    `, {"fragmentName":"TraceLine"}) as unknown as TypedDocumentString<TraceLineFragment, unknown>;
export const DecisionsDocument = new TypedDocumentString(`
    query Decisions($after: String) {
  decisions(first: 50, after: $after) {
    nodes {
      id
      callId
      createdAt
      modelGroup
      costUsd
      traceId
      answers {
        kind: __typename
        ... on PredicateAnswer {
          name
          probability
          calibrated
        }
        ... on ChoiceAnswer {
          name
          choice
          confidence
          calibrated
        }
        ... on ScoreAnswer {
          name
          score
          confidence
          calibrated
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<DecisionsQuery, DecisionsQueryVariables>;
export const KeysDocument = new TypedDocumentString(`
    query Keys($filter: VirtualKeyFilter, $after: String) {
  virtualKeys(first: 50, filter: $filter, after: $after) {
    nodes {
      ...KeyLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment KeyLine on VirtualKey {
  id
  hash
  name
  alias
  blocked
  role
  models
  spendUsd
  maxBudgetUsd
  budgetDuration
  expiresAt
  team {
    teamId
    alias
  }
}`) as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const GenerateKeyDocument = new TypedDocumentString(`
    mutation GenerateKey($input: GenerateKeyInput!) {
  generateKey(input: $input) {
    kind: __typename
    ... on GeneratedKey {
      key
    }
    ... on UserError {
      message
    }
  }
}
    `) as unknown as TypedDocumentString<GenerateKeyMutation, GenerateKeyMutationVariables>;
export const BlockKeyDocument = new TypedDocumentString(`
    mutation BlockKey($key: ID!) {
  blockKey(input: { key: $key }) {
    kind: __typename
    ... on UserError {
      message
    }
  }
}
    `) as unknown as TypedDocumentString<BlockKeyMutation, BlockKeyMutationVariables>;
export const UnblockKeyDocument = new TypedDocumentString(`
    mutation UnblockKey($key: ID!) {
  unblockKey(input: { key: $key }) {
    kind: __typename
    ... on UserError {
      message
    }
  }
}
    `) as unknown as TypedDocumentString<UnblockKeyMutation, UnblockKeyMutationVariables>;
export const DeleteKeyDocument = new TypedDocumentString(`
    mutation DeleteKey($key: ID!) {
  deleteKeys(input: { keys: [$key] }) {
    kind: __typename
    ... on UserError {
      message
    }
  }
}
    `) as unknown as TypedDocumentString<DeleteKeyMutation, DeleteKeyMutationVariables>;
export const LensesDocument = new TypedDocumentString(`
    query Lenses {
  lenses {
    id
    lensId
    name
    model
    spentUsd
    nextRunAt
    latestRun {
      status
      stage
      reviewed
      costUsd
      error
    }
  }
}
    `) as unknown as TypedDocumentString<LensesQuery, LensesQueryVariables>;
export const FindingsDocument = new TypedDocumentString(`
    query Findings($filter: FindingFilter, $after: String) {
  findings(first: 50, filter: $filter, after: $after) {
    nodes {
      id
      findingId
      title
      description
      priority
      status
      occurrenceCount
      lastSeen
      suggestion
      lens {
        lensId
        name
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<FindingsQuery, FindingsQueryVariables>;
export const FindingEvidenceDocument = new TypedDocumentString(`
    query FindingEvidence($id: ID!) {
  node(id: $id) {
    ... on Finding {
      evidence {
        quote
        role
        spanId
        traceId
        trace {
          name
          traceRef
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FindingEvidenceQuery, FindingEvidenceQueryVariables>;
export const CallableModelsDocument = new TypedDocumentString(`
    query CallableModels {
  callableModels {
    id
    name
    health {
      state
      calls
      failures
      latencyMs
    }
    deployments {
      id
      provider
      upstreamModel
      fault
      warning
    }
    catalogEntry {
      entryId
      mode
      maxInputTokens
      inputCostPerToken
      outputCostPerToken
    }
  }
}
    `) as unknown as TypedDocumentString<CallableModelsQuery, CallableModelsQueryVariables>;
export const CatalogEntriesDocument = new TypedDocumentString(`
    query CatalogEntries($filter: CatalogEntryFilter, $after: String) {
  catalogEntries(first: 50, filter: $filter, after: $after) {
    totalCount
    nodes {
      id
      entryId
      provider
      mode
      maxInputTokens
      inputCostPerToken
      outputCostPerToken
      deprecationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<CatalogEntriesQuery, CatalogEntriesQueryVariables>;
export const OverviewDocument = new TypedDocumentString(`
    query Overview($from: DateTime!) {
  days: spend(bucket: DAY, filter: { from: $from }) {
    groups {
      start
      calls
      failures
      costUsd
      inputTokens
      outputTokens
    }
  }
  models: spend(groupBy: [MODEL_GROUP], filter: { from: $from }) {
    groups {
      modelGroup
      calls
      failures
      costUsd
    }
  }
  endpoints: spend(groupBy: [ENDPOINT], filter: { from: $from }) {
    groups {
      endpoint
      calls
      failures
    }
  }
}
    `) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const GatewayDocument = new TypedDocumentString(`
    query Gateway($startDate: String!) {
  gatewayActivity(startDate: $startDate) {
    byRoute {
      route
      succeeded
      failed
    }
  }
}
    `) as unknown as TypedDocumentString<GatewayQuery, GatewayQueryVariables>;
export const RecentCallsDocument = new TypedDocumentString(`
    query RecentCalls {
  spendRows(first: 20) {
    nodes {
      ...Call
    }
  }
}
    fragment Call on SpendRow {
  id
  startedAt
  endedAt
  modelGroup
  provider
  status
  costUsd
  errorMessage
  traceId
}`) as unknown as TypedDocumentString<RecentCallsQuery, RecentCallsQueryVariables>;
export const LiveCallsDocument = new TypedDocumentString(`
    subscription LiveCalls {
  spendUpdates {
    droppedUpdates
    row {
      ...Call
    }
  }
}
    fragment Call on SpendRow {
  id
  startedAt
  endedAt
  modelGroup
  provider
  status
  costUsd
  errorMessage
  traceId
}`) as unknown as TypedDocumentString<LiveCallsSubscription, LiveCallsSubscriptionVariables>;
export const TeamsDocument = new TypedDocumentString(`
    query Teams($after: String) {
  teams(first: 50, after: $after) {
    nodes {
      id
      teamId
      alias
      blocked
      models
      spendUsd
      limits {
        maxBudgetUsd
        budgetDuration
        budgetResetAt
        rpmLimit
        tpmLimit
      }
      members {
        userId
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    `) as unknown as TypedDocumentString<TeamsQuery, TeamsQueryVariables>;
export const TracesDocument = new TypedDocumentString(`
    query Traces($filter: TraceFilter, $from: DateTime, $after: String) {
  traces(first: 50, filter: $filter, from: $from, after: $after) {
    nodes {
      ...TraceLine
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment TraceLine on Trace {
  id
  traceId
  traceRef
  name
  status
  startedAt
  durationMs
  spanCount
  errorCount
  inputTokens
  outputTokens
  costUsd
  models
  inputPreview
}`) as unknown as TypedDocumentString<TracesQuery, TracesQueryVariables>;
export const LiveTracesDocument = new TypedDocumentString(`
    subscription LiveTraces($filter: TraceFilter) {
  traceUpdates(filter: $filter) {
    droppedUpdates
    trace {
      ...TraceLine
    }
  }
}
    fragment TraceLine on Trace {
  id
  traceId
  traceRef
  name
  status
  startedAt
  durationMs
  spanCount
  errorCount
  inputTokens
  outputTokens
  costUsd
  models
  inputPreview
}`) as unknown as TypedDocumentString<LiveTracesSubscription, LiveTracesSubscriptionVariables>;
export const TraceSpansDocument = new TypedDocumentString(`
    query TraceSpans($traceId: ID!, $traceRef: ID, $after: String) {
  trace(id: $traceId, traceRef: $traceRef) {
    ...TraceLine
    spans(first: 500, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        spanId
        parentSpanId
        name
        type
        status
        startNs
        durationMs
        model
        costUsd
        inputTokens
        outputTokens
      }
    }
  }
}
    fragment TraceLine on Trace {
  id
  traceId
  traceRef
  name
  status
  startedAt
  durationMs
  spanCount
  errorCount
  inputTokens
  outputTokens
  costUsd
  models
  inputPreview
}`) as unknown as TypedDocumentString<TraceSpansQuery, TraceSpansQueryVariables>;
export const SpanDetailDocument = new TypedDocumentString(`
    query SpanDetail($traceId: ID!, $spanId: ID!, $traceRef: ID) {
  span(traceId: $traceId, spanId: $spanId, traceRef: $traceRef) {
    spanId
    name
    type
    status
    error
    startedAt
    durationMs
    model
    provider
    input
    output
    attributes
  }
}
    `) as unknown as TypedDocumentString<SpanDetailQuery, SpanDetailQueryVariables>;
export const ViewerDocument = new TypedDocumentString(`
    query Viewer {
  viewer {
    role
    userId
    keyHash
    team {
      teamId
      alias
    }
  }
}
    `) as unknown as TypedDocumentString<ViewerQuery, ViewerQueryVariables>;