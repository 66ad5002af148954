import { lexicographicSortSchema } from 'graphql';
import { runInTurns } from './base/turns.ts';
import { unsortedSchema } from './unsorted-schema.ts';

/** The executable schema, with types and fields in alphabetical order. */
export const schema = runInTurns(lexicographicSortSchema(unsortedSchema));
