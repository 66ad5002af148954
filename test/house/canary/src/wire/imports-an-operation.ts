// Breaks `wire`: imports the type of an operation.
import type { read } from '../../resolvers/imports-an-adapter.ts';

export type Format = typeof read;
