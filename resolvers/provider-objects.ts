import { collect } from '../src/domain/bytes.ts';
import { InvalidInput, NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../src/domain/json-object.ts';
import { FAMILIES, type FamilyAction, type FamilyKind, SKILL } from '../src/domain/upstream-objects/object-families.ts';
import type { PassBody, PassThrough } from '../src/domain/upstream-objects/pass-through.ts';
import { OBJECT_PATHS } from '../src/domain/upstream-objects/object-action.ts';
import { withRenamedIds } from '../src/domain/upstream-objects/renamed-ids.ts';
import {
  OBJECT_MEMBERS,
  type ObjectKind,
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
import { assertFilesFit, fileAt, type NewObject, preparedObject } from './operation/object-drafts.ts';
import { lastingScope } from './operation/lasting-scope.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import { assertRunsRecorded } from './operation/recorded-runs.ts';
import type { Scope } from './operation/scope.ts';
import { storeState } from './operation/object-states.ts';
import { listObjects, shownCall, type ShownPage, storeObject } from './operation/upstream-objects.ts';

type ObjectScope = Scope<ObjectPlatform>;

/** A new object of a family, with the body of the request. */
export interface ObjectDraft extends NewObject, CallFacts {
  readonly bytes: Uint8Array;
  /** Members of the body that are for the gateway. The upstream does not get them. */
  readonly gatewayMembers: readonly string[];
  /** Headers of the request that the provider gets. */
  readonly headers?: PassThrough['headers'];
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
  /** Headers of the request that the provider gets. */
  readonly headers?: PassThrough['headers'];
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
    const { callId, parent: parentSpan, labels, form, headers } = draft;
    const { place, set, expected, calls, parent } = await preparedObject(received, draft);
    // A container is charged when it is created, also when its client leaves.
    const scope = draft.kind === 'container' ? received : lastingScope(received);
    const { create, undo } = FAMILIES[draft.kind];
    const body: PassBody =
      form === undefined
        ? { kind: 'json', bytes, set: { ...removedMembers(draft.fields, gatewayMembers), ...set } }
        : { kind: 'form', form, without: gatewayMembers };
    const tail = parent === undefined ? '' : `${tailOf(parent)}/runs`;
    const request = { action: create, place, tail, body, expected, headers };
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

/** Members of a body to remove, in the form of `PassBody.set`. */
const removedMembers = (fields: JsonObject, members: readonly string[]): Readonly<Record<string, null>> =>
  Object.fromEntries(members.filter((member) => Object.hasOwn(fields, member)).map((member) => [member, null]));

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

/** A list of the skills that a provider publishes. */
export interface PublishedList extends Pick<NewObject, 'model' | 'provider'>, CallFacts {
  /** Query for the upstream, without the question mark. */
  readonly search: string;
  readonly headers: NonNullable<PassThrough['headers']>;
}

/** Sources of the skills that a provider publishes for all its accounts. */
const PUBLISHED_SOURCES: ReadonlySet<unknown> = new Set(['anthropic', 'anthropic_example']);

/**
 * A page of the skills that a provider publishes, in its format. Skills of the account are left out: other callers may
 * own them. Throws what the gateway's `placeFor` throws, and what `pass` throws.
 */
export const listPublishedSkills = operation({
  name: 'listPublishedSkills',
  access: objectReader,
  async run(scope: ObjectScope, { model, provider, search, headers, ...facts }: PublishedList): Promise<ShownCall> {
    const { gateway } = scope.platform;
    const { labels } = facts;
    const place = await gateway.placeFor(callerOf(scope), { kind: 'skill', model, provider, labels });
    const call = await pass(
      scope,
      { action: SKILL.list, place, tail: search === '' ? '' : `?${search}`, headers },
      facts,
    );
    const shown = await answerObject(place, call, new Map());
    const listed: readonly unknown[] = Array.isArray(shown['data']) ? shown['data'] : [];
    const data = listed.filter((one) => {
      const { source } = jsonObjectOf(one);
      return PUBLISHED_SOURCES.has(jsonObjectOf(source)['type'] ?? source);
    });
    return { call, shown: { ...shown, data } };
  },
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
  const call = { action, place, tail, body: await bodyOf(scope, place, request), headers: request.headers };
  const facts = { callId, parent, ...(request.labels === undefined ? {} : { labels: request.labels }) };
  switch (action.answers) {
    case 'bytes':
      return { call: await pass(scope, call, facts), shown: null };
    case 'parts': {
      const answer = await readParts(scope, object, await pass(scope, call, facts));
      if (action.changesObject === true) await readStateAgain(scope, object, FAMILIES[action.kind].get);
      return answer;
    }
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

/** Stores the state of an object whose parts have changed. A failed read leaves the stored state unchanged. */
async function readStateAgain(scope: ObjectScope, object: UpstreamObject, action: FamilyAction): Promise<void> {
  try {
    const request = { action, place: placeOf(scope, object), tail: tailOf(object) };
    const { read } = await passForObject(scope, request, NO_CONTEXT);
    await storeState(scope, object, read.shown);
  } catch {
    scope.signal.throwIfAborted();
  }
}

/**
 * The body with the upstream's id of a file that it names. Throws NotFound for a file that the caller may not use.
 * Throws InvalidInput for a file id that is no text or in a form, and TooLarge.
 */
async function bodyOf(
  scope: ObjectScope,
  place: StoragePlace,
  { action: { kind }, fields, body }: ObjectRequest,
): Promise<PassBody> {
  if (body.kind === 'form') {
    // A form could name a file that belongs to another caller of the account.
    const named = body.form.parts.find(({ name }) => name.replace(/\[.*$/, '') === 'file_id');
    if (named !== undefined) throw fileFault(kind, 'in a form it must be absent: send the file, or JSON with its id');
    assertFilesFit(scope, body.form);
    return body;
  }
  const { file_id: id } = fields;
  if (body.kind === 'none' || !Object.hasOwn(fields, 'file_id')) return body;
  if (typeof id !== 'string') throw fileFault(kind, 'it must be a string');
  return { ...body, set: { ...body.set, file_id: JSON.stringify(await fileAt(scope, place, id)) } };
}

function fileFault(kind: FamilyKind, reason: string): InvalidInput {
  const message = `${OBJECT_PATHS[kind]}: Invalid value for parameter 'file_id': ${reason}.`;
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
  return { call, shown: await answerObject(placeOf(scope, object), call, idsOf(object)) };
}

/** The JSON object of an answer, with our ids. Throws UpstreamFailed for other answers. */
const answerObject = (
  { deployment }: StoragePlace,
  call: GatewayCall,
  ids: ReadonlyMap<string, string>,
): Promise<JsonObject> =>
  call.consume(async (stream) => {
    const bytes = await collect(stream, MAX_ANSWER_BYTES);
    const value = bytes === null ? undefined : withRenamedIds(bytes, ids);
    // Some upstreams answer a deletion without a body.
    if (bytes?.length === 0) return {};
    if (isJsonObject(value)) return value;
    const message = "The upstream's answer cannot be used: it is no JSON object, or it is too large.";
    throw new UpstreamFailed(message, { provider: deployment.provider, upstreamStatus: null });
  });

/** Members of the answer about a deleted object, for an upstream that sends none. */
const deletedMembers = (kind: ObjectKind): JsonObject =>
  kind === 'skill' ? { type: 'skill_deleted' } : { object: `${OBJECT_MEMBERS[kind]}.deleted`, deleted: true };

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
    return { call, shown: { id, ...deletedMembers(kind), ...shown } };
  } catch (failure) {
    if (!(failure instanceof UpstreamFailed) || failure.upstreamStatus !== 404) throw failure;
    await removeRow();
    throw noObject(kind, id);
  }
}
