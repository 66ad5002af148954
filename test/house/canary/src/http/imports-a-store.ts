// Breaks `http`.
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Answer = Row;
