import { isSameUpstream } from '../src/domain/deployments/same-upstream.ts';
import { InvalidInput, UpstreamFailed } from '../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import {
  CREATE_VIDEO,
  DELETE_VIDEO,
  GET_VIDEO,
  type ObjectAction,
  READ_VIDEO,
  REMIX_VIDEO,
} from '../src/domain/upstream-objects/object-action.ts';
import type { PassBody } from '../src/domain/upstream-objects/pass-through.ts';
import type { ObjectPage, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import { videoSecondsOf } from '../src/domain/upstream-objects/video-quantity.ts';
import type { GatewayCall, StoragePlace } from '../src/gateway/gateway.ts';
import { objectReader, objectWriter } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import {
  type CallFacts,
  getObject,
  type NamedObject,
  noObject,
  pass,
  passForObject,
  placeOf,
  type ShownCall,
} from './operation/object-calls.ts';
import { storeState } from './operation/object-states.ts';
import { listObjects, shownCall, type ShownPage, storeObject } from './operation/upstream-objects.ts';

type VideoScope = Scope<ObjectPlatform>;

/** A request for a new video. */
export interface VideoDraft extends CallFacts {
  readonly fields: JsonObject;
  /** The body for the upstream, with this model instead of the requested model. */
  readonly bodyFor: (upstreamModel: string) => PassBody;
  /** Null when the request names no model. */
  readonly model: string | null;
  /** Null when the request names no provider. */
  readonly provider: string | null;
}

/** A request for a new version of the video with the id `id`. */
export interface RemixDraft extends NamedObject {
  readonly fields: JsonObject;
  readonly body: PassBody;
}

/** Model where the request names none, as at OpenAI. */
const DEFAULT_MODEL = 'sora-2';
/** Length of a video in seconds, where the request names none, as at OpenAI. */
const DEFAULT_SECONDS = 4;

/** The prompt of a request. Throws InvalidInput without one. */
function promptOf({ prompt }: JsonObject): string {
  if (typeof prompt === 'string' && prompt !== '') return prompt;
  const isMissing = prompt === undefined || prompt === null || prompt === '';
  const message = isMissing
    ? "/videos: Missing required parameter: 'prompt'."
    : "/videos: Invalid type for parameter 'prompt': it must be a string.";
  const rule = isMissing ? 'missing' : 'type';
  throw new InvalidInput(message, [{ path: ['body', 'prompt'], rule, message }]);
}

/** Path of a video below the path of videos at the upstream. */
const tailOf = ({ upstreamId }: Pick<UpstreamObject, 'upstreamId'>, end = ''): string =>
  `/${encodeURIComponent(upstreamId)}${end}`;

/** Member with the image or video that a new video is based on. */
const REFERENCE = 'input_reference';

/**
 * Replaces the id of a referenced file by the id that the upstream has for the file. Throws NotFound for a file that
 * the caller may not use, and for a file at another upstream. Without these checks a caller could use the files of
 * others, because all callers share the upstream account. Throws InvalidInput for a file id in a form.
 */
async function withUpstreamFile(
  scope: VideoScope,
  { deployment }: StoragePlace,
  { body, fields }: { readonly body: PassBody; readonly fields: JsonObject },
): Promise<PassBody> {
  const reference = fields[REFERENCE];
  if (body.kind === 'form' && Object.keys(fields).some((name) => name.startsWith(`${REFERENCE}[`))) {
    const message = `/videos: Invalid value for parameter '${REFERENCE}': in a form it must be a file.`;
    throw new InvalidInput(message, [{ path: ['body', REFERENCE], rule: 'type', message }]);
  }
  if (body.kind !== 'json' || reference === undefined) return body;
  // A reference without a file id is replaced, too. The body may have a second, unchecked `input_reference`, which the
  // replacement removes.
  const sent = isJsonObject(reference) ? { ...reference } : reference;
  if (isJsonObject(sent) && typeof sent['file_id'] === 'string') {
    const file = await getObject(scope, 'file', sent['file_id']);
    if (!isSameUpstream(placeOf(scope, file).deployment, deployment)) throw noObject('file', file.id);
    return { ...body, set: { ...body.set, [REFERENCE]: JSON.stringify({ ...sent, file_id: file.upstreamId }) } };
  }
  return { ...body, set: { ...body.set, [REFERENCE]: JSON.stringify(sent) } };
}

/** Starts a job and stores a row with its owner. When the row cannot be stored, the job is deleted at the upstream. */
async function startVideo(
  scope: VideoScope,
  {
    action,
    place,
    tail,
    body,
    fields,
    prompt,
  }: {
    readonly action: ObjectAction;
    readonly place: StoragePlace;
    readonly tail: string;
    readonly body: PassBody;
    readonly fields: JsonObject;
    readonly prompt: string;
  },
  facts: CallFacts,
): Promise<ShownCall> {
  const expected = videoSecondsOf({ seconds: fields['seconds'] ?? DEFAULT_SECONDS, size: fields['size'] });
  const request = { action, place, tail, body, expected, prompt };
  const { call, read } = await passForObject(scope, request, facts);
  const object = await storeObject(scope, request, read, {
    undo: (upstreamId) =>
      passForObject(
        scope,
        { action: DELETE_VIDEO, place, tail: tailOf({ upstreamId }) },
        { callId: null, parent: null },
      ),
  });
  return await shownCall(scope, object, { call, shown: read.shown });
}

/**
 * Starts a video at the upstream of its model. The start is charged, by the seconds in the answer, else by those of the
 * request. Throws InvalidInput, what the gateway's `placeFor` throws, and what `passForObject` throws.
 */
export const createVideo = operation({
  name: 'createVideo',
  access: objectWriter,
  async run(scope: VideoScope, { fields, bodyFor, model, provider, ...facts }: VideoDraft): Promise<ShownCall> {
    const prompt = promptOf(fields);
    const requested = { kind: 'video', model: model ?? DEFAULT_MODEL, provider, labels: facts.labels } as const;
    const place = await scope.platform.gateway.placeFor(callerOf(scope), requested);
    const named = bodyFor(place.deployment.upstreamModel);
    const body = await withUpstreamFile(scope, place, { body: named, fields });
    return await startVideo(scope, { action: CREATE_VIDEO, place, tail: '', body, fields, prompt }, facts);
  },
});

/** Starts a new version of a video at the deployment of that video. Throws NotFound, and what `createVideo` throws. */
export const remixVideo = operation({
  name: 'remixVideo',
  access: objectWriter,
  async run(scope: VideoScope, { id, fields, body, ...facts }: RemixDraft): Promise<ShownCall> {
    const prompt = promptOf(fields);
    const source = await getObject(scope, 'video', id);
    const place = placeOf(scope, source);
    // Only checks the right to the model. The returned place is not used, because the source is stored at `place`, and
    // the call checks the region of that deployment.
    await scope.platform.gateway.placeFor(callerOf(scope), { kind: 'video', model: place.model, provider: null });
    const { seconds, size } = source.shown ?? {};
    const request = {
      action: REMIX_VIDEO,
      place,
      tail: tailOf(source, '/remix'),
      body,
      fields: { seconds, size },
      prompt,
    };
    return await startVideo(scope, request, facts);
  },
});

/** Reads the state of a video. Throws NotFound, and what `passForObject` throws. */
export const getVideo = operation({
  name: 'getVideo',
  access: objectReader,
  async run(scope: VideoScope, { id, ...facts }: NamedObject): Promise<ShownCall> {
    const object = await getObject(scope, 'video', id);
    const request = { action: GET_VIDEO, place: placeOf(scope, object), tail: tailOf(object) };
    const { call, read } = await passForObject(scope, request, facts);
    await storeState(scope, object, read.shown);
    return await shownCall(scope, object, { call, shown: read.shown });
  },
});

/** Values of the parameter `variant`: the video, one image of it, or an image with many of its frames. */
const VARIANTS: ReadonlySet<string> = new Set(['video', 'thumbnail', 'spritesheet']);

/** Reads the content of a video as a stream. Throws NotFound, InvalidInput, and what `pass` throws. */
export const readVideo = operation({
  name: 'readVideo',
  access: objectReader,
  async run(
    scope: VideoScope,
    { id, variant, ...facts }: NamedObject & { readonly variant: string | null },
  ): Promise<GatewayCall> {
    if (variant !== null && !VARIANTS.has(variant)) {
      const message = `/videos: Invalid value for parameter 'variant': it must be one of ${[...VARIANTS].join(', ')}.`;
      throw new InvalidInput(message, [{ path: ['query', 'variant'], rule: 'value', message }]);
    }
    const object = await getObject(scope, 'video', id);
    const tail = tailOf(object, variant === null ? '/content' : `/content?variant=${variant}`);
    return await pass(scope, { action: READ_VIDEO, place: placeOf(scope, object), tail }, facts);
  },
});

/** Deletes a video at its upstream, then its row. Throws NotFound, and what `passForObject` throws. */
export const deleteVideo = operation({
  name: 'deleteVideo',
  access: objectWriter,
  async run(scope: VideoScope, { id, ...facts }: NamedObject): Promise<ShownCall> {
    const object = await getObject(scope, 'video', id);
    const removeRow = (): Promise<void> => scope.platform.stores.upstreamObjects.remove(id, scope.platform.clock.now());
    const request = { action: DELETE_VIDEO, place: placeOf(scope, object), tail: tailOf(object) };
    try {
      const { call, read } = await passForObject(scope, request, facts);
      await removeRow();
      return await shownCall(scope, object, { call, shown: read.shown });
    } catch (failure) {
      // The upstream no longer has the video: it was deleted there, or has expired. The caller gets the failure.
      if (failure instanceof UpstreamFailed && failure.upstreamStatus === 404) await removeRow();
      throw failure;
    }
  },
});

/** Lists a page of the videos that the caller may see. */
export const listVideos = operation({
  name: 'listVideos',
  access: objectReader,
  run: (scope: VideoScope, page: Omit<ObjectPage, 'kind' | 'purpose'>): Promise<ShownPage> =>
    listObjects(scope, { ...page, kind: 'video', purpose: null }, GET_VIDEO),
});
