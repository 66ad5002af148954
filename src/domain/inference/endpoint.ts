/**
 * Required member of an answer. It is an array, with exceptions: `text` is a string. `message`, the `output` of
 * `CONVERSE` and the `answers` of `SYSTEM_ONE` are objects.
 */
export type AnswerMember =
  | 'choices'
  | 'data'
  | 'results'
  | 'text'
  | 'candidates'
  | 'content'
  | 'output'
  | 'message'
  | 'answers'
  | 'pages';

/**
 * Wire format of a conversation. Requests are translated between callers and upstreams of different dialects; endpoints
 * without a conversation (embeddings, images, audio) have none.
 */
export type Dialect =
  | 'chat-completions'
  | 'completions'
  | 'responses'
  | 'messages'
  | 'generate-content'
  | 'converse'
  | 'cohere-chat'
  | 'ollama-chat';

/** One model endpoint of the API. Endpoints differ in these members only. */
export interface Endpoint {
  /** Its path without the version of this API; names the call in errors. Many upstreams have the same path. */
  readonly path: `/${string}`;
  /** Null for an endpoint whose requests are not translated between dialects of conversations. */
  readonly dialect: Dialect | null;
  /** Main member of a request, and its form: see `FORMS` of `request-validation.ts`. */
  readonly input: {
    readonly member: 'messages' | 'prompt' | 'input' | 'query' | 'contents' | 'state' | 'file' | 'image' | 'document';
    readonly form: 'text' | 'texts' | 'messages' | 'items' | 'json' | 'object' | 'file' | 'files';
  };
  /** Further required members. */
  readonly requiredMembers: readonly string[];
  /** Members of which at least one is required. */
  readonly requiresOneOf?: readonly [string, ...string[]];
  /** Encoding of a request; JSON when absent. */
  readonly requestEncoding?: 'form' | 'form or json';
  /** `image`: answers are images. `transcript`: an answer is the transcript of a recording. */
  readonly medium?: 'image' | 'transcript';
  /**
   * Required member of a complete answer; null where an answer is not parsed. `noun` names the answer in errors: it
   * completes "it is not".
   */
  readonly answers: { readonly member: AnswerMember | null; readonly noun: string };
  /** Whether an answer can be streamed. Otherwise the member `stream` of a request is ignored. */
  readonly streams: boolean;
  /** Name of the operation, from the GenAI conventions where they have one. The span name begins with it. */
  readonly operation:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'moderation'
    | 'rerank'
    | 'generate_content'
    | 'decide';
  /** Output type of the GenAI conventions, where the operation does not imply it. */
  readonly outputs?: 'speech' | 'image' | 'text';
  /** Unit by which a request is billed: characters of the request, or pages that the answer reports. */
  readonly billedBy?: 'character' | 'page';
  /** Call type in a spend row, as in the reference service. */
  readonly callType: string;
}

/** Messages in, a message out. */
export const CHAT_COMPLETIONS: Endpoint = {
  path: '/chat/completions',
  dialect: 'chat-completions',
  input: { member: 'messages', form: 'messages' },
  requiredMembers: [],
  answers: { member: 'choices', noun: 'a chat completion' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Text in, its continuation out. */
export const COMPLETIONS: Endpoint = {
  path: '/completions',
  dialect: 'completions',
  input: { member: 'prompt', form: 'texts' },
  requiredMembers: [],
  answers: { member: 'choices', noun: 'a completion' },
  streams: true,
  operation: 'text_completion',
  callType: 'atext_completion',
};

/** Messages in, a message out, in Anthropic's format. */
export const MESSAGES: Endpoint = {
  path: '/messages',
  dialect: 'messages',
  input: { member: 'messages', form: 'messages' },
  requiredMembers: ['max_tokens'],
  answers: { member: 'content', noun: 'a message' },
  streams: true,
  operation: 'chat',
  callType: 'anthropic_messages',
};

/** Items in, items out; a later request can refer to an answer by its id. */
export const RESPONSES: Endpoint = {
  path: '/responses',
  dialect: 'responses',
  input: { member: 'input', form: 'items' },
  requiredMembers: [],
  answers: { member: 'output', noun: 'a response' },
  streams: true,
  operation: 'chat',
  callType: 'aresponses',
};

/**
 * A long conversation in, a compacted one out. Not translated: only the upstream that compacted it can read the result.
 */
export const RESPONSES_COMPACT: Endpoint = {
  path: '/responses/compact',
  dialect: null,
  input: { member: 'input', form: 'items' },
  requiredMembers: [],
  answers: { member: 'output', noun: 'a compaction' },
  streams: false,
  operation: 'generate_content',
  callType: 'acompact_responses',
};

/** Counts the tokens of messages. */
export const COUNT_TOKENS: Endpoint = {
  ...MESSAGES,
  path: '/messages/count_tokens',
  requiredMembers: [],
  answers: { member: null, noun: 'a count of tokens' },
  streams: false,
};

/** Counts the input tokens of a response without creating one. */
export const COUNT_RESPONSE_TOKENS: Endpoint = {
  ...RESPONSES,
  path: '/responses/input_tokens',
  answers: { member: null, noun: 'a count of tokens' },
  streams: false,
};

/** Counts the input tokens of a chat without answering it. */
export const COUNT_CHAT_TOKENS: Endpoint = {
  ...CHAT_COMPLETIONS,
  path: '/utils/token_counter',
  answers: { member: null, noun: 'a count of tokens' },
  streams: false,
};

/** Texts in, a vector for each out. */
export const EMBEDDINGS: Endpoint = {
  path: '/embeddings',
  dialect: null,
  input: { member: 'input', form: 'texts' },
  requiredMembers: [],
  answers: { member: 'data', noun: 'a list of embeddings' },
  streams: false,
  operation: 'embeddings',
  callType: 'aembedding',
};

/** Texts in, a moderation result for each out. */
export const MODERATIONS: Endpoint = {
  path: '/moderations',
  dialect: null,
  input: { member: 'input', form: 'texts' },
  requiredMembers: [],
  answers: { member: 'results', noun: 'a moderation' },
  streams: false,
  operation: 'moderation',
  callType: 'amoderation',
};

/** A query and documents in, their order out. Cohere's format, which many vendors use. */
export const RERANK: Endpoint = {
  path: '/rerank',
  dialect: null,
  input: { member: 'query', form: 'text' },
  requiredMembers: ['documents'],
  answers: { member: 'results', noun: 'an order of documents' },
  streams: false,
  operation: 'rerank',
  callType: 'arerank',
};

/** An input and typed questions in, probabilities out, in OpenAI's format. */
export const DECISIONS: Endpoint = {
  path: '/decisions',
  dialect: null,
  input: { member: 'input', form: 'json' },
  requiredMembers: ['questions'],
  answers: { member: 'answers', noun: 'a decision' },
  streams: false,
  operation: 'decide',
  callType: 'adecisions',
};

/** A state and typed questions by name in, probabilities out, in the named-map format. */
export const SYSTEM_ONE: Endpoint = {
  ...DECISIONS,
  path: '/systemone',
  input: { member: 'state', form: 'json' },
  callType: 'asystemone',
};

/** A text in, speech out. */
export const SPEECH: Endpoint = {
  path: '/audio/speech',
  dialect: null,
  input: { member: 'input', form: 'text' },
  requiredMembers: [],
  answers: { member: null, noun: 'speech' },
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
  input: { member: 'contents', form: 'messages' },
  requiredMembers: [],
  answers: { member: 'candidates', noun: 'generated content' },
  streams: true,
  operation: 'generate_content',
  callType: 'agenerate_content',
};

/** Counts the tokens of a request in Google's format. */
export const COUNT_CONTENT_TOKENS: Endpoint = {
  ...GENERATE_CONTENT,
  path: '/countTokens',
  answers: { member: null, noun: 'a count of tokens' },
  streams: false,
};

/** Bedrock's form of a chat, identical for all models. */
export const CONVERSE: Endpoint = {
  path: '/converse',
  dialect: 'converse',
  input: { member: 'messages', form: 'messages' },
  requiredMembers: [],
  answers: { member: 'output', noun: 'an answer of a conversation' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Cohere's form of a chat. */
export const COHERE_CHAT: Endpoint = {
  path: '/v2/chat',
  dialect: 'cohere-chat',
  input: { member: 'messages', form: 'messages' },
  requiredMembers: [],
  answers: { member: 'message', noun: 'an answer of a chat' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Ollama's form of a chat. */
export const OLLAMA_CHAT: Endpoint = {
  path: '/api/chat',
  dialect: 'ollama-chat',
  input: { member: 'messages', form: 'messages' },
  requiredMembers: [],
  answers: { member: 'message', noun: 'an answer of a chat' },
  streams: true,
  operation: 'chat',
  callType: 'acompletion',
};

/** Common properties of the image endpoints. */
const IMAGES = {
  dialect: null,
  requiredMembers: [],
  medium: 'image',
  answers: { member: 'data', noun: 'a list of pictures' },
  operation: 'generate_content',
  outputs: 'image',
} as const;

/** A text in, images out. */
export const IMAGE_GENERATIONS: Endpoint = {
  ...IMAGES,
  path: '/images/generations',
  input: { member: 'prompt', form: 'text' },
  streams: true,
  callType: 'aimage_generation',
};

/** Images and a text in, edited images out. */
export const IMAGE_EDITS: Endpoint = {
  ...IMAGES,
  path: '/images/edits',
  input: { member: 'prompt', form: 'text' },
  requiresOneOf: ['image', 'images'],
  requestEncoding: 'form or json',
  streams: true,
  callType: 'aimage_edit',
};

/** An image in, variations of it out. */
export const IMAGE_VARIATIONS: Endpoint = {
  ...IMAGES,
  path: '/images/variations',
  input: { member: 'image', form: 'files' },
  requestEncoding: 'form',
  streams: false,
  callType: 'aimage_variation',
};

/** Common properties of the transcription endpoints. */
const TRANSCRIPTS = {
  dialect: null,
  input: { member: 'file', form: 'file' },
  requiredMembers: [],
  requestEncoding: 'form',
  medium: 'transcript',
  answers: { member: 'text', noun: 'a transcript' },
  streams: true,
  operation: 'generate_content',
  outputs: 'text',
} as const;

/** A recording in, its transcript out. */
export const TRANSCRIPTIONS: Endpoint = { ...TRANSCRIPTS, path: '/audio/transcriptions', callType: 'atranscription' };

/** A recording in, its transcript in English out. */
export const TRANSLATIONS: Endpoint = {
  ...TRANSCRIPTS,
  path: '/audio/translations',
  streams: false,
  callType: 'atranslation',
};
