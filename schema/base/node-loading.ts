import { Forbidden, NotFound } from '../../src/domain/errors.ts';
import type { GraphContext } from './builder.ts';

/**
 * Loads each node by its own concurrent read, for `loadMany`: null for an object that does not exist or that the caller
 * may not read. Any other failure fails only its own id. Data loaders batch the reads of stores.
 */
export function nodesOf<Node extends object>(
  load: (id: string, context: GraphContext) => Node | null | Promise<Node | null>,
) {
  return (ids: readonly string[], context: GraphContext): Promise<readonly (Node | null)[]> =>
    Promise.all(ids.map((id) => loadedOrFailed(() => readableOrNull(() => load(id, context)))));
}

/** Result of a read. Null when the object does not exist, or the caller may not read it. */
export async function readableOrNull<Node>(read: () => Node | Promise<Node>): Promise<Node | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFound || error instanceof Forbidden) return null;
    throw error;
  }
}

/** Returns an error as a value, so that only its item of a list fails. A rejection would fail the whole list. */
async function loadedOrFailed<Node>(load: () => Node | Promise<Node>): Promise<Node> {
  try {
    return await load();
  } catch (error) {
    return (error instanceof Error ? error : new Error('A node could not be read.', { cause: error })) as Node;
  }
}
