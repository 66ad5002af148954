import type { Authored } from '../row-store.ts';
import type { EndpointPatch, PassThroughEndpoint } from './endpoint.ts';
import type { FoundEndpoint } from './routes.ts';

/** All pass-through endpoints: those of the configuration file, and the stored ones, which every process serves. */
export interface PassThroughEndpoints {
  /** Seconds to wait for the head of an answer where an endpoint names none. */
  readonly timeoutSeconds: number;
  /**
   * Finds the endpoint of a request in memory. Of endpoints with the same path, it returns the first that serves the
   * method, those of the file before stored ones.
   */
  find(method: string, path: string): FoundEndpoint;
  /** Endpoints as last read, those of the file first. Stored ones follow, also with the path of one of the file. */
  list(): readonly PassThroughEndpoint[];
  /** Stores an endpoint; it is served when this resolves. Throws Conflict when its id is taken, and InvalidInput. */
  add(draft: NewEndpoint, by: Authored): Promise<PassThroughEndpoint>;
  /** Changes a stored endpoint. Null when none has the id. Throws InvalidInput. */
  change(id: string, patch: EndpointPatch, by: Authored): Promise<PassThroughEndpoint | null>;
  /** Removes a stored endpoint. Null when none has the id. */
  remove(id: string): Promise<PassThroughEndpoint | null>;
  /** Removes all stored endpoints, also those that another process stored. Returns how many there were. */
  removeStored(): Promise<number>;
  /** Replaces the endpoints of the configuration file. */
  configure(endpoints: readonly PassThroughEndpoint[]): void;
  /** Reads the stored endpoints again, for changes by other processes. */
  refresh(): Promise<void>;
}

/** A new endpoint, with the id that the caller of `add` chooses. */
interface NewEndpoint extends EndpointPatch {
  readonly id: string;
  readonly path: string;
  readonly target: string;
}
