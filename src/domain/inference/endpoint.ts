/** The member that makes a JSON object an answer: an array, but for `output`, `message` and `text`. */
export type AnswerMember = 'choices' | 'data' | 'results' | 'text' | 'candidates' | 'content' | 'output' | 'message';

/**
 * The words a conversation is put in on a wire. Callers and upstreams of different dialects are brought together by
 * translation; what is not a conversation (vectors, pictures, sound) has none.
 */
export type Dialect =
  | 'chat-completions'
  | 'completions'
  | 'responses'
  | 'ide'
  | 'messages'
  | 'generate-content'
  | 'converse'
  | 'cohere-chat'
  | 'ollama-chat';

/** One way to ask a model that clients know. Everything that sets it apart from the others, as data. */
export interface Endpoint {
  /** Its path without a version, here and under an upstream's base address; names the call in errors. */
  readonly path: `/${string}`;
  /** Null where it is no conversation: then only an upstream that has the same endpoint can answer it. */
  readonly dialect: Dialect | null;
  /** Member of a request that holds what is asked, and what it must be: one text, texts or tokens, messages, or one text or items. */
  readonly asks: {
    readonly member: 'messages' | 'prompt' | 'input' | 'query' | 'contents' | 'file' | 'image';
    readonly form: 'text' | 'texts' | 'messages' | 'items' | 'file' | 'files';
  };
  /** Further members without which a request asks nothing. */
  readonly needs: readonly string[];
  /** Members of which one at least must be there. */
  readonly needsOneOf?: readonly [string, ...string[]];
  /** How a request is written; in JSON when absent. */
  readonly written?: 'form' | 'form or json';
  /** What its answers are made of, where that is neither words nor numbers: they are read otherwise. */
  readonly medium?: 'image' | 'transcript';
  /**
   * Member of a whole answer without which it is none; null where an answer is not JSON, and nobody reads it.
   * And what such an answer is; completes "it is no".
   */
  readonly answers: { readonly member: AnswerMember | null; readonly form: string };
  /** Whether an answer can come as a stream; `stream` of a request means nothing elsewhere. */
  readonly streams: boolean;
  /** Name of the operation, the GenAI conventions' own where they have one: begins the name of the span. */
  readonly operation: 'chat' | 'text_completion' | 'embeddings' | 'moderation' | 'rerank' | 'generate_content';
  /** What it gives in the words of those conventions, where the operation does not say it. */
  readonly outputs?: 'speech' | 'image' | 'text';
  /** What its request is billed by, where its answer tells nothing of it. */
  readonly billedBy?: 'character';
  /** What the call is in a spend row, in the words of the reference. */
  readonly callType: string;
}

/** Messages in, a message out. */
export const CHAT_COMPLETIONS: Endpoint = {
  path: '/chat/completions',
  dialect: 'chat-completions',
  asks: { member: 'messages', form: 'messages' },
  needs: [],
  answers: { member: 'choices', form: 'chat completion' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Text in, the text that follows out. */
export const COMPLETIONS: Endpoint = {
  path: '/completions',
  dialect: 'completions',
  asks: { member: 'prompt', form: 'texts' },
  needs: [],
  answers: { member: 'choices', form: 'completion' },
  streams: true,
  operation: 'text_completion',
  callType: 'atext_completion',
};

/** Messages in, a message out, as Anthropic has it. */
export const MESSAGES: Endpoint = {
  path: '/messages',
  dialect: 'messages',
  asks: { member: 'messages', form: 'messages' },
  needs: ['max_tokens'],
  answers: { member: 'content', form: 'message' },
  streams: true,
  operation: 'chat',
  callType: 'anthropic_messages',
};

/** Items in, items out; who asks may come back to an answer by its id. */
export const RESPONSES: Endpoint = {
  path: '/responses',
  dialect: 'responses',
  asks: { member: 'input', form: 'items' },
  needs: [],
  answers: { member: 'output', form: 'response' },
  streams: true,
  operation: 'chat',
  callType: 'aresponses',
};

/** A long conversation in, one that says the same in less out. No translation: only who wrote it can read what comes out. */
export const RESPONSES_COMPACT: Endpoint = {
  path: '/responses/compact',
  dialect: null,
  asks: { member: 'input', form: 'items' },
  needs: [],
  answers: { member: 'output', form: 'compaction' },
  streams: false,
  operation: 'generate_content',
  callType: 'acompact_responses',
};

/** A message that is only counted, not answered. */
export const COUNT_TOKENS: Endpoint = {
  ...MESSAGES,
  path: '/messages/count_tokens',
  needs: [],
  answers: { member: null, form: 'count of tokens' },
  streams: false,
};

/** Texts in, a vector for each out. */
export const EMBEDDINGS: Endpoint = {
  path: '/embeddings',
  dialect: null,
  asks: { member: 'input', form: 'texts' },
  needs: [],
  answers: { member: 'data', form: 'list of embeddings' },
  streams: false,
  operation: 'embeddings',
  callType: 'aembedding',
};

/** Texts in, out whether each is one that should not be shown. */
export const MODERATIONS: Endpoint = {
  path: '/moderations',
  dialect: null,
  asks: { member: 'input', form: 'texts' },
  needs: [],
  answers: { member: 'results', form: 'moderation' },
  streams: false,
  operation: 'moderation',
  callType: 'amoderation',
};

/** A question and documents in, their order out. Not OpenAI's: the form that Cohere gave it and many took over. */
export const RERANK: Endpoint = {
  path: '/rerank',
  dialect: null,
  asks: { member: 'query', form: 'text' },
  needs: ['documents'],
  answers: { member: 'results', form: 'order of documents' },
  streams: false,
  operation: 'rerank',
  callType: 'arerank',
};

/** A text in, its sound out. */
export const SPEECH: Endpoint = {
  path: '/audio/speech',
  dialect: null,
  asks: { member: 'input', form: 'text' },
  needs: [],
  answers: { member: null, form: 'speech' },
  streams: false,
  operation: 'generate_content',
  outputs: 'speech',
  billedBy: 'character',
  callType: 'aspeech',
};

/** Google's form of a chat: turns of parts in, candidates out. */
export const GENERATE_CONTENT: Endpoint = {
  path: '/generateContent',
  dialect: 'generate-content',
  asks: { member: 'contents', form: 'messages' },
  needs: [],
  answers: { member: 'candidates', form: 'generated content' },
  streams: true,
  operation: 'generate_content',
  callType: 'agenerate_content',
};

/** The same, only counted, not answered. */
export const COUNT_CONTENT_TOKENS: Endpoint = {
  ...GENERATE_CONTENT,
  path: '/countTokens',
  answers: { member: null, form: 'count of tokens' },
  streams: false,
};

/** Bedrock's form of a chat, one for the models of all makers. */
export const CONVERSE: Endpoint = {
  path: '/converse',
  dialect: 'converse',
  asks: { member: 'messages', form: 'messages' },
  needs: [],
  answers: { member: 'output', form: 'answer of a conversation' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Cohere's form of a chat. */
export const COHERE_CHAT: Endpoint = {
  path: '/v2/chat',
  dialect: 'cohere-chat',
  asks: { member: 'messages', form: 'messages' },
  needs: [],
  answers: { member: 'message', form: 'answer of a chat' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Ollama's form of a chat. */
export const OLLAMA_CHAT: Endpoint = {
  path: '/api/chat',
  dialect: 'ollama-chat',
  asks: { member: 'messages', form: 'messages' },
  needs: [],
  answers: { member: 'message', form: 'answer of a chat' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** What the endpoints of pictures have in common. */
const IMAGES = {
  dialect: null,
  needs: [],
  medium: 'image',
  answers: { member: 'data', form: 'list of pictures' },
  operation: 'generate_content',
  outputs: 'image',
} as const;

/** A text in, pictures out. */
export const IMAGE_GENERATIONS: Endpoint = {
  ...IMAGES,
  path: '/images/generations',
  asks: { member: 'prompt', form: 'text' },
  streams: true,
  callType: 'aimage_generation',
};

/** Pictures and a text in, changed pictures out. */
export const IMAGE_EDITS: Endpoint = {
  ...IMAGES,
  path: '/images/edits',
  asks: { member: 'prompt', form: 'text' },
  needsOneOf: ['image', 'images'],
  written: 'form or json',
  streams: true,
  callType: 'aimage_edit',
};

/** A picture in, others like it out. */
export const IMAGE_VARIATIONS: Endpoint = {
  ...IMAGES,
  path: '/images/variations',
  asks: { member: 'image', form: 'files' },
  written: 'form',
  streams: false,
  callType: 'aimage_variation',
};

/** What the endpoints have in common that write down what is said. */
const TRANSCRIPTS = {
  dialect: null,
  asks: { member: 'file', form: 'file' },
  needs: [],
  written: 'form',
  medium: 'transcript',
  answers: { member: 'text', form: 'transcript' },
  streams: true,
  operation: 'generate_content',
  outputs: 'text',
} as const;

/** A recording in, what is said in it out. */
export const TRANSCRIPTIONS: Endpoint = { ...TRANSCRIPTS, path: '/audio/transcriptions', callType: 'atranscription' };

/** The same, in English. */
export const TRANSLATIONS: Endpoint = {
  ...TRANSCRIPTS,
  path: '/audio/translations',
  streams: false,
  callType: 'atranslation',
};
