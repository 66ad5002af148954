/** What every endpoint of the table promises, played with a request and an answer of each. */
export const ROWS = [
  {
    name: 'completions.create',
    path: '/completions',
    asked: { prompt: 'Once upon' },
    field: 'prompt',
    noAnswer: 'completion',
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
    name: 'embeddings.create',
    path: '/embeddings',
    asked: { input: ['Once upon', 'a time'] },
    field: 'input',
    noAnswer: 'list of embeddings',
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
] as const;
