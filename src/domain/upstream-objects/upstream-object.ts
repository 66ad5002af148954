import type { JsonObject } from '../json-object.ts';
import type { CallLabels } from '../calls/call-labels.ts';
import type { BatchCalls } from './batch-calls.ts';
import type { Owner, Visibility } from '../caller.ts';
import type { Usd } from '../money.ts';

/** Kinds of objects that upstreams store for callers. */
export type ObjectKind =
  | 'file'
  | 'batch'
  | 'response'
  | 'video'
  | 'container'
  | 'fine_tuning_job'
  | 'eval'
  | 'eval_run'
  | 'skill';

/** Prefixes of ids, ours and the upstream's. */
const PREFIXES: Readonly<Record<ObjectKind, string>> = {
  file: 'file-',
  batch: 'batch_',
  response: 'resp_',
  video: 'video_',
  container: 'cntr_',
  fine_tuning_job: 'ftjob-',
  eval: 'eval_',
  eval_run: 'evalrun_',
  skill: 'skill_',
};

/** Member `object` of objects of each kind. Skills have it in `type`. */
export const OBJECT_MEMBERS: Readonly<Record<ObjectKind, string>> = {
  file: 'file',
  batch: 'batch',
  response: 'response',
  video: 'video',
  container: 'container',
  fine_tuning_job: 'fine_tuning.job',
  eval: 'eval',
  eval_run: 'eval.run',
  skill: 'skill',
};

/** Kinds whose objects have the id of the upstream: requests for responses name them, and the answers do. */
const WITH_UPSTREAM_ID: ReadonlySet<ObjectKind> = new Set(['container']);

/**
 * An object stored at an upstream, under our own id. The upstream's id is not shown, except that of a container. All
 * callers of a deployment share one upstream credential, so any of them could read the object with that id.
 */
export interface UpstreamObject {
  readonly id: string;
  readonly kind: ObjectKind;
  /** The deployment that stores it and serves later calls about it. */
  readonly deploymentId: string;
  readonly upstreamId: string;
  readonly owner: Owner;
  readonly createdAt: Date;
  /** Purpose of a file, name of a container, or our id of the evaluation of a run; null for other kinds. */
  readonly purpose: string | null;
  /** The last upstream state of the object, with the upstream's ids; null before the first. */
  readonly shown: ShownObject | null;
  /** User of the call that made a batch or a run, for whom its cost is counted. Absent without one. */
  readonly userId?: string;
  /** Labels of the call that made a batch or a run, for which its cost is counted. Absent without any. */
  readonly labels?: CallLabels;
  /**
   * Calls of a batch, or of a file that is the input of a batch. Absent where they were not counted. Of an evaluation
   * and its runs they are zero: only the names of the models are known.
   */
  readonly calls?: BatchCalls;
  /**
   * Expected cost of a batch, a run or a response whose cost is not recorded yet, which is held in budgets. Zero where
   * it is not known. Absent for an object that has ended, and for kinds that are not charged at their end.
   */
  readonly openCost?: Usd;
}

/** The JSON object of a file or a batch. */
export type ShownObject = JsonObject;

/** Our id, from a new UUID. */
export function objectId(kind: ObjectKind, uuid: string): string {
  return `${PREFIXES[kind]}${uuid.replaceAll('-', '')}`;
}

/** Our id of an object that an upstream created: from a new UUID, or the upstream's id for a container. */
export const newObjectId = (kind: ObjectKind, ids: { readonly uuid: string; readonly upstreamId: string }): string =>
  WITH_UPSTREAM_ID.has(kind) ? ids.upstreamId : objectId(kind, ids.uuid);

/** Query for one page of a list, newest first unless `oldestFirst`. */
export interface ObjectPage {
  readonly kind: ObjectKind;
  /** Only files with this purpose, containers with this name, or runs of this evaluation; null for all. */
  readonly purpose: string | null;
  /** Id of the last object of the previous page; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** Query for one page of the objects whose cost is not recorded yet, newest first. */
export interface OpenPage {
  readonly kinds: readonly ObjectKind[];
  /** Only objects whose expected cost is not zero. */
  readonly holding: boolean;
  /** Last object of the previous page; null for the first page. */
  readonly after: Pick<UpstreamObject, 'createdAt' | 'id'> | null;
  readonly limit: number;
}

/** Store of upstream objects and their owners. */
export interface UpstreamObjectStore {
  /** Adds an object, unless one with its deployment and upstream id is stored: that one stays unchanged. */
  add(object: UpstreamObject): Promise<void>;
  /** The object with our id; null when there is none or it was removed. */
  find(id: string): Promise<UpstreamObject | null>;
  /** The objects with these upstream ids, also removed ones, so that our ids never change. */
  findAtUpstream(deploymentId: string, upstreamIds: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Stores the current upstream state of an object. A final state removes its expected cost. */
  saveState(id: string, shown: ShownObject): Promise<void>;
  /** Marks an object as removed: only `findAtUpstream` returns it. */
  remove(id: string, at: Date): Promise<void>;
  /** A page of the objects a reader may see; empty after an unknown id. */
  list(visibility: Visibility, page: ObjectPage): Promise<readonly UpstreamObject[]>;
  /** A page of the objects that have an expected cost. */
  listOpen(page: OpenPage): Promise<readonly UpstreamObject[]>;
}
