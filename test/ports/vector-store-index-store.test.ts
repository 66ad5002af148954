import { ENGINES } from './engines.ts';
import { vectorStoreIndexStoreSuite } from './vector-store-index-store-suite.ts';

for (const engine of ENGINES) vectorStoreIndexStoreSuite(engine);
