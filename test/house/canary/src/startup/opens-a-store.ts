// Breaks `startup`.
import type { Row } from '../persistence/knows-a-format.ts';

export type Message = Row;
