import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import { isSameUpstream } from '../../src/domain/deployments/same-upstream.ts';
import { Forbidden, InvalidInput } from '../../src/domain/errors.ts';
import { tokensOfBytes } from '../../src/domain/inference/expected-tokens.ts';
import type { BatchCalls, BatchLine, CountedCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import { isEmbeddingUrl } from '../../src/domain/upstream-objects/batch-calls.ts';
import { containersOfRequest } from '../../src/domain/upstream-objects/named-containers.ts';
import type { PassBody } from '../../src/domain/upstream-objects/pass-through.ts';
import type { UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import { storesInBody } from '../../src/domain/vector-stores/named-stores.ts';
import type { StoragePlace } from '../../src/gateway/gateway.ts';
import { limitedHashOf } from '../../src/domain/users/session.ts';
import { batchStoreCheck } from './named-stores.ts';
import { getObject, noObject, placeOf } from './object-calls.ts';
import { callerOf } from './operation.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

type ObjectScope = Scope<ObjectPlatform>;

/** Where the lines of a file run, and the labels of the request about the file. */
interface LinesAt {
  readonly place: StoragePlace;
  readonly labels: CallLabels | undefined;
}

const NO_CALLS: CountedCalls = { requests: 0, tokens: 0 };

/** Maximum length of the different names of one kind in a batch file, in characters. */
const MAX_NAME_CHARACTERS = 65_536;

function faultOfFile(message: string): InvalidInput {
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}

/** Maximum number of different containers in a batch file. Each id is read from the database. */
const MAX_CONTAINERS = 256;

/**
 * Collects the names of one kind in lines, by model. Throws InvalidInput for more names than the limits. A list that
 * `add` returns also gets the names that are added later, because a copy for each line would be slow.
 */
function createNames(plural: string, most = Infinity) {
  const byModel = new Map<string, { readonly known: Set<string>; readonly names: string[] }>();
  const all = new Set<string>();
  let characters = 0;
  return {
    add(model: string, named: readonly string[]): readonly string[] {
      const ofModel = byModel.get(model) ?? { known: new Set<string>(), names: [] };
      byModel.set(model, ofModel);
      for (const id of named) {
        if (ofModel.known.has(id)) continue;
        ofModel.known.add(id);
        ofModel.names.push(id);
        all.add(id);
        characters += id.length;
      }
      if (all.size > most) throw faultOfFile(`/files: The lines must name at most ${most} ${plural}.`);
      if (characters > MAX_NAME_CHARACTERS)
        throw faultOfFile(
          `/files: The ${plural} that the lines name have more than ${MAX_NAME_CHARACTERS} characters.`,
        );
      return ofModel.names;
    },
    all: (): readonly string[] => [...all],
  };
}

/** The lines of a batch file while it is uploaded: their form members, and their counts after the upload. */
export async function readLines(
  scope: ObjectScope,
  { place, labels }: LinesAt,
): Promise<{
  readonly tools: Pick<Extract<PassBody, { kind: 'form' }>, 'rename' | 'count' | 'checked' | 'linesRead'>;
  readonly calls: BatchCalls;
}> {
  const { gateway } = scope.platform;
  const caller = callerOf(scope);
  const assertStores = await batchStoreCheck(scope, { labels, member: 'file' });
  const stores = createNames('vector stores');
  const containers = createNames('containers', MAX_CONTAINERS);
  const calls: Record<string, CountedCalls> = {};
  const of = (model: string): CountedCalls => (Object.hasOwn(calls, model) ? (calls[model] ?? NO_CALLS) : NO_CALLS);
  // Not an assignment: a line may name the model `__proto__`.
  const set = (model: string, value: CountedCalls): void =>
    void Object.defineProperty(calls, model, { value, enumerable: true, configurable: true, writable: true });
  return {
    calls,
    tools: {
      rename: (model) => gateway.upstreamModelAt(caller, place.deployment, model),
      count({ model, bytes, body }) {
        const named = storesInBody(body);
        assertStores?.(named);
        const { requests, tokens, guardrails } = of(model);
        const namedContainers = containers.add(model, containersOfRequest(body));
        set(model, {
          requests: requests + 1,
          tokens: tokens + tokensOfBytes(bytes.length),
          stores: stores.add(model, named),
          ...(namedContainers.length === 0 ? {} : { containers: namedContainers }),
          ...(guardrails === undefined ? {} : { guardrails }),
        });
      },
      checked({ model }: BatchLine, names) {
        const counted = of(model);
        const { guardrails = names } = counted;
        // Only a guardrail that has checked all lines of a model counts.
        const checkedAll = guardrails.filter((name) => names.includes(name));
        const isUnchanged = counted.guardrails !== undefined && checkedAll.length === counted.guardrails.length;
        if (!isUnchanged) set(model, { ...counted, guardrails: checkedAll });
      },
      linesRead: () => assertContainers(scope, place, containers.all()),
    },
  };
}

/** Throws NotFound for a container that the caller may not use, or that is at another account. */
async function assertContainers(
  scope: ObjectScope,
  { deployment }: StoragePlace,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop -- at most a few ids, and the first refusal ends the call
    const container = await getObject(scope, 'container', id);
    if (!isSameUpstream(placeOf(scope, container).deployment, deployment)) throw noObject('container', id);
  }
}

const namesIn = (calls: BatchCalls, kind: 'stores' | 'containers'): readonly string[] =>
  Object.values(calls).flatMap((counted) => counted[kind] ?? []);

/**
 * Checks the rights of the caller to what the lines of a file name, and that its guardrails have checked the lines.
 * The upload has checked those of the key that uploaded the file, as they were then. A file whose lines were not
 * counted can only be used by the key that uploaded it. `endpoint` is that of the batch. Throws Forbidden,
 * InvalidInput, NotFound, and what the gateway's `upstreamModelAt` throws.
 */
export async function assertLinesAllowed(
  scope: ObjectScope,
  { file, endpoint, ...at }: LinesAt & { readonly file: UpstreamObject; readonly endpoint: string },
): Promise<void> {
  const { place, labels } = at;
  const { deployment } = place;
  const caller = callerOf(scope);
  const { gateway } = scope.platform;
  const { calls } = file;
  const isUploader = caller.key === null || [caller.keyHash, limitedHashOf(caller)].includes(file.owner.keyHash);
  assertLinesChecked(scope, { file, endpoint, ...at });
  if (calls === undefined) {
    if (!isUploader) throw unknownLines('The lines', 'model');
    return;
  }
  // Without a virtual key every model may be called, also one that only a team can name.
  const models = caller.key === null ? [] : Object.keys(calls);
  for (const model of models) gateway.upstreamModelAt(caller, deployment, model);
  const stores = namesIn(calls, 'stores');
  const isUnlisted = Object.values(calls).some((counted) => counted.stores === undefined);
  const assertStores =
    stores.length > 0 || isUnlisted ? await batchStoreCheck(scope, { labels, member: 'input_file_id' }) : null;
  if (isUnlisted && assertStores !== null && !isUploader) throw unknownLines('The vector stores in the lines', null);
  assertStores?.(stores);
  await assertContainers(scope, place, [...new Set(namesIn(calls, 'containers'))]);
}

const unknownLines = (what: string, right: string | null): Forbidden =>
  new Forbidden(`${what} of this file are not known: only the key that uploaded it can start a batch.`, right);

/** Throws InvalidInput when a guardrail of the caller has not checked the lines of a file. */
function assertLinesChecked(
  scope: ObjectScope,
  { file: { calls }, endpoint, place, labels }: LinesAt & { readonly file: UpstreamObject; readonly endpoint: string },
): void {
  const { deployment, model: ofFile } = place;
  const namesFor = scope.platform.gateway.lineGuardrails(callerOf(scope), { deployment, labels });
  for (const [model, { guardrails = [] }] of Object.entries(calls ?? { [ofFile]: NO_CALLS })) {
    const unchecked = namesFor(model, isEmbeddingUrl(endpoint)).find((name) => !guardrails.includes(name));
    if (unchecked === undefined) continue;
    const message = `/batches: The guardrail '${unchecked}' of this call has not checked the lines of the file: upload it again.`;
    throw new InvalidInput(message, [{ path: ['body', 'input_file_id'], rule: 'unchecked', message }]);
  }
}
