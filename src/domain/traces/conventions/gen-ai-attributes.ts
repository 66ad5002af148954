/** Attribute names of the GenAI semantic conventions. */
export const GEN_AI = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  outputType: 'gen_ai.output.type',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  /** Audio tokens, included in the counts above; not part of the conventions. */
  inputAudioTokens: 'gen_ai.usage.input_audio_tokens',
  outputAudioTokens: 'gen_ai.usage.output_audio_tokens',
  agentName: 'gen_ai.agent.name',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  retrievalQuery: 'gen_ai.retrieval.query.text',
  retrievalDocuments: 'gen_ai.retrieval.documents',
  errorType: 'error.type',
  /** Older names that are still sent. */
  promptTokens: 'gen_ai.usage.prompt_tokens',
  completionTokens: 'gen_ai.usage.completion_tokens',
  prompt: 'gen_ai.prompt',
  completion: 'gen_ai.completion',
  eventContent: 'gen_ai.event.content',
} as const;

/** The counts of a call, the current name first. */
export const GEN_AI_INPUT_TOKENS = [GEN_AI.inputTokens, GEN_AI.promptTokens] as const;
export const GEN_AI_OUTPUT_TOKENS = [GEN_AI.outputTokens, GEN_AI.completionTokens] as const;

/** Attribute names of token count parts; the name from the conventions is first. */
export const GEN_AI_TOKEN_PARTS = {
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.cached_tokens',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
} as const;

/** Span type of each operation name. */
export const GEN_AI_OPERATIONS = {
  invoke_agent: 'agent',
  create_agent: 'framework',
  invoke_workflow: 'chain',
  chat: 'llm',
  text_completion: 'llm',
  completion: 'llm',
  generate_content: 'llm',
  execute_tool: 'tool',
  embeddings: 'embedding',
  embedding: 'embedding',
  retrieval: 'retriever',
  /** Further operations that the conventions do not name. */
  rerank: 'reranker',
  moderation: 'guardrail',
  realtime: 'llm',
  decide: 'llm',
} as const;

/** Events with a message: its role, and whether it is input or output. */
export const GEN_AI_EVENTS = {
  'gen_ai.system.message': { role: 'system', side: 'input' },
  'gen_ai.user.message': { role: 'user', side: 'input' },
  'gen_ai.content.prompt': { role: 'user', side: 'input' },
  'gen_ai.assistant.message': { role: 'assistant', side: 'output' },
  'gen_ai.choice': { role: 'assistant', side: 'output' },
  'gen_ai.content.completion': { role: 'assistant', side: 'output' },
  'gen_ai.tool.message': { role: 'tool', side: 'output' },
} as const;
