// Breaks `gateway` and `orm-in-persistence`.
import { sql } from 'kysely';

export const engine = sql;
