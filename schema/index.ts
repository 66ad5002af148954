import { lexicographicSortSchema } from 'graphql';
import { runInTurns } from './base/turns.ts';
import { unsorted } from './unsorted.ts';

/** The executable schema, with types and fields in alphabetical order. */
export const schema = runInTurns(lexicographicSortSchema(unsorted));
