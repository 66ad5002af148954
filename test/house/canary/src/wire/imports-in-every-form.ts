// Violates the layer rules `wire` and `no-unresolved` on purpose (`test/house/layer-rules.ts`).
// It has every form of an import, and the imported files do not exist.
import '../../resolvers/a.ts';
import type { B } from '../../resolvers/b.ts';
import { type C, c } from '../../resolvers/c.ts';

export * from '../../resolvers/d.ts';
export type { E } from '../../resolvers/e.ts';

export const later = () => import('../../resolvers/f.ts');
export type Each = B | C | typeof c | import('../../resolvers/g.ts').G;
