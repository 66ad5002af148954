// Breaks `wire`: imports a type from `resolvers/`, the folder of the operations.
import type { read } from '../../resolvers/imports-an-adapter.ts';

export type Format = typeof read;
