import type { HostileDocument } from './hostile-document.ts';
import { EXECUTIONS, VARIABLES } from './hostile-executions.ts';
import { INTROSPECTION, TEXTS } from './hostile-texts.ts';

/** Requests of at most a megabyte that are most expensive to parse, validate, execute or answer without limits. */
export const HOSTILE_DOCUMENTS: readonly HostileDocument[] = [...INTROSPECTION, ...TEXTS, ...EXECUTIONS, ...VARIABLES];
