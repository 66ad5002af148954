import type { Owner, Visibility } from '../caller.ts';

/** What callers have an upstream keep for them. */
export type ObjectKind = 'file' | 'batch' | 'response';

/** How ids of each kind begin, ours as the upstream's. */
const PREFIXES: Readonly<Record<ObjectKind, string>> = { file: 'file-', batch: 'batch_', response: 'resp_' };

/**
 * A thing that is kept at an upstream, under the id that only we give out. The upstream's own id never leaves: all
 * callers of a deployment share one credential there, so whoever knew it could read what it names.
 */
export interface UpstreamObject {
  readonly id: string;
  readonly kind: ObjectKind;
  /** Where it is: what follows up goes to the same deployment. */
  readonly deploymentId: string;
  readonly upstreamId: string;
  readonly owner: Owner;
  readonly createdAt: Date;
  /** What a file is for, where that is known; null for a batch. */
  readonly purpose: string | null;
  /** The object as the upstream last showed it, with its ids; null when it has not yet. */
  readonly shown: ShownObject | null;
}

/** The JSON object of a file or a batch. */
export type ShownObject = Readonly<Record<string, unknown>>;

/** An id of ours, from a fresh UUID. */
export function objectId(kind: ObjectKind, uuid: string): string {
  return `${PREFIXES[kind]}${uuid.replaceAll('-', '')}`;
}

/** One page of a list, newest first unless `oldestFirst`. */
export interface ObjectPage {
  readonly kind: ObjectKind;
  /** Only files for this; null for every one. */
  readonly purpose: string | null;
  /** Id of the last object of the page before; null begins. */
  readonly after: string | null;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** Remembers what is kept at upstreams, and whose it is. */
export interface UpstreamObjectStore {
  /** Adds an object, unless one with its deployment and upstream id is known: then that one stays as it is. */
  add(object: UpstreamObject): Promise<void>;
  /** The object with an id of ours; null when there is none or it was removed. */
  find(id: string): Promise<UpstreamObject | null>;
  /** The objects with these ids of the upstream, removed ones too: what once had a name keeps it. */
  findAtUpstream(deploymentId: string, upstreamIds: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Remembers how the upstream shows an object now. */
  show(id: string, shown: ShownObject): Promise<void>;
  /** Forgets an object for all but `findAtUpstream`. */
  remove(id: string, at: Date): Promise<void>;
  /** A page of the objects a reader may see; empty after an id that is not among them. */
  list(visibility: Visibility, page: ObjectPage): Promise<readonly UpstreamObject[]>;
}
