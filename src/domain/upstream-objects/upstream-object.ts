import type { JsonObject } from '../json-object.ts';
import type { CallLabels } from '../calls/call-labels.ts';
import type { BatchCalls } from './batch-calls.ts';
import type { Owner, Visibility } from '../caller.ts';

/** Kinds of objects that upstreams store for callers. */
export type ObjectKind = 'file' | 'batch' | 'response' | 'video';

/** Prefixes of ids, ours and the upstream's. */
const PREFIXES: Readonly<Record<ObjectKind, string>> = {
  file: 'file-',
  batch: 'batch_',
  response: 'resp_',
  video: 'video_',
};

/**
 * An object stored at an upstream, under our own id. The upstream's id is never shown. All callers of a deployment
 * share one upstream credential, so any of them could read the object with that id.
 */
export interface UpstreamObject {
  readonly id: string;
  readonly kind: ObjectKind;
  /** The deployment that stores it and serves later calls about it. */
  readonly deploymentId: string;
  readonly upstreamId: string;
  readonly owner: Owner;
  readonly createdAt: Date;
  /** Purpose of a file, where known; null for a batch. */
  readonly purpose: string | null;
  /** The last upstream state of the object, with the upstream's ids; null before the first. */
  readonly shown: ShownObject | null;
  /** User of the call that made a batch, for whom the cost of the batch is counted. Absent without one. */
  readonly userId?: string;
  /** Labels of the call that made a batch, for which the cost of the batch is counted. Absent without any. */
  readonly labels?: CallLabels;
  /** Calls of a batch, or of a file that is the input of a batch. Absent where they were not counted. */
  readonly calls?: BatchCalls;
}

/** The JSON object of a file or a batch. */
export type ShownObject = JsonObject;

/** Our id, from a new UUID. */
export function objectId(kind: ObjectKind, uuid: string): string {
  return `${PREFIXES[kind]}${uuid.replaceAll('-', '')}`;
}

/** One page of a list, newest first unless `oldestFirst`. */
export interface ObjectPage {
  readonly kind: ObjectKind;
  /** Only files with this purpose; null for all. */
  readonly purpose: string | null;
  /** Id of the last object of the previous page; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** Store of upstream objects and their owners. */
export interface UpstreamObjectStore {
  /** Adds an object, unless one with its deployment and upstream id is stored: that one stays unchanged. */
  add(object: UpstreamObject): Promise<void>;
  /** The object with our id; null when there is none or it was removed. */
  find(id: string): Promise<UpstreamObject | null>;
  /** The objects with these upstream ids, also removed ones, so that our ids never change. */
  findAtUpstream(deploymentId: string, upstreamIds: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Stores the current upstream state of an object. */
  saveState(id: string, shown: ShownObject): Promise<void>;
  /** Marks an object as removed: only `findAtUpstream` returns it. */
  remove(id: string, at: Date): Promise<void>;
  /** A page of the objects a reader may see; empty after an unknown id. */
  list(visibility: Visibility, page: ObjectPage): Promise<readonly UpstreamObject[]>;
}
