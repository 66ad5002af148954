/** Path prefixes with a model name, as Azure clients send them. */
const MODEL_IN_PATH = ['/engines/assistant', '/openai/deployments/assistant'] as const;

/**
 * A request, an upstream answer and the expected records for each of six endpoints. `field` is a required member of
 * the request, and errors describe its type as `fieldType`. `aliases` has further path prefixes. `forwardedFields` has
 * gateway fields that this endpoint forwards. An error about an unusable answer says that it is not `answerKind`.
 *
 * `cost` is the price of the answer: 0.5 for an input token, 0.25 for an output token, 0.125 for a search unit.
 */
export const ENDPOINT_ROWS = [
  {
    name: 'completions.create',
    path: '/completions',
    fields: { prompt: 'Once upon' },
    field: 'prompt',
    fieldType: 'a string or an array',
    aliases: MODEL_IN_PATH,
    answerKind: 'a completion',
    operation: 'text_completion',
    type: 'llm',
    callType: 'atext_completion',
    answer: {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'up-1',
      choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    },
    cost: '1.25',
    usage: { inputTokens: 2, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  {
    name: 'responses.create',
    path: '/responses',
    fields: { input: 'Once upon' },
    field: 'input',
    fieldType: 'a string or an array of items',
    aliases: ['/openai/v1'],
    answerKind: 'a response',
    operation: 'chat',
    type: 'llm',
    callType: 'aresponses',
    // No id: the gateway would replace it.
    answer: {
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'up-1',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: ' a time' }] }],
      usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
    },
    // The provider stores `metadata` with the response, so it is forwarded.
    forwardedFields: { metadata: { a: 1 } },
    cost: '1.25',
    usage: { inputTokens: 2, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  {
    name: 'responses.compact',
    path: '/responses/compact',
    fields: { input: 'Once upon' },
    field: 'input',
    fieldType: 'a string or an array of items',
    aliases: ['/openai/v1'],
    answerKind: 'a compaction',
    operation: 'generate_content',
    type: 'llm',
    callType: 'acompact_responses',
    answer: {
      object: 'response.compaction',
      output: [{ type: 'compaction', encrypted_content: 'x' }],
      usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
    },
    forwardedFields: { metadata: { a: 1 } },
    cost: '1.25',
    usage: { inputTokens: 2, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  {
    name: 'embeddings.create',
    path: '/embeddings',
    fields: { input: ['Once upon', 'a time'] },
    field: 'input',
    fieldType: 'a string or an array',
    aliases: MODEL_IN_PATH,
    answerKind: 'a list of embeddings',
    operation: 'embeddings',
    type: 'embedding',
    callType: 'aembedding',
    answer: {
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.1, -2e-8] },
        { object: 'embedding', index: 1, embedding: [1, 0] },
      ],
      model: 'up-1',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    },
    cost: '2.5',
    usage: { inputTokens: 5, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  {
    name: 'moderations.create',
    path: '/moderations',
    fields: { input: 'Once upon' },
    field: 'input',
    fieldType: 'a string or an array',
    aliases: [],
    answerKind: 'a moderation',
    operation: 'moderation',
    type: 'guardrail',
    callType: 'amoderation',
    answer: {
      id: 'modr-1',
      model: 'up-1',
      results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 2.5e-7 } }],
    },
    cost: null,
    usage: null,
  },
  {
    name: 'rerank.create',
    path: '/rerank',
    fields: { query: 'Once', documents: ['upon', 'a time'] },
    field: 'query',
    fieldType: 'a string',
    aliases: ['/v2'],
    answerKind: 'an order of documents',
    operation: 'rerank',
    type: 'reranker',
    callType: 'arerank',
    answer: {
      id: 'rerank-1',
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
      meta: { api_version: { version: '2' }, billed_units: { search_units: 2 } },
    },
    cost: '0.25',
    usage: null,
  },
] as const;
