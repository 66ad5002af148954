import type { HostileDocument } from './hostile-document.ts';
import { EXECUTIONS, VARIABLES } from './hostile-executions.ts';
import { INTROSPECTION, TEXTS } from './hostile-texts.ts';

/** Requests of at most a megabyte that cost a server without limits the most: to parse, validate, run and answer. */
export const HOSTILE_DOCUMENTS: readonly HostileDocument[] = [...INTROSPECTION, ...TEXTS, ...EXECUTIONS, ...VARIABLES];
