// Breaks `wire`: a format that knows an operation, by type only.
import type { read } from '../../resolvers/uses-an-adapter.ts';

export type Format = typeof read;
