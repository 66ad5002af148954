import { collect } from '../../src/domain/bytes.ts';
import { revealedParameters } from '../../src/domain/deployments/parameters.ts';
import { InvalidInput, Unavailable, UpstreamFailed } from '../../src/domain/errors.ts';
import type { HttpMethod } from '../../src/domain/http.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { ZERO_USD } from '../../src/domain/money.ts';
import { addressBelow } from '../../src/domain/pass-through/address.ts';
import { targetFault } from '../../src/domain/pass-through/endpoint.ts';
import { type Forwarded, MAX_ANSWER_BYTES } from '../../src/domain/pass-through/forwarded.ts';
import { requestHeaders } from '../../src/domain/pass-through/headers.ts';
import { FORWARDED_PROVIDERS } from '../../src/domain/pass-through/providers.ts';
import { Secret } from '../../src/domain/secret.ts';
import { withoutSecretTexts } from '../../src/domain/secret-texts.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import { STORE_CALL_TYPES, STORE_PROVIDERS, storeBase } from '../../src/domain/vector-stores/store-action.ts';
import type { VectorStore } from '../../src/domain/vector-stores/vector-store.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { mayUseObject } from './object-owners.ts';
import { callerOf } from './operation.ts';
import { accountOf } from './provider-accounts.ts';
import type { Scope } from './scope.ts';
import { noObject } from './object-calls.ts';
import type { VectorStorePlatform } from './vector-store-platform.ts';

type StoreScope = Scope<VectorStorePlatform>;

/** Address and account of the provider of a store. */
export interface StoreTarget {
  readonly provider: string;
  /** Base address, with the version. */
  readonly base: string;
  readonly key: Secret | null;
  /** Id of the store in records; empty for calls about no store. */
  readonly storeId: string;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/**
 * The target of calls about a store: of its parameters or its credential, else the account of the provider. `store` is
 * null for a store without registration. Throws InvalidInput for a provider without this API or without an address.
 * Throws Unavailable for a missing credential or unknown parameters, and Forbidden where no account is configured.
 */
export async function targetOfStore(
  scope: StoreScope,
  { store, ...about }: { readonly store: VectorStore | null; readonly provider: string; readonly storeId: string },
): Promise<StoreTarget> {
  const { storeId } = about;
  const provider = store?.provider ?? about.provider;
  if (!STORE_PROVIDERS.includes(provider)) {
    const supported = STORE_PROVIDERS.join(', ');
    throw new InvalidInput(
      `Vector stores of the provider '${provider}' are not supported. Supported providers: ${supported}`,
    );
  }
  // Without its account, a call would use the default one.
  const fault = store === null ? null : scope.platform.vectorStores.accountFault(store.id);
  if (fault !== null) throw new Unavailable(fault, null);
  const account = { ...ofCredential(scope, store), ...store?.params };
  const [key, base] = [textOf(account['api_key']), textOf(account['api_base'])];
  if (base !== null && targetFault(base) !== null)
    throw new InvalidInput(`The api_base of the vector store ${storeId} is no HTTP address.`);
  // A key of the store is never sent to another address, nor the default key to the address of the store.
  if (base !== null) return { provider, base: storeBase(base), key: key === null ? null : new Secret(key), storeId };
  if (provider !== 'openai') throw new InvalidInput(`The vector store ${storeId} has no api_base.`);
  const [openai] = FORWARDED_PROVIDERS;
  if (openai === undefined) throw new TypeError('OpenAI is no provider.');
  if (key !== null) return { provider, base: storeBase(openai.base ?? ''), key: new Secret(key), storeId };
  const found = await accountOf(scope, openai);
  return { provider, base: storeBase(found.base), key: found.key, storeId };
}

/** Address and key of the credential of a store; empty without one. Throws Unavailable for an unknown credential. */
function ofCredential({ platform }: StoreScope, store: VectorStore | null): JsonObject {
  if (store === null || store.credentialName === null) return {};
  const found = platform.credentials.find(store.credentialName);
  if (found === null) throw new Unavailable(`The credential of the vector store ${store.id} does not exist.`, null);
  return revealedParameters(found);
}

/** One call about a store. */
export interface StoreCall extends Pick<Forwarded, 'callId' | 'parent' | 'labels' | 'userAgent'> {
  readonly action: keyof typeof STORE_CALL_TYPES;
  readonly method: HttpMethod;
  /** Segments of the path below the base address, not encoded. */
  readonly path: readonly string[];
  /** Query without the question mark. */
  readonly search?: string;
  readonly json?: JsonObject;
  /** A form in place of JSON. */
  readonly form?: { readonly bytes: Uint8Array; readonly contentType: string };
}

/** Sends a call to the provider of a store. Throws what the gateway's `forward` throws. */
export function sendToStore(scope: StoreScope, target: StoreTarget, call: StoreCall): Promise<GatewayCall> {
  const { action, method, path, search = '', json, form, ...facts } = call;
  if (!path.every((segment) => segment.isWellFormed()))
    throw new InvalidInput('An id in the path has an unpaired surrogate.');
  // Providers may decode the slash, and then serve another path.
  if (path.some((segment) => segment.includes('/'))) throw new InvalidInput('An id in the path has a slash.');
  const url = addressBelow(target.base, path.map(encodeURIComponent).join('/'));
  url.search = search;
  const contentType = form?.contentType ?? (json === undefined ? null : 'application/json');
  return scope.platform.gateway.forward(
    callerOf(scope),
    {
      ...facts,
      method,
      url: url.href,
      headers: {
        ...requestHeaders({}, false),
        'openai-beta': 'assistants=v2',
        ...(contentType === null ? {} : { 'content-type': contentType }),
      },
      credentials: target.key === null ? {} : { authorization: new Secret(`Bearer ${target.key.reveal()}`) },
      body: form?.bytes ?? (json === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(json))),
      fields: json ?? {},
      timeoutSeconds: scope.platform.passThrough.timeoutSeconds,
      answerLimit: MAX_ANSWER_BYTES,
      operation: 'vector_store',
      callType: STORE_CALL_TYPES[action],
      model: 'unknown',
      provider: target.provider,
      deploymentId: target.storeId,
      cost: ZERO_USD,
      defaultCost: null,
      endpoint: null,
    },
    scope.signal,
  );
}

/** Maximum size of an answer that is read here, in bytes. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const FIRST_ERROR = 400;

/** An answer as JSON and as its bytes. */
export interface ReadAnswer {
  readonly value: JsonObject;
  readonly bytes: Uint8Array;
}

/** Reads an answer of any status. The value of an answer that is no JSON object is empty. Throws UpstreamFailed. */
export function readAnswer(call: GatewayCall, { provider }: StoreTarget): Promise<ReadAnswer> {
  return call.consume(async (stream) => {
    const bytes = await collect(stream, MAX_READ_BYTES);
    if (bytes === null)
      throw new UpstreamFailed('The answer of the provider is too large.', { provider, upstreamStatus: null });
    return { value: jsonObjectOf(parsed(bytes)), bytes };
  });
}

/** The bytes of a failure, without the credential of the account: some providers repeat it. Throws UpstreamFailed. */
export async function failureBytes(call: GatewayCall, target: StoreTarget): Promise<Uint8Array> {
  const { bytes } = await readAnswer(call, target);
  const secret = target.key?.reveal() ?? '';
  if (secret === '') return bytes;
  const text = new TextDecoder().decode(bytes);
  const safe = withoutSecretTexts(text, [secret]);
  return safe === text ? bytes : new TextEncoder().encode(safe);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

export const isFailed = ({ exchange }: GatewayCall): boolean => exchange.status >= FIRST_ERROR;

/** Sends a call and reads its JSON object. Throws UpstreamFailed also for an answer with an error status. */
export async function askStore(scope: StoreScope, target: StoreTarget, request: StoreCall): Promise<JsonObject> {
  const call = await sendToStore(scope, target, request);
  const { value } = await readAnswer(call, target);
  const { provider } = target;
  if (!isFailed(call)) return value;
  const { error } = value;
  const message = isJsonObject(error) ? textOf(error['message']) : textOf(error);
  const upstreamStatus = call.exchange.status;
  throw new UpstreamFailed(message ?? `The provider answered with the status ${upstreamStatus}.`, {
    provider,
    upstreamStatus,
  });
}

/** Maximum time to delete what a failed operation created at the provider, in ms. */
const DELETION_MS = 10_000;

/** A scope to delete what an operation created. It has no limits of the key, and a disconnect does not end it. */
export const deletionScope = <Slice extends VectorStorePlatform>(scope: Scope<Slice>): Scope<Slice> => ({
  ...scope,
  caller: new SystemCaller('vector-store-deletion'),
  signal: AbortSignal.timeout(DELETION_MS),
});

/**
 * Id at the provider of a file that a caller names. An id of the gateway is that of a file of the caller. Only proxy
 * administrators may name another file, because all callers share the account. Throws NotFound.
 */
export async function upstreamFileId(scope: StoreScope, id: string): Promise<string> {
  const caller = callerOf(scope);
  const object = await scope.platform.stores.upstreamObjects.find(id);
  if (object?.kind === 'file' && mayUseObject(caller, object.owner)) return object.upstreamId;
  if (object === null && caller.role === 'proxy_admin') return id;
  throw noObject('file', id);
}
