/** One way to ask a model that OpenAI's clients know. Everything that sets it apart from the others, as data. */
export interface Endpoint {
  /** Its path without a version, here and under an upstream's base address; names the call in errors. */
  readonly path: `/${string}`;
  /** Member of a request that holds what is asked, and what it must be; completes "must be". */
  readonly asks: { readonly member: 'messages' | 'prompt' | 'input'; readonly form: string };
  /** Member of a whole answer, an array, without which it is none, and what such an answer is; completes "it is no". */
  readonly answers: { readonly member: 'choices' | 'data'; readonly form: string };
  /** Whether an answer can come as a stream; `stream` of a request means nothing elsewhere. */
  readonly streams: boolean;
  /** Name of the operation in the GenAI conventions: begins the name of the span. */
  readonly operation: 'chat' | 'text_completion' | 'embeddings';
  /** What the call is in a spend row, in the words of the reference. */
  readonly callType: string;
}

/** Messages in, a message out. */
export const CHAT_COMPLETIONS: Endpoint = {
  path: '/chat/completions',
  asks: { member: 'messages', form: 'an array of messages' },
  answers: { member: 'choices', form: 'chat completion' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Text in, the text that follows out. */
export const COMPLETIONS: Endpoint = {
  path: '/completions',
  asks: { member: 'prompt', form: 'a string or an array' },
  answers: { member: 'choices', form: 'completion' },
  streams: true,
  operation: 'text_completion',
  callType: 'atext_completion',
};

/** Texts in, a vector for each out. */
export const EMBEDDINGS: Endpoint = {
  path: '/embeddings',
  asks: { member: 'input', form: 'a string or an array' },
  answers: { member: 'data', form: 'list of embeddings' },
  streams: false,
  operation: 'embeddings',
  callType: 'aembedding',
};
