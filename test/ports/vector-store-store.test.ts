import { ENGINES } from './engines.ts';
import { vectorStoreStoreSuite } from './vector-store-store-suite.ts';

for (const engine of ENGINES) vectorStoreStoreSuite(engine);
