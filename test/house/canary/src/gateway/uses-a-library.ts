// Breaks `gateway`, and `orm-in-one-room`.
import { sql } from 'kysely';

export const engine = sql;
