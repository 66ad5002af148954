import type { openStores } from './database/orm.ts';

/** All stores, over one database; ClickHouse may store the traces. */
export type Stores = Awaited<ReturnType<typeof openStores>>;
