// Breaks `wire`: a format that knows an operation, by type only.
import type { read } from '../../resolvers/imports-an-adapter.ts';

export type Format = typeof read;
