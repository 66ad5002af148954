import { ENGINES } from './engines.ts';
import { searchToolStoreSuite } from './search-tool-store-suite.ts';

for (const engine of ENGINES) searchToolStoreSuite(engine);
