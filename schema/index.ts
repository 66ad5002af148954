import { lexicographicSortSchema } from 'graphql';
import { runInTurns } from './turns.ts';
import { unsorted } from './unsorted.ts';

/** The executable schema. */
export const schema = runInTurns(lexicographicSortSchema(unsorted));
