import type { openStores } from './database/orm.ts';

/** All stores, over one database; traces may be in another. */
export type Stores = Awaited<ReturnType<typeof openStores>>;
