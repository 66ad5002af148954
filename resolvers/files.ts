import type { JsonObject } from '../src/domain/json-object.ts';
import { InvalidInput, MissingFormField, UpstreamFailed } from '../src/domain/errors.ts';
import type { Form, FormPart } from '../src/domain/inference/form.ts';
import { assertFits } from '../src/domain/upstream-objects/file-limits.ts';
import { CREATE_FILE, DELETE_FILE, GET_FILE, READ_FILE } from '../src/domain/upstream-objects/object-action.ts';
import type { ObjectPage, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { objectReader, objectWriter } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { readLines } from './operation/batch-lines.ts';
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

/**
 * Uploads a file to an upstream. Throws InvalidInput for an invalid form, TooLarge, what the gateway's `placeFor`
 * throws, and what `passForObject` throws. Lines of a batch throw Forbidden for a vector store that the caller may not
 * use, NotFound for such a container, and Rejected.
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
    const lines = isBatch ? await readLines(scope, { place, labels }) : null;
    const body = { kind: 'form', form, without: gatewayFields, ...lines?.tools } as const;
    const request = { action: CREATE_FILE, place, tail: '', body };
    // `read.shown` is the file as the upstream's answer shows it.
    const { call, read } = await passForObject(scope, request, facts);
    // The purpose of the request is stored, because it decided whether the lines were checked.
    const readWithPurpose = { ...read, shown: { ...read.shown, purpose } };
    const object = await storeObject(scope, request, readWithPurpose, {
      calls: lines?.calls,
      undo: (id) => deleteAtUpstream(scope, request.place, id),
    });
    return await shownCall(scope, object, { call, shown: read.shown });
  },
});

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
