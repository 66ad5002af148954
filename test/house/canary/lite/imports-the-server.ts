// Breaks `lite`.
import type { Row } from '../src/persistence/imports-a-wire-format.ts';

export type Printed = Row;
