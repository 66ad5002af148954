import { DomainError } from '../../src/domain/errors.ts';

/** Result of one change among several: its value, or why it failed. */
export type ChangeResult<Value> =
  | { readonly value: Value; readonly failure: null }
  | { readonly value: null; readonly failure: string };

/** Runs one change among several. A `DomainError` does not stop the others; any other error is thrown. */
export async function resultOf<Value>(change: () => Promise<Value>): Promise<ChangeResult<Value>> {
  try {
    return { value: await change(), failure: null };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { value: null, failure: error.message };
  }
}
