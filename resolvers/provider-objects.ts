import { collect } from '../src/domain/bytes.ts';
import { InvalidInput, NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import { assertFits } from '../src/domain/upstream-objects/file-limits.ts';
import { FAMILIES, type FamilyAction, type FamilyKind } from '../src/domain/upstream-objects/object-families.ts';
import type { PassBody } from '../src/domain/upstream-objects/pass-through.ts';
import { withRenamedIds } from '../src/domain/upstream-objects/renamed-ids.ts';
import {
  OBJECT_MEMBERS,
  type ObjectPage,
  type UpstreamObject,
} from '../src/domain/upstream-objects/upstream-object.ts';
import type { GatewayCall, StoragePlace } from '../src/gateway/gateway.ts';
import { objectReader, objectWriter } from './operation/access.ts';
import {
  type CallFacts,
  getObject,
  type NamedObject,
  noObject,
  pass,
  passForObject,
  placeOf,
  type ShownCall,
  tailOf,
} from './operation/object-calls.ts';
import { fileAt, type NewObject, preparedObject } from './operation/object-drafts.ts';
import { lastingScope } from './operation/lasting-scope.ts';
import { operation } from './operation/operation.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import { assertRunsRecorded } from './operation/recorded-runs.ts';
import type { Scope } from './operation/scope.ts';
import { listObjects, shownCall, type ShownPage, storeObject, storeState } from './operation/upstream-objects.ts';

type ObjectScope = Scope<ObjectPlatform>;

/** A new object of a family, with the body of the request. */
export interface ObjectDraft extends NewObject, CallFacts {
  readonly bytes: Uint8Array;
  /** Members of the body that are for the gateway. The upstream does not get them. */
  readonly gatewayMembers: readonly string[];
}

/** A request about an object, or about one of its parts. */
export interface ObjectRequest extends NamedObject {
  readonly action: FamilyAction;
  /** Our id of the evaluation of a run; null for other objects. */
  readonly parentId: string | null;
  /** Id of the part in the path; null for a path without one. */
  readonly part: string | null;
  /** Query for the upstream, without the question mark. */
  readonly search: string;
  /** Members of the body; empty without one. */
  readonly fields: JsonObject;
  readonly body: PassBody;
}

/** The call about an object, and its answer. `shown` is null for bytes that are forwarded. */
export interface ObjectAnswer {
  readonly call: GatewayCall;
  readonly shown: JsonObject | null;
}

const NO_CONTEXT: CallFacts = { callId: null, parent: null };

/**
 * Creates an object at an upstream, for the caller. When its owner cannot be stored, the object is ended at its
 * upstream. Throws what `preparedObject` and `passForObject` throw.
 */
export const createProviderObject = operation({
  name: 'createProviderObject',
  access: objectWriter,
  async run(received: ObjectScope, { bytes, gatewayMembers, ...draft }: ObjectDraft): Promise<ShownCall> {
    const { callId, parent: parentSpan, labels } = draft;
    const { place, set, expected, calls, parent } = await preparedObject(received, draft);
    // A container is charged when it is created, also when its client leaves.
    const scope = draft.kind === 'container' ? received : lastingScope(received);
    const removed = gatewayMembers.filter((member) => Object.hasOwn(draft.fields, member));
    const changes = { ...Object.fromEntries(removed.map((member) => [member, null])), ...set };
    const { create, undo } = FAMILIES[draft.kind];
    const body = { kind: 'json', bytes, set: changes } as const;
    const tail = parent === undefined ? '' : `${tailOf(parent)}/runs`;
    const request = { action: create, place, tail, body, ...(expected === undefined ? {} : { expected }) };
    const facts = { callId, parent: parentSpan, ...(labels === undefined ? {} : { labels }) };
    const { call, read } = await passForObject(scope, request, facts);
    // Later requests about a run find its evaluation in the stored state.
    const shown = parent === undefined ? read.shown : { ...read.shown, eval_id: parent.upstreamId };
    const object = await storeObject(
      scope,
      request,
      { ...read, shown },
      {
        ...(labels === undefined ? {} : { labels }),
        calls,
        ...(parent === undefined ? {} : { evalId: parent.id }),
        undo: async (upstreamId) => {
          const ending = { action: undo, place, tail: `${tail}/${encodeURIComponent(upstreamId)}${undo.below}` };
          const ended = await pass(scope, ending, NO_CONTEXT);
          await ended.consume((stream) => collect(stream, MAX_ANSWER_BYTES));
        },
      },
    );
    return await shownCall(scope, object, { call, shown });
  },
});

/** A page of the objects of a family that the caller may see. Throws NotFound for runs of an unknown evaluation. */
export const listProviderObjects = operation({
  name: 'listProviderObjects',
  access: objectReader,
  async run(scope: ObjectScope, page: ObjectPage & { readonly kind: FamilyKind }): Promise<ShownPage> {
    if (page.kind === 'eval_run') await getObject(scope, 'eval', page.purpose ?? '');
    return await listObjects(scope, page, FAMILIES[page.kind].get);
  },
});

/** Reads an object, or something about its parts. Throws NotFound, and what `pass` throws. */
export const readProviderObject = operation({
  name: 'readProviderObject',
  access: objectReader,
  run: (scope: ObjectScope, request: ObjectRequest): Promise<ObjectAnswer> => callObject(scope, request),
});

/** As `readProviderObject`, for requests that change the object. Throws InvalidInput and TooLarge for a file. */
export const changeProviderObject = operation({
  name: 'changeProviderObject',
  access: objectWriter,
  run: (scope: ObjectScope, request: ObjectRequest): Promise<ObjectAnswer> => callObject(scope, request),
});

/** Id of a part of an object: without a slash, which would name another path at the upstream. */
const PART_ID = /^[\w-]{1,256}$/;

async function callObject(scope: ObjectScope, request: ObjectRequest): Promise<ObjectAnswer> {
  const { action, id, parentId, part, search, callId, parent } = request;
  const object = await getObject(scope, action.kind, id);
  if (parentId !== null && object.purpose !== parentId) throw noObject(action.kind, id);
  if (part !== null && !PART_ID.test(part)) throw new NotFound('object', part, `Object with id '${part}' not found.`);
  const place = placeOf(scope, object);
  const below = action.below.replace(':part', () => encodeURIComponent(part ?? ''));
  const tail = `${tailOf(object)}${below}${search === '' ? '' : `?${search}`}`;
  const call = { action, place, tail, body: await bodyOf(scope, place, request) };
  const facts = { callId, parent, ...(request.labels === undefined ? {} : { labels: request.labels }) };
  switch (action.answers) {
    case 'bytes':
      return { call: await pass(scope, call, facts), shown: null };
    case 'parts':
      return await readParts(scope, object, await pass(scope, call, facts));
    case 'deletion':
      await assertRunsRecorded(scope, object);
      return await deleteObject(scope, object, () => pass(scope, call, facts));
    case 'object': {
      const { call: answered, read } = await passForObject(scope, call, facts);
      await storeState(scope, object, read.shown);
      return await shownCall(scope, object, { call: answered, shown: read.shown });
    }
  }
}

/**
 * The body with the upstream's id of a file that it names. Throws NotFound for a file that the caller may not use.
 * Throws InvalidInput for a file id that is no text or in a form, and TooLarge.
 */
async function bodyOf(scope: ObjectScope, place: StoragePlace, { fields, body }: ObjectRequest): Promise<PassBody> {
  if (body.kind === 'form') {
    // A form could name a file that belongs to another caller of the account.
    const named = body.form.parts.find(({ name }) => name.replace(/\[.*$/, '') === 'file_id');
    if (named !== undefined) throw fileFault('in a form it must be absent: send the file, or JSON with its id');
    for (const { filename, bodyStart, bodyEnd } of body.form.parts)
      if (filename !== null) assertFits(bodyEnd - bodyStart, scope.platform.fileLimits.file);
    return body;
  }
  const { file_id: id } = fields;
  if (body.kind === 'none' || !Object.hasOwn(fields, 'file_id')) return body;
  if (typeof id !== 'string') throw fileFault('it must be a string');
  return { ...body, set: { ...body.set, file_id: JSON.stringify(await fileAt(scope, place, id)) } };
}

function fileFault(reason: string): InvalidInput {
  const message = `/containers: Invalid value for parameter 'file_id': ${reason}.`;
  return new InvalidInput(message, [{ path: ['body', 'file_id'], rule: 'value', message }]);
}

/** Our ids that answers about an object need, by the upstream's: its own, and that of the evaluation of a run. */
function idsOf({ kind, id, upstreamId, purpose, shown }: UpstreamObject): ReadonlyMap<string, string> {
  const evalId = kind === 'eval_run' ? shown?.['eval_id'] : undefined;
  const own: readonly [string, string] = [upstreamId, id];
  return new Map(typeof evalId === 'string' && purpose !== null ? [own, [evalId, purpose]] : [own]);
}

/** Maximum size of an answer about parts of an object, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Reads JSON about the parts of an object. It has our id of the object. Throws UpstreamFailed for other answers. */
async function readParts(scope: ObjectScope, object: UpstreamObject, call: GatewayCall): Promise<ObjectAnswer> {
  const shown = await call.consume(async (stream) => {
    const bytes = await collect(stream, MAX_ANSWER_BYTES);
    const value = bytes === null ? undefined : withRenamedIds(bytes, idsOf(object));
    // Some upstreams answer a deletion without a body.
    if (bytes?.length === 0) return {};
    if (isJsonObject(value)) return value;
    const { provider } = placeOf(scope, object).deployment;
    const message = "The upstream's answer cannot be used: it is no JSON object, or it is too large.";
    throw new UpstreamFailed(message, { provider, upstreamStatus: null });
  });
  return { call, shown };
}

/** Deletes an object at its upstream and here. Also one that its upstream no longer has is removed here. */
async function deleteObject(
  scope: ObjectScope,
  object: UpstreamObject,
  send: () => Promise<GatewayCall>,
): Promise<ObjectAnswer> {
  const { id, kind } = object;
  const removeRow = (): Promise<void> => scope.platform.stores.upstreamObjects.remove(id, scope.platform.clock.now());
  try {
    const { call, shown } = await readParts(scope, object, await send());
    await removeRow();
    return { call, shown: { id, object: `${OBJECT_MEMBERS[kind]}.deleted`, deleted: true, ...shown } };
  } catch (failure) {
    if (!(failure instanceof UpstreamFailed) || failure.upstreamStatus !== 404) throw failure;
    await removeRow();
    throw noObject(kind, id);
  }
}
