import type { Authored } from '../row-store.ts';
import type { EndpointPatch, PassThroughEndpoint } from './endpoint.ts';
import type { FoundEndpoint } from './routes.ts';

/** All entries: those of the configuration file, and the stored ones, which every process serves. */
export interface PassThroughEndpoints {
  /** Seconds to wait for the head of an answer where an entry names none. */
  readonly timeoutSeconds: number;
  /** Finds the entry of a request in memory. An entry of the file comes before a stored one with the same path. */
  find(method: string, path: string): FoundEndpoint;
  /** Entries as last read, those of the file first. Entries of the file with the path of a stored one are left out. */
  list(): readonly PassThroughEndpoint[];
  /** Stores an entry; it is served when this resolves. Throws Conflict when its id is taken, and InvalidInput. */
  add(draft: NewEndpoint, by: Authored): Promise<PassThroughEndpoint>;
  /** Changes a stored entry. Null when none has the id. Throws InvalidInput. */
  change(id: string, patch: EndpointPatch, by: Authored): Promise<PassThroughEndpoint | null>;
  /** Removes a stored entry. Null when none has the id. */
  remove(id: string): Promise<PassThroughEndpoint | null>;
  /** Replaces the entries of the configuration file. */
  configure(endpoints: readonly PassThroughEndpoint[]): void;
  /** Reads the stored entries again, for changes by other processes. */
  refresh(): Promise<void>;
}

/** A new entry, with the id that the caller of `add` chooses. */
interface NewEndpoint extends EndpointPatch {
  readonly id: string;
  readonly path: string;
  readonly target: string;
}
