/** Reasons why answers differ from the recorded ones. `docs/differences.md` explains them. */
const REASONS = {
  referenceFailure: 'a 500 of the reference on a request that it does not understand or does not serve',
  nativeBodies: 'errors of the Anthropic and Gemini surfaces have the format of their clients',
  keyFirst: 'the key is checked before the body is read',
  ownModels: "Google's clients list the models of a key",
  anyKey: 'every key may look up the models that it may call, also a key without a user',
  aliases: 'these prefixes are aliases of our own routes',
  unusedRoles: 'a message of a role that no model knows is refused before it is translated',
  notServed: 'the endpoint is not served',
  noIdentityProvider: 'documents of an authorization server would name endpoints that do not exist',
  oneStream: 'a stream of the Responses API ends as at OpenAI, without [DONE]',
  moreFields: 'the answer also has the fields of its vendor',
  ourObjects: 'files and batches are lists; the recorded bodies come from the fake upstream of the recording',
  licence: 'features behind a licence of the reference are served',
  knownKey: 'a key that is known but lacks a right is answered 403',
  unknownMode: 'the mode of a model that no price map knows is null',
  ownState: 'readiness shows the state of the catalog and of records, and nothing about a Python process',
  noCache: 'no cache is configured; the failure has the form of every unavailable part',
  upgradeOnly: 'a plain GET of a socket gets a 4xx that names the required upgrade',
  unknownGuardrail: 'a guardrail that does not exist is refused, where the reference lists it as applied',
  unaskedServer: 'an MCP server is not called when it is read; its health has a path of its own',
  wholeDays: 'pages of daily activity are whole days, so that there is no second page',
} as const;

type Reason = keyof typeof REASONS;

const CASES: Readonly<Record<Reason, readonly string[]>> = {
  referenceFailure: [
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
    'models_config: model/new duplicate id',
    'models_config: model/new no params',
    'models_config: model/new no name',
    'models_config: model/new unknown provider',
    'models_config: model/new empty body',
    'other_routes: guardrail dup',
    'other_routes: test_connection bad',
    'other_routes: cache delete',
    'other_routes: cache delete none',
    'other_routes: GET /v1/vector_stores/nope',
    'other_routes: vs search',
    'other_routes: vector_stores create none',
    'other_routes: toolset delete unknown',
  ],
  nativeBodies: [
    'inference: messages malformed',
    'inference: messages model not in key',
    'inference: gemini unknown',
    'inference: gemini no contents',
    'inference: gemini no key',
  ],
  unaskedServer: ['other_routes: mcp server get'],
  keyFirst: ['inference: malformed json no key'],
  ownModels: ['inference: gemini models list'],
  anyKey: [
    'inference: model one limited ok',
    'inference: model one limited denied',
    'inference: utils/supported_openai_params',
    'inference: utils/supported_openai_params unknown',
    'retries: models/oa as key:key_z',
    'retries: models/zzz as key:key_z',
  ],
  aliases: ['inference: anthropic passthrough', 'inference: gemini passthrough'],
  unusedRoles: ['inference: messages bad role'],
  noIdentityProvider: [
    'other_routes: GET /.well-known/oauth-authorization-server',
    'other_routes: GET /.well-known/openid-configuration',
  ],
  notServed: ['activity: seq mcp management', 'activity: seq search POST'],
  licence: [
    'activity: setup org team',
    'activity: seq chat org',
    'activity: organization aggregated model_top_keys',
    'activity: organization aggregated search',
  ],
  knownKey: ['key_u', 'key_uv', 'key_x', 'key_t'].map((name) => `activity: gateway activity as key:${name}`),
  wholeDays: ['user', 'team', 'tag'].map((entity) => `activity: ${entity} activity page 2`),
  ownState: ['other_routes: GET /health/readiness/details'],
  noCache: ['other_routes: GET /cache/ping'],
  upgradeOnly: ['other_routes: GET /v1/realtime'],
  unknownMode: ['models_config: models one'],
  unknownGuardrail: ['other_routes: chat unknown guardrail'],
  oneStream: ['inference: responses stream'],
  moreFields: [
    'inference: gemini route goog key',
    'activity: seq gemini route',
    'inference: gemini ok',
    'inference: models/ path',
  ],
  ourObjects: ['inference: files list', 'inference: batches list'],
};

/** Intended differences of recorded cases: reason by `file: name`. */
export const CHOSEN_DIFFERENCES: ReadonlyMap<string, Reason> = new Map(
  Object.entries(CASES).flatMap(([reason, names]) => names.map((name): [string, Reason] => [name, reason as Reason])),
);

/** Description of a reason. */
export const textOf = (reason: Reason): string => REASONS[reason];
