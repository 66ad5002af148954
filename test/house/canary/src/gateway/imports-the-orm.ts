// Violates the layer rules `gateway` and `orm-in-persistence` on purpose (`test/house/layer-rules.ts`).
import { sql } from 'kysely';

export const engine = sql;
