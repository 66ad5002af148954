/** Reasons why answers differ from the recorded ones. `docs/differences.md` has them for readers. */
const REASONS = {
  ownFailure: 'a 500 of the reference on a request that it does not understand or does not serve',
  nativeBodies: 'errors of the Anthropic and Gemini surfaces have the format of their clients',
  keyFirst: 'the key is checked before the body is read',
  clientAddress: 'a wrong address is an invalid request, not a missing credential',
  ownModels: 'every key may look up the models that it may call',
  aliases: 'these prefixes are aliases of our own routes',
  unusedRoles: 'a message of a role that no model knows is refused before it is translated',
  notServed: 'the endpoint is not served',
  streamFailure: 'the last event of a failed stream has the type of the failure, where the reference has null',
  oneUnknownModel: 'an unknown model has one error on all endpoints',
  oneStream: 'a stream of the Responses API ends as at OpenAI, without [DONE]',
  moreFields: 'the answer has the fields of its vendor besides',
  ourObjects: 'files and batches are lists; the recorded bodies come from the fake upstream of the recording',
  noRouting: 'retries are made where a request asks for them; cooldowns and configured fallbacks are not implemented',
} as const;

type Reason = keyof typeof REASONS;

const CASES: Readonly<Record<Reason, readonly string[]>> = {
  ownFailure: [
    'inference: content number',
    'inference: response_format bad',
    'inference: json array',
    'inference: json string',
    'inference: responses input number',
    'inference: fine tuning list',
    'inference: assistants list',
    'inference: openai passthrough',
    'inference: openai prefix',
    'inference: vllm passthrough',
  ],
  nativeBodies: [
    'inference: messages malformed',
    'inference: messages model not in key',
    'inference: gemini unknown',
    'inference: gemini no contents',
    'inference: gemini no key',
  ],
  keyFirst: ['inference: malformed json no key'],
  clientAddress: ['inference: api_base in body'],
  ownModels: [
    'inference: model one limited ok',
    'inference: model one limited denied',
    'inference: gemini models list',
    'inference: utils/supported_openai_params',
    'inference: utils/supported_openai_params unknown',
    'retries: models/oa as key:key_z',
    'retries: models/zzz as key:key_z',
  ],
  aliases: ['inference: anthropic passthrough', 'inference: gemini passthrough'],
  unusedRoles: ['inference: messages bad role'],
  notServed: ['inference: interactions'],
  streamFailure: ['inference: stream mid error', 'inference: stream cut'],
  oneUnknownModel: [
    'inference: fallback to unknown',
    'inference: images unknown',
    'inference: transcriptions unknown model',
  ],
  oneStream: ['inference: responses stream'],
  moreFields: [
    'inference: gemini route goog key',
    'inference: gemini ok',
    'inference: models/ path',
    'inference: count_tokens',
  ],
  ourObjects: ['inference: files list', 'inference: batches list'],
  noRouting: [
    'retries: default retries: first call fails 408',
    'retries: default retries: first call fails 429',
    'retries: default retries: first call fails 503',
    'retries: dead with fallback ok',
    'retries: dead with fallback stream',
    'cooldowns: cd-401 good call right after',
    'cooldowns: cd-404 good call right after',
  ],
};

/** Recorded cases whose answer differs on purpose, as `file: name`, with the reason. */
export const CHOSEN_DIFFERENCES: ReadonlyMap<string, Reason> = new Map(
  Object.entries(CASES).flatMap(([reason, names]) => names.map((name): [string, Reason] => [name, reason as Reason])),
);

/** The reason as a sentence. */
export const textOf = (reason: Reason): string => REASONS[reason];
