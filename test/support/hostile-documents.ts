import type { HostileDocument } from './hostile-document.ts';
import { EXECUTIONS, VARIABLES } from './hostile-executions.ts';
import { INTROSPECTION, TEXTS } from './hostile-texts.ts';

/** Requests of at most 1 MB that are expensive to parse, validate, execute or serialize without limits. */
export const HOSTILE_DOCUMENTS: readonly HostileDocument[] = [...INTROSPECTION, ...TEXTS, ...EXECUTIONS, ...VARIABLES];
