/** One way to ask a model that OpenAI's clients know. Everything that sets it apart from the others, as data. */
export interface Endpoint {
  /** Its path without a version, here and under an upstream's base address; names the call in errors. */
  readonly path: `/${string}`;
  /** Member of a request that holds what is asked, and what it must be; completes "must be". */
  readonly asks: { readonly member: 'messages' | 'prompt' | 'input' | 'query'; readonly form: string };
  /** Further members without which a request asks nothing. */
  readonly needs: readonly string[];
  /** Member of a whole answer, an array, without which it is none, and what such an answer is; completes "it is no". */
  readonly answers: { readonly member: 'choices' | 'data' | 'results'; readonly form: string };
  /** Whether an answer can come as a stream; `stream` of a request means nothing elsewhere. */
  readonly streams: boolean;
  /** Name of the operation, the GenAI conventions' own where they have one: begins the name of the span. */
  readonly operation: 'chat' | 'text_completion' | 'embeddings' | 'moderation' | 'rerank';
  /** What the call is in a spend row, in the words of the reference. */
  readonly callType: string;
}

/** Messages in, a message out. */
export const CHAT_COMPLETIONS: Endpoint = {
  path: '/chat/completions',
  asks: { member: 'messages', form: 'an array of messages' },
  needs: [],
  answers: { member: 'choices', form: 'chat completion' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Text in, the text that follows out. */
export const COMPLETIONS: Endpoint = {
  path: '/completions',
  asks: { member: 'prompt', form: 'a string or an array' },
  needs: [],
  answers: { member: 'choices', form: 'completion' },
  streams: true,
  operation: 'text_completion',
  callType: 'atext_completion',
};

/** Texts in, a vector for each out. */
export const EMBEDDINGS: Endpoint = {
  path: '/embeddings',
  asks: { member: 'input', form: 'a string or an array' },
  needs: [],
  answers: { member: 'data', form: 'list of embeddings' },
  streams: false,
  operation: 'embeddings',
  callType: 'aembedding',
};

/** Texts in, out whether each is one that should not be shown. */
export const MODERATIONS: Endpoint = {
  path: '/moderations',
  asks: { member: 'input', form: 'a string or an array' },
  needs: [],
  answers: { member: 'results', form: 'moderation' },
  streams: false,
  operation: 'moderation',
  callType: 'amoderation',
};

/** A question and documents in, their order out. Not OpenAI's: the form that Cohere gave it and many took over. */
export const RERANK: Endpoint = {
  path: '/rerank',
  asks: { member: 'query', form: 'a string' },
  needs: ['documents'],
  answers: { member: 'results', form: 'order of documents' },
  streams: false,
  operation: 'rerank',
  callType: 'arerank',
};
