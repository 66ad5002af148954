import { containersIn } from '../src/domain/upstream-objects/named-containers.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { InvalidInput, MissingFormField, UpstreamFailed } from '../src/domain/errors.ts';
import type { Form, FormPart } from '../src/domain/inference/form.ts';
import { assertFits } from '../src/domain/upstream-objects/file-limits.ts';
import { CREATE_FILE, DELETE_FILE, GET_FILE, READ_FILE } from '../src/domain/upstream-objects/object-action.ts';
import type { CountedCalls } from '../src/domain/upstream-objects/batch-calls.ts';
import { tokensOfBytes } from '../src/domain/inference/expected-tokens.ts';
import type { ObjectPage, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { objectReader, objectWriter } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { storesInBody } from '../src/domain/vector-stores/named-stores.ts';
import { batchStoreCheck } from './operation/named-stores.ts';
import {
  type CallFacts,
  getObject,
  type NamedObject,
  pass,
  passForObject,
  placeOf,
  type ShownCall,
} from './operation/object-calls.ts';
import { storeObject, listObjects, shownCall, type ShownPage } from './operation/upstream-objects.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A file to upload. */
export interface FileDraft extends CallFacts {
  readonly form: Form;
  /** Form fields by name: texts, lists, and `FormFile` for files. */
  readonly fields: JsonObject;
  /** Form fields that are for the gateway. The upstream does not get them. */
  readonly gatewayFields: readonly string[];
  /** Model and provider whose upstream stores the file; null where the request does not name one. */
  readonly model: string | null;
  readonly provider: string | null;
}

const NO_CALLS: CountedCalls = { requests: 0, tokens: 0 };

/**
 * Uploads a file to an upstream. Throws InvalidInput for an invalid form, TooLarge, what the gateway's `placeFor`
 * throws, and what `passForObject` throws. Throws Forbidden for a vector store that the caller may not use.
 */
export const createFile = operation({
  name: 'createFile',
  access: objectWriter,
  async run(scope: Scope<ObjectPlatform>, draft: FileDraft): Promise<ShownCall> {
    const { gateway, fileLimits } = scope.platform;
    const caller = callerOf(scope);
    const { form, fields, gatewayFields, model, provider, ...facts } = draft;
    const { labels } = facts;
    const purpose = fields['purpose'];
    if (typeof purpose !== 'string' || purpose === '') throw new MissingFormField('purpose');
    const isBatch = purpose === 'batch';
    const { bodyStart, bodyEnd } = fileOf(form);
    const batchLimit = isBatch ? fileLimits.batchFile : null;
    assertFits(bodyEnd - bodyStart, batchLimit ?? fileLimits.file);
    const place = await gateway.placeFor(caller, { kind: 'file', model, provider, labels });
    // Each line of a batch file names a model: `rename` gives its name at the upstream, `count` counts its calls.
    const rename = (lineModel: string): string => gateway.upstreamModelAt(caller, place.deployment, lineModel);
    const calls: Record<string, CountedCalls> = {};
    const assertStores = isBatch ? await batchStoreCheck(scope, labels) : null;
    const storeNames = createStoreNames();
    const count = (lineModel: string, bytes: number, line: JsonObject): void => {
      const named = storesInBody(line);
      assertStores?.(named);
      if (containersIn(line['tools']).length > 0) throw containerInLine();
      const { requests, tokens } = Object.hasOwn(calls, lineModel) ? (calls[lineModel] ?? NO_CALLS) : NO_CALLS;
      const stores = storeNames.add(lineModel, named);
      const counted = {
        requests: requests + 1,
        tokens: tokens + tokensOfBytes(bytes),
        ...(stores.length === 0 ? {} : { stores }),
      };
      // Not an assignment: a line may name the model `__proto__`.
      Object.defineProperty(calls, lineModel, { value: counted, enumerable: true, configurable: true, writable: true });
    };
    const body = { kind: 'form', form, without: gatewayFields, ...(isBatch ? { rename, count } : {}) } as const;
    const request = { action: CREATE_FILE, place, tail: '', body };
    // `read.shown` is the file as the upstream's answer shows it.
    const { call, read } = await passForObject(scope, request, facts);
    // The purpose of the request is stored, because it decided whether the lines were checked.
    const readWithPurpose = { ...read, shown: { ...read.shown, purpose } };
    const object = await storeObject(scope, request, readWithPurpose, {
      calls: isBatch ? calls : undefined,
      undo: (id) => deleteAtUpstream(scope, request.place, id),
    });
    return await shownCall(scope, object, { call, shown: read.shown });
  },
});

/** Callers share the account of the upstream, and lines of a batch are not checked for the owner of a container. */
function containerInLine(): InvalidInput {
  const message = '/files: A line of a batch cannot name a container.';
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}

/** Maximum length of the different names of vector stores in a batch file, in characters. */
const MAX_STORE_CHARACTERS = 65_536;

/** Collects the vector stores that lines name, by model. Throws InvalidInput for more names than the limit. */
function createStoreNames() {
  const byModel = new Map<string, readonly string[]>();
  let characters = 0;
  return {
    add(model: string, named: readonly string[]): readonly string[] {
      const known = byModel.get(model) ?? [];
      const added = [...new Set(named)].filter((id) => !known.includes(id));
      if (added.length === 0) return known;
      characters += added.reduce((sum, id) => sum + id.length, 0);
      const message = `/files: The vector stores that the lines name have more than ${MAX_STORE_CHARACTERS} characters.`;
      if (characters > MAX_STORE_CHARACTERS)
        throw new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
      const names = [...known, ...added];
      byModel.set(model, names);
      return names;
    },
  };
}

/** The only file of a form. Throws MissingFormField for none, and InvalidInput for several. */
function fileOf({ parts }: Form): FormPart {
  const [file, another] = parts.filter(({ name, filename }) => name === 'file' && filename !== null);
  if (file === undefined) throw new MissingFormField('file');
  if (another === undefined) return file;
  const message = '/files: One file can be sent at a time.';
  throw new InvalidInput(message, [{ path: ['body', 'file'], rule: 'too_many', message }]);
}

async function deleteAtUpstream(
  scope: Scope<ObjectPlatform>,
  place: ReturnType<typeof placeOf>,
  upstreamId: string,
): Promise<void> {
  const request = { action: DELETE_FILE, place, tail: tailOf({ upstreamId }) };
  await passForObject(scope, request, { callId: null, parent: null });
}

const tailOf = ({ upstreamId }: Pick<UpstreamObject, 'upstreamId'>): string => `/${encodeURIComponent(upstreamId)}`;

/** Reads the state of a file at its upstream. Throws NotFound, and what `passForObject` throws. */
export const getFile = operation({
  name: 'getFile',
  access: objectReader,
  async run(scope: Scope<ObjectPlatform>, { id, ...facts }: NamedObject): Promise<ShownCall> {
    const object = await getObject(scope, 'file', id);
    const request = { action: GET_FILE, place: placeOf(scope, object), tail: tailOf(object) };
    const { call, read } = await passForObject(scope, request, facts);
    await scope.platform.stores.upstreamObjects.saveState(id, read.shown);
    return await shownCall(scope, object, { call, shown: read.shown });
  },
});

/** The content of a file, to be forwarded. Throws NotFound, and what `pass` throws. */
export const readFile = operation({
  name: 'readFile',
  access: objectReader,
  async run(scope: Scope<ObjectPlatform>, { id, ...facts }: NamedObject): Promise<GatewayCall> {
    const object = await getObject(scope, 'file', id);
    const request = { action: READ_FILE, place: placeOf(scope, object), tail: `${tailOf(object)}/content` };
    return await pass(scope, request, facts);
  },
});

/** Deletes a file at its upstream and here. Throws NotFound, and what `passForObject` throws. */
export const deleteFile = operation({
  name: 'deleteFile',
  access: objectWriter,
  async run(scope: Scope<ObjectPlatform>, { id, ...facts }: NamedObject): Promise<ShownCall> {
    const object = await getObject(scope, 'file', id);
    const removeRow = (): Promise<void> => scope.platform.stores.upstreamObjects.remove(id, scope.platform.clock.now());
    const request = { action: DELETE_FILE, place: placeOf(scope, object), tail: tailOf(object) };
    try {
      const { call, read } = await passForObject(scope, request, facts);
      await removeRow();
      return await shownCall(scope, object, { call, shown: read.shown });
    } catch (failure) {
      // The file was already deleted, or has expired, at the upstream.
      if (failure instanceof UpstreamFailed && failure.upstreamStatus === 404) await removeRow();
      throw failure;
    }
  },
});

/** A page of the files that the caller may see. */
export const listFiles = operation({
  name: 'listFiles',
  access: objectReader,
  run: (scope: Scope<ObjectPlatform>, page: Omit<ObjectPage, 'kind'>): Promise<ShownPage> =>
    listObjects(scope, { ...page, kind: 'file' }, GET_FILE),
});
