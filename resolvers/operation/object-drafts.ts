import { isSameUpstream } from '../../src/domain/deployments/same-upstream.ts';
import { DomainError, InvalidInput } from '../../src/domain/errors.ts';
import type { Form } from '../../src/domain/inference/form.ts';
import { assertFits } from '../../src/domain/upstream-objects/file-limits.ts';
import type { BilledQuantity } from '../../src/domain/inference/billed-quantity.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { modelNotAvailable } from '../../src/domain/keys/virtual-key.ts';
import type { BatchCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import { containersIn } from '../../src/domain/upstream-objects/named-containers.ts';
import { OBJECT_PATHS } from '../../src/domain/upstream-objects/object-action.ts';
import type { FamilyKind } from '../../src/domain/upstream-objects/object-families.ts';
import type { UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import type { StoragePlace } from '../../src/gateway/gateway.ts';
import { assertMayNameStores } from './named-stores.ts';
import { getObject, noObject, placeOf } from './object-calls.ts';
import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import { callerOf } from './operation.ts';
import { evalWithModels, runWithModels, withGraderModels } from '../../src/domain/upstream-objects/graders.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

type ObjectScope = Scope<ObjectPlatform>;

/** What a request for a new object says. A run names its evaluation. */
export interface NewObject {
  readonly kind: FamilyKind;
  readonly fields: JsonObject;
  /** Model and provider whose upstream stores the object; null where the request does not name one. */
  readonly model: string | null;
  readonly provider: string | null;
  /** Our id of the evaluation of a new run; null for other objects. */
  readonly parentId: string | null;
  /** Labels of the request, which name its customer. */
  readonly labels?: CallLabels;
  /** The body as a form; absent for a JSON body. */
  readonly form?: Form;
}

/** Where a new object is created, and what replaces members of the request. */
export interface PreparedObject {
  readonly place: StoragePlace;
  /** JSON texts of the replaced members. */
  readonly set: Readonly<Record<string, string>>;
  /** Expected quantity of an object that is billed when it is created. */
  readonly expected?: BilledQuantity;
  /** Names of the models that the object calls. */
  readonly calls?: BatchCalls;
  /** The evaluation of a new run. */
  readonly parent?: UpstreamObject;
}

/** Maximum number of files that a new container names. Each id is read from the database. */
const MAX_FILES = 500;

/** Maximum number of containers that tools of a run name. */
const MAX_CONTAINERS = 32;

/** InvalidInput about a member of the body. `rule` names the broken rule. */
function faultOf(kind: FamilyKind, member: string, rule: 'missing' | 'type' | 'too_many', wanted: string) {
  const message =
    rule === 'missing'
      ? `${OBJECT_PATHS[kind]}: Missing required parameter: '${member}'.`
      : `${OBJECT_PATHS[kind]}: Invalid type for parameter '${member}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['body', member], rule, message }]);
}

/** A member that is a text. Throws InvalidInput where it is absent or has another type. */
function requiredText({ kind, fields }: NewObject, member: string): string {
  const value = fields[member] ?? '';
  if (value === '') throw faultOf(kind, member, 'missing', '');
  if (typeof value === 'string') return value;
  throw faultOf(kind, member, 'type', 'a string');
}

/** A list of file ids; empty where it is absent. Throws InvalidInput. */
function fileIds({ kind, fields }: NewObject, member: string): readonly string[] {
  const value = fields[member] ?? [];
  if (!Array.isArray(value) || !value.every((id): id is string => typeof id === 'string'))
    throw faultOf(kind, member, 'type', 'a list of strings');
  if (value.length > MAX_FILES) throw faultOf(kind, member, 'too_many', `a list of at most ${MAX_FILES} strings`);
  return value;
}

/**
 * Id at the upstream of a file of the caller. Throws NotFound for a file that the caller may not use, or at another
 * upstream: all callers share the account.
 */
export async function fileAt(scope: ObjectScope, { deployment }: StoragePlace, id: string): Promise<string> {
  const file = await getObject(scope, 'file', id);
  if (!isSameUpstream(placeOf(scope, file).deployment, deployment)) throw noObject('file', id);
  return file.upstreamId;
}

/**
 * Where a new object of the caller is created at the account of `place`. It is `place`, or another deployment of the
 * account whose model the key allows. Throws what `upstreamModelAt` throws for `place` when the key allows no model
 * there.
 */
function permittedPlace(scope: ObjectScope, place: StoragePlace, kind: FamilyKind): StoragePlace {
  const { gateway } = scope.platform;
  const caller = callerOf(scope);
  // Without a virtual key every model may be called, also one that only a team can name.
  if (caller.key === null) return place;
  let refusal: DomainError | null = null;
  for (const id of gateway.deploymentsAt(place.deployment.id)) {
    const deployment = gateway.deployment(id);
    if (deployment === null) continue;
    try {
      gateway.upstreamModelAt(caller, deployment, deployment.modelGroup, kind);
      return { deployment, model: deployment.modelGroup };
    } catch (failure) {
      if (!(failure instanceof DomainError)) throw failure;
      refusal ??= failure;
    }
  }
  throw refusal ?? modelNotAvailable(place.model);
}

/** A container is created where its files are, else where the request says. */
async function preparedContainer(scope: ObjectScope, draft: NewObject): Promise<PreparedObject> {
  const { kind, fields, model, provider, labels } = draft;
  const [first, ...others] = fileIds(draft, 'file_ids');
  const { gateway } = scope.platform;
  const isPlaced = model !== null || provider !== null || first === undefined;
  const place = isPlaced
    ? await gateway.placeFor(callerOf(scope), { kind, model, provider, labels })
    : permittedPlace(scope, placeOf(scope, await getObject(scope, 'file', first)), kind);
  const ids = first === undefined ? [] : [first, ...others];
  const upstreamIds: string[] = [];
  for (const id of ids) upstreamIds.push(await fileAt(scope, place, id));
  // Also an empty list is replaced: the body may have the member twice.
  const set = Object.hasOwn(fields, 'file_ids') ? { file_ids: JSON.stringify(upstreamIds) } : {};
  return { place, set, expected: { unit: 'code_session', count: 1 } };
}

/** A fine-tuning job runs where its file is. The upstream gets its own name of the model. */
async function preparedJob(scope: ObjectScope, draft: NewObject): Promise<PreparedObject> {
  const { kind, fields } = draft;
  const model = requiredText(draft, 'model');
  const training = await getObject(scope, 'file', requiredText(draft, 'training_file'));
  const place = placeOf(scope, training);
  const { gateway } = scope.platform;
  const nameOf = (name: string): string => gateway.upstreamModelAt(callerOf(scope), place.deployment, name, kind);
  const { validation_file: validation, method } = fields;
  if (validation !== undefined && validation !== null && typeof validation !== 'string')
    throw faultOf(kind, 'validation_file', 'type', 'a string');
  const set: Record<string, string> = {
    model: JSON.stringify(nameOf(model)),
    training_file: JSON.stringify(training.upstreamId),
  };
  if (typeof validation === 'string') set['validation_file'] = JSON.stringify(await fileAt(scope, place, validation));
  if (isJsonObject(method)) set['method'] = JSON.stringify(withGraderModels(method, nameOf));
  return { place: { ...place, model }, set };
}

/** Throws TooLarge for a form with a file above the limit. */
export function assertFilesFit({ platform }: ObjectScope, form: Form): void {
  for (const { filename, bodyStart, bodyEnd } of form.parts)
    if (filename !== null) assertFits(bodyEnd - bodyStart, platform.fileLimits.file);
}

/** A skill is created from uploaded files, where the request says. */
async function preparedSkill(scope: ObjectScope, draft: NewObject): Promise<PreparedObject> {
  const { kind, model, provider, labels, form } = draft;
  if (form !== undefined) assertFilesFit(scope, form);
  return { place: await scope.platform.gateway.placeFor(callerOf(scope), { kind, model, provider, labels }), set: {} };
}

/** Names of models without counts of their calls. */
const uncounted = (names: Iterable<string>): BatchCalls =>
  Object.fromEntries([...new Set(names)].map((name) => [name, { requests: 0, tokens: 0 }]));

/** An evaluation is created where its graders' models are, unless the request names a place. */
async function preparedEval(scope: ObjectScope, draft: NewObject): Promise<PreparedObject> {
  const { kind, fields, provider, labels } = draft;
  const { gateway } = scope.platform;
  const names = new Set<string>();
  const { model: grader } = evalWithModels(fields, (name) => name);
  const model = draft.model ?? (provider === null ? grader : null);
  const place = await gateway.placeFor(callerOf(scope), { kind, model, provider, labels });
  const { criteria } = evalWithModels(fields, (name) => {
    names.add(name);
    return gateway.upstreamModelAt(callerOf(scope), place.deployment, name, kind);
  });
  const set = criteria === null ? {} : { testing_criteria: JSON.stringify(criteria) };
  return { place, set, calls: uncounted(names) };
}

/** A run is at the upstream of its evaluation. The key must allow the models of both. */
async function preparedRun(scope: ObjectScope, draft: NewObject): Promise<PreparedObject> {
  const { kind, fields, parentId, labels } = draft;
  const { gateway } = scope.platform;
  const parent = await getObject(scope, 'eval', parentId ?? '');
  const place = placeOf(scope, parent);
  const nameOf = (name: string): string => gateway.upstreamModelAt(callerOf(scope), place.deployment, name, kind);
  const graders = Object.keys(parent.calls ?? {});
  // The evaluation may be of another key of the team.
  for (const name of graders) nameOf(name);
  const { source, model, fileId, tools } = runWithModels(fields, nameOf);
  await assertMayNameStores(scope, { path: '', body: { tools }, labels });
  const containers = containersIn(tools);
  if (containers.length > MAX_CONTAINERS)
    throw faultOf(kind, 'data_source', 'too_many', `a source with at most ${MAX_CONTAINERS} containers`);
  for (const id of containers) await getObject(scope, 'container', id);
  const file = fileId === null ? null : await fileAt(scope, place, fileId);
  const calls = uncounted(model === null ? graders : [model, ...graders]);
  const placed = model === null ? place : { ...place, model };
  return { place: placed, set: { data_source: JSON.stringify(source(file)) }, calls, parent };
}

const PREPARATIONS: Readonly<Record<FamilyKind, (scope: ObjectScope, draft: NewObject) => Promise<PreparedObject>>> = {
  container: preparedContainer,
  fine_tuning_job: preparedJob,
  eval: preparedEval,
  eval_run: preparedRun,
  skill: preparedSkill,
};

/**
 * Selects the deployment of a new object and replaces ids of files and names of models by those of the upstream. Throws
 * InvalidInput, TooLarge, NotFound, Forbidden, and what the gateway's `placeFor` throws.
 */
export const preparedObject = (scope: ObjectScope, draft: NewObject): Promise<PreparedObject> =>
  PREPARATIONS[draft.kind](scope, draft);
